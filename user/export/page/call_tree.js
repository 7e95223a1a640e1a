// SPDX-License-Identifier: BSD-2-Clause
/* Call trees: nodes in preorder, so every question is one pass over arrays and none needs an object
 * for a node. */
const DEEPEST = 65536;
function makeTree(name, depth) {
	const length = name.length, end = new Uint32Array(length), parent = new Int32Array(length), open = new Uint32Array(DEEPEST + 1);
	let count = 0, deepest = 0;
	for (let i = 0; i < length; i++) {
		const deep = depth[i];
		while (count > deep) end[open[--count]] = i;
		parent[i] = count ? open[count - 1] : -1;
		open[count++] = i;
		if (count > deepest) deepest = count;
	}
	while (count) end[open[--count]] = length;
	return {name, depth, length, end, parent, deepest};
}

/* Adds what nodes have of their own to those that contain them. */
function addTotals(tree, own) {
	for (let i = tree.length - 1; i > 0; i--) own[tree.parent[i]] += own[i];
	return own;
}

/* Where each frame begins, its row when hidden frames take none, and the lowest row below it. */
function layOut(model) {
	const {tree: {name, depth, parent, length}, total, pool, hide, noRoot} = model;
	const start = model.start = pool.start || (pool.start = new Float64Array(length));
	const row = model.row = pool.row || (pool.row = new Uint16Array(length));
	const lowest = model.lowest = (pool.lowest || (pool.lowest = new Uint16Array(length))).fill(0);
	/* By depth: where the next node begins. */
	const next = new Float64Array(DEEPEST + 2);
	start[0] = row[0] = 0;
	for (let i = 1; i < length; i++) {
		const deep = depth[i], place = next[deep];
		start[i] = next[deep + 1] = place;
		next[deep] = place + total[i];
		row[i] = row[parent[i]] + ((hide && hide[name[i]]) || (deep === 1 && noRoot) ? 0 : 1);
	}
	for (let i = length - 1; i > 0; i--) {
		if (!total[i]) continue;
		if (lowest[i] < row[i] && !(hide && hide[name[i]])) lowest[i] = row[i];
		const above = parent[i];
		if (lowest[above] < lowest[i]) lowest[above] = lowest[i];
	}
	return model;
}

/* Text as it stands: names of C++ are full of what expressions give a meaning. Between slashes it is a regular expression. */
function matcher(text) {
	if (/^\/.+\/$/.test(text)) {
		try {
			const expression = new RegExp(text.slice(1, -1), "i");
			return name => expression.test(name);
		} catch { /* half typed: taken literally */ }
	}
	const lower = text.toLowerCase();
	return name => name.toLowerCase().includes(lower);
}

/* Tries each distinct name once. The share counts the outermost match of a stack. */
function searchTree(model, text) {
	model.hits = model.hitsBefore = null;
	if (!text) return null;
	const {tree, total, pool} = model, test = matcher(text), hits = Uint8Array.from(profile.names, name => test(name) ? 1 : 0);
	const before = pool.hits || (pool.hits = new Uint32Array(tree.length + 1));
	let sum = 0, frames = 0, done = 0;
	for (let i = 0; i < tree.length; i++) {
		const isHit = i && hits[tree.name[i]] && total[i] > 0 ? 1 : 0;
		before[i + 1] = before[i] + isHit;
		frames += isHit;
		if (isHit && i >= done) {
			sum += total[i];
			done = tree.end[i];
		}
	}
	model.hits = hits;
	model.hitsBefore = before;
	return {sum, frames, share: sum / total[0]};
}

/* What a node has of its own. Differences below a millionth are those of adding up. */
function ownOf(model, node) {
	const {tree, total} = model;
	let own = total[node];
	for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) own -= total[child];
	return own > 1e-6 * total[node] ? own : 0;
}

/* Self and total of each function; recursion counts once. What hidden frames have of their own is
 * their callers'. */
function functionsOf(model) {
	const {tree, total, hide} = model, length = profile.names.length, isHidden = node => hide && hide[tree.name[node]] === 1;
	const self = new Float64Array(length), whole = new Float64Array(length), open = new Uint16Array(length), path = [];
	for (let i = 1; i < tree.length; i++) {
		while (path.length && tree.end[path[path.length - 1]] <= i) open[tree.name[path.pop()]]--;
		if (!total[i]) {
			i = tree.end[i] - 1;
			continue;
		}
		const name = tree.name[i];
		if (!open[name]) whole[name] += total[i];
		open[name]++;
		path.push(i);
		let owner = i;
		while (owner > 0 && isHidden(owner)) owner = tree.parent[owner];
		if (owner > 0) self[tree.name[owner]] += ownOf(model, i);
	}
	const functions = [];
	for (let id = 0; id < length; id++)
		if (whole[id] && profile.marks[id] !== MARK_ROOT && !(hide && hide[id])) functions.push({id, self: self[id], total: whole[id]});
	return functions.sort((a, b) => b.self - a.self || b.total - a.total);
}

/* ---- callers and callees of one function ---- */
const newNode = () => ({children: new Map(), value: 0, own: 0});
function childOf(node, name) {
	let child = node.children.get(name);
	if (!child) node.children.set(name, child = newNode());
	return child;
}
function flatten(root) {
	const name = [], depth = [], own = [], open = [[root, 0, -1]];
	while (open.length) {
		const [node, level, id] = open.pop();
		name.push(id);
		depth.push(level);
		own.push(node.own);
		for (const [child, value] of [...node.children].sort((a, b) => a[1].value - b[1].value)) open.push([value, level + 1, child]);
	}
	const tree = makeTree(Int32Array.from(name), Uint16Array.from(depth));
	return {tree, total: addTotals(tree, Float64Array.from(own)), pool: {}};
}
/* Subtrees that nobody would see are left out of the callees. */
function sandwich(model, id) {
	const {tree, total} = model, callers = newNode(), callees = newNode(), places = [];
	let sum = 0;
	for (let i = 1; i < tree.length; i++) {
		if (tree.name[i] !== id || !total[i]) continue;
		places.push(i);
		sum += total[i];
		i = tree.end[i] - 1;
	}
	for (const place of places) {
		let node = callers;
		for (let i = tree.parent[place]; i > 0; i = tree.parent[i]) node = childOf(node, tree.name[i]), node.value += total[place];
		node.own += total[place];
		addCallees(model, place, callees, sum / 40000);
	}
	return [flatten(callers), flatten(callees)];
}
function addCallees(model, place, callees, least) {
	const {tree, total} = model, path = [callees];
	callees.own += ownOf(model, place);
	for (let i = place + 1; i < tree.end[place];) {
		const level = tree.depth[i] - tree.depth[place];
		if (total[i] < least) {
			path[level - 1].own += total[i];
			i = tree.end[i];
			continue;
		}
		const node = path[level] = childOf(path[level - 1], tree.name[i]);
		node.value += total[i];
		node.own += ownOf(model, i);
		i++;
	}
}
