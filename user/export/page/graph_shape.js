// SPDX-License-Identifier: BSD-2-Clause
/* Other shapes of a call tree: merged from the leaves with their callers, or with one frame for each module. A shape is made
 * once for a kind; what is filtered later finds its nodes by place. */

/* Of a shape. Beyond, a stack ends at the frame that there is of it. */
const SHAPE_MOST = 2000000;
const isReversed = () => state.reversed && state.view === "graph";
/* Modules have no frames that say nothing. */
const shapeKey = () => (isReversed() ? "r" : "") + (state.byModule ? "m" : state.allFrames || !isReversed() ? "" : "h");

/* The name of the module of each name: itself of a process, or of the end of a stack. Names of modules stand behind all others. */
function nameModules(profile) {
	const module = new Int32Array(profile.names.length), known = new Map();
	profile.names.slice().forEach((name, id) => {
		const mark = profile.marks[id];
		module[id] = id;
		/* Regions and pkbpf's own work are no code of a module. */
		if (mark === MARK_ROOT || mark === MARK_TRUNCATED || !profile.modules[id] && mark !== MARK_UNRESOLVED && mark !== MARK_JIT && name.startsWith("[")) return;
		const title = profile.modules[id] || (mark === MARK_JIT ? "[jit]" : "[unknown]"), sort = mark === MARK_INLINED ? MARK_NATIVE : title === "[unknown]" ? MARK_UNRESOLVED : mark === MARK_UNRESOLVED ? title === "kernel" ? MARK_KERNEL : MARK_NATIVE : mark, key = sort + title;
		if (!known.has(key)) known.set(key, [known.size + profile.names.length, title, sort]);
		module[id] = known.get(key)[0];
	});
	profile.firstModule = profile.names.length;
	profile.moduleOf = module;
	for (const [, title, sort] of known.values()) {
		profile.names.push(title);
		profile.marks.push(sort);
	}
}

/* Nodes as they are added; [0] is the root. */
class ShapeNodes {
	constructor(names) {
		Object.assign(this, {names, name: [-1], parent: [-1], weight: [0], children: new Map()});
	}
	/* The node itself where there is no room for another. */
	child(node, name) {
		const key = node * this.names + name, found = this.children.get(key);
		if (found !== undefined) return found;
		if (this.name.length >= SHAPE_MOST) {
			this.isShort = true;
			return node;
		}
		this.children.set(key, this.name.length);
		this.parent.push(node);
		this.weight.push(0);
		return this.name.push(name) - 1;
	}
	/* In preorder, heaviest first: the tree, and the place of each node in it. */
	finish() {
		const {name, parent, weight} = this, length = name.length, below = Array.from({length}, () => null), place = new Uint32Array(length), names = new Int32Array(length), depth = new Uint16Array(length), open = [0];
		for (let i = length - 1; i > 0; i--) weight[parent[i]] += weight[i];
		for (let i = 1; i < length; i++) (below[parent[i]] || (below[parent[i]] = [])).push(i);
		for (let at = 0; open.length; at++) {
			const node = open.pop();
			place[node] = at;
			names[at] = name[node];
			depth[at] = node ? depth[place[parent[node]]] + 1 : 0;
			for (const child of (below[node] || []).sort((a, b) => weight[a] - weight[b] || b - a)) open.push(child);
		}
		return {tree: makeTree(names, depth), place};
	}
}

/* From the root on, modules: a node is that of its caller when both are of one module. */
function addForward(kind, nodes, nameOf) {
	const {name, parent, length} = kind.tree, to = new Uint32Array(length);
	for (let i = 1; i < length; i++) {
		const wanted = nameOf(name[i]), above = to[parent[i]];
		to[i] = above && nodes.name[above] === wanted ? above : nodes.child(above, wanted);
	}
	return to;
}
/* From the leaf on, of every node where stacks end. */
function addReversed(kind, nodes, nameOf, isHidden) {
	const {name, parent, length} = kind.tree, to = new Uint32Array(length), isEnd = new Uint8Array(length);
	for (const node of kind.node) isEnd[node] = 1;
	for (let leaf = 1; leaf < length; leaf++) {
		if (!isEnd[leaf]) continue;
		let node = 0;
		for (let i = leaf; i > 0; i = parent[i]) {
			const wanted = nameOf(name[i]);
			if (!isHidden(name[i]) && !(state.byModule && node && nodes.name[node] === wanted)) node = nodes.child(node, wanted);
		}
		to[leaf] = node;
	}
	return to;
}

/* {tree, place of each node where values are, pool, isShort}; the tree as it is recorded has no place. */
function shapeOf(kind, key) {
	if (!key || key === "h") return {tree: kind.tree, pool: kind.pool || (kind.pool = {})};
	if (!kind.shapes) kind.shapes = new Map();
	if (!kind.shapes.has(key)) {
		const nodes = new ShapeNodes(profile.names.length), nameOf = key.includes("m") ? id => profile.moduleOf[id] : id => id;
		const isHidden = key.includes("h") ? id => profile.plumbing[id] === 1 : () => false, to = key.includes("r") ? addReversed(kind, nodes, nameOf, isHidden) : addForward(kind, nodes, nameOf);
		for (let i = 0; i < kind.value.length; i++) nodes.weight[to[kind.node[i]]] += kind.value[i];
		const {tree, place} = nodes.finish();
		for (let i = 0; i < to.length; i++) to[i] = place[to[i]];
		kind.shapes.set(key, {tree, place: to, pool: {}, isShort: Boolean(nodes.isShort)});
	}
	return kind.shapes.get(key);
}
