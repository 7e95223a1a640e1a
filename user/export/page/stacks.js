// SPDX-License-Identifier: BSD-2-Clause
/* Flame graph, and functions with their callers and callees, of the chosen kind and rows. */
let graph;

/* Off-CPU time without sleep, which hides everything else, unless it is asked for. */
const isStateChosen = (kindName, index) => !profile.kinds[kindName].states.length || state.waits.has(profile.kinds[kindName].states[index]);
function modelOf(kindName) {
	const kind = profile.kinds[kindName], key = shapeKey(), {tree, place, pool, isShort} = shapeOf(kind, key), own = (pool.own || (pool.own = new Float64Array(tree.length))).fill(0);
	eachValue(kind, (i, value) => {
		if (isPickedRow(kind.row[i]) && isStateChosen(kindName, kind.state[i])) own[place ? place[kind.node[i]] : kind.node[i]] += value;
	});
	return {key, pool, tree, isShort, isReversed: key.includes("r"), total: addTotals(tree, own), hide: key || state.allFrames ? null : profile.plumbing, root: state.pick ? state.pick.text : "all"};
}
function sumOf(kindName) {
	const kind = profile.kinds[kindName];
	let sum = 0;
	eachValue(kind, (i, value) => {
		if (isPickedRow(kind.row[i]) && isStateChosen(kindName, kind.state[i])) sum += value;
	});
	return sum;
}

function showStatus(box, flame, node) {
	const {total} = flame.model, value = total[node] || 0;
	box.replaceChildren(el("span", {class: "code"}, flame.label(node)), el("span", {class: "num"}, flame.options.format(value)), el("span", {class: "num"}, percent(value / total[0]) + " of all"),
			    flame.zoomed ? el("span", {class: "num"}, percent(value / total[flame.zoomed]) + " of zoom") : "");
}
function showCrumbs(box, flame) {
	if (!flame.zoomed) {
		box.replaceChildren(el("span", {}, "Click a frame to zoom, double-click for its callers and callees"));
		return;
	}
	const path = [], button = node => el("button", {type: "button", onclick() { flame.zoom(node); }}, node ? shortName(flame.label(node)) : flame.label(0));
	for (let node = flame.zoomed; node > 0; node = flame.model.tree.parent[node]) if (!flame.isHidden(node) || node === flame.zoomed) path.unshift(node);
	const shown = path.length > 5 ? [path[0], -1, ...path.slice(-3)] : path;
	box.replaceChildren(button(0), ...shown.flatMap(node => ["\u203a", node < 0 ? "\u2026" : button(node)]));
}

function searchText(kindName, found) {
	if (!state.search) return "";
	return found && found.frames ? `${weight(kindName, found.sum)}, ${percent(found.share)} in ${plural(found.frames, "frames")}` : "no frame matches";
}

/* Lines of source, where any is known. */
const linesOf = kind => (profile.report.hottest_lines || {})[kind] || [];

const toggle = (text, key, title, isDisabled) => el("button", {class: "btn", type: "button", "aria-pressed": String(state[key]), title, disabled: isDisabled, onclick() { change(() => state[key] = !state[key]); }}, text);
const WAIT_WORDS = {runqueue: "run queue", disk: "disk wait"};
function stackTools() {
	const {kind} = state, waits = profile.kinds[kind].states.filter((_, i) => profile.kinds[kind].used.has(i));
	return [
		choice("Kind of events", profile.kindNames.map(name => [name, profile.kinds[name].title, weight(name, sumOf(name)).replace(/ .*$/, "")]), () => state.kind, value => { state.kind = value; state.chosen = -1; }),
		choice("View", [["graph", "Flame graph"], ["functions", "Functions"]].concat(linesOf(kind).length ? [["lines", "Lines"]] : []), () => state.view, value => state.view = value),
		waits.length ? el("div", {class: "key", role: "group", "aria-label": "States"}, waits.map(name => el("button", {type: "button", "aria-pressed": String(state.waits.has(name)), onclick() {
			change(() => state.waits.has(name) ? state.waits.delete(name) : state.waits.add(name));
		}}, WAIT_WORDS[name] || name))) : null
	];
}
/* Kinds of frames that this profile has. */
const legend = () => el("div", {class: "key"}, MARKS.slice(0, MARK_ROOT).map((mark, i) => !profile.marks.includes(i) ? null : el("span", {}, el("i", {style: `background:var(--f-${mark});` + (mark === "trunc" ? "outline:1px dashed var(--edge);outline-offset:-1px" : "")}), MARK_WORDS[i])));

function showGraph(model, format) {
	const {kind} = state, found = searchTree(model, state.search), status = el("div", {class: "stat"}), crumbs = el("div", {class: "crumb", "aria-label": "Zoom path", role: "navigation"});
	const host = el("div", {class: "fl", id: "fl"}), {zoom} = state, kept = zoom && zoom.kind === kind && zoom.key === model.key ? zoom.path : null;
	const share = el("span", {class: "sub num", role: "status"}, searchText(kind, found));
	fill("stacks", head("stacks", "Stacks", ...stackTools()),
		el("div", {class: "ph", style: "padding-top:0;min-height:38px"}, choice("Direction", ["on top", "below"].map((text, i) => [Boolean(i), (state.reversed ? "Leaves " : "Root ") + text]), () => state.rootBelow, value => state.rootBelow = value),
			toggle("Reversed", "reversed", "Merged from the leaves: the functions that had the time, with their callers (inverted call stacks)"),
			toggle("By module", "byModule", "One frame for each library, program or script: what functions of it call in it is the same frame"),
			toggle("All frames", "allFrames", "Start-up, system-call entry, scheduling and interpreter frames", state.byModule),
			el("input", {class: "fld", id: "search", type: "search", placeholder: "Search functions  /", value: state.search, "aria-label": "Search functions: text, or a regular expression between slashes", title: "Text, or /regular expression/", "data-key": "search", oninput(event) {
				state.search = event.target.value;
				saveAddress();
				if (!graph) return;
				share.textContent = searchText(kind, searchTree(graph.model, state.search));
				graph.draw();
			}}), share),
		el("div", {class: "cl"}, crumbs, model.total[0] ? el("button", {class: "btn", type: "button", title: "The chosen frame and its callers, as text", onclick() { copyStack(graph); }}, "Copy stack") : null, legend()),
		model.isShort ? el("p", {class: "sub", style: "padding:0 16px 6px"}, "Callers of the rarest stacks are left out: there is no room for more.") : null,
		 model.total[0] ? host : el("p", {class: "empty"}, `No ${profile.kinds[kind].title} events of ${state.pick ? state.pick.text : "any process"}${profile.kinds[kind].states.length ? " in the chosen states" : ""}${isWholeRange() ? "" : ", " + rangeText()}.`), status);
	if (!model.total[0]) {
		graph = null;
		return;
	}
	graph = new Flame(host, {fits: true,
		label: `Flame graph, ${profile.kinds[kind].title}, ${format(model.total[0])}. Arrow keys move, Enter zooms, Escape returns. The table Functions has the same figures.`, format,
		isRootBelow: () => state.rootBelow, onSelect: (flame, node) => showStatus(status, flame, node),
		onZoom: flame => {
			showCrumbs(crumbs, flame);
			showStatus(status, flame, flame.zoomed);
			state.zoom = flame.zoomed ? {kind, key: model.key, path: flame.pathOf(flame.zoomed)} : null;
			saveAddress();
		},
		onFunction: name => change(() => { state.chosen = name; state.view = "functions"; })
	});
	graph.kind = kind;
	graph.set(model);
	const node = kept ? graph.findPath(kept) : 0;
	if (node) graph.zoom(node, true);
	if (kept && zoom.wished) state.zoom = zoom;
}

const FUNCTIONS_SHOWN = 200;
function functionRow(item, whole) {
	const share = value => el("td", {}, percent(value / whole), el("span", {class: "fb"}, el("i", {style: `width:${(100 * value / whole).toFixed(1)}%`})));
	return el("tr", {class: "pick", tabindex: "0", "aria-selected": String(item.id === state.chosen), onclick() { change(() => state.chosen = item.id); },
		onkeydown(event) {
			const next = event.key === "ArrowDown" ? this.nextSibling : event.key === "ArrowUp" ? this.previousSibling : null;
			if (event.key === "Enter") this.click();
			if (!next) return;
			event.preventDefault();
			next.focus();
		}}, el("td", {class: "l fn", title: profile.names[item.id]}, shortName(profile.names[item.id])), share(item.self), share(item.total));
}
function showFunctions(model, format) {
	const functions = functionsOf(model), whole = model.total[0], wanted = state.functionFilter.toLowerCase(), status = el("div", {class: "stat"});
	if (!functions.some(item => item.id === state.chosen)) state.chosen = functions.length ? functions[0].id : -1;
	const found = functions.filter(item => profile.names[item.id].toLowerCase().includes(wanted)).sort((a, b) => b[state.functionSort] - a[state.functionSort]);
	const chosen = functions.find(item => item.id === state.chosen), callers = el("div", {class: "fl", style: "--flh:230px"}), callees = el("div", {class: "fl", style: "--flh:240px"});
	const sortHead = (key, name) => el("th", {"aria-sort": state.functionSort === key ? "descending" : null, scope: "col"}, el("button", {type: "button", onclick() { change(() => state.functionSort = key); }}, name));
	fill("stacks", head("stacks", "Stacks", ...stackTools()), el("div", {class: "sand"},
		el("div", {}, el("div", {style: "padding:8px 16px"}, el("input", {class: "fld", style: "width:100%", type: "search", placeholder: "Filter functions", value: state.functionFilter, "data-key": "functions", "aria-label": "Filter functions", oninput(event) { state.functionFilter = event.target.value; showStacks(); }})),
			el("div", {class: "tall", style: "--flh:500px"}, el("table", {}, el("thead", {}, el("tr", {}, el("th", {class: "l", scope: "col"}, "Function"), sortHead("self", "Self"), sortHead("total", "Total"))), el("tbody", {}, found.slice(0, FUNCTIONS_SHOWN).map(item => functionRow(item, whole)))),
				found.length > FUNCTIONS_SHOWN ? el("p", {class: "sub", style: "padding:8px 16px"}, `${FUNCTIONS_SHOWN} of ${count(found.length)} functions; filter to see others`) : null)),
		el("div", {}, callers, el("div", {class: "mid"}, chosen ? [el("span", {class: "code"}, profile.names[chosen.id]), el("span", {class: "sub num"}, `total ${format(chosen.total)}, ${percent(chosen.total / whole)}`), el("span", {class: "sub num"}, `self ${format(chosen.self)}, ${percent(chosen.self / whole)}`), el("span", {class: "sub"}, "callers above, callees below")] : "No function"), callees, status)));
	if (!chosen) return;
	const models = sandwich(model, chosen.id), show = (host, half, label, isBelow) => {
		Object.assign(half, {hide: model.hide, noRoot: true, root: shortName(profile.names[chosen.id])});
		new Flame(host, {label, format, isRootBelow: () => isBelow, onSelect: (flame, node) => showStatus(status, flame, node), onFunction: name => change(() => state.chosen = name)}).set(half);
	};
	show(callers, models[0], "Callers", true);
	show(callees, models[1], "Callees", false);
}

/* The report has them of all processes together. */
function showLines(lines) {
	const share = value => el("td", {}, percent(value / 100), el("span", {class: "fb"}, el("i", {style: `width:${value.toFixed(1)}%`})));
	fill("stacks", head("stacks", "Stacks", ...stackTools()),
		el("p", {class: "sub", style: "padding:8px 16px"}, "Lines of all processes. Self includes callees whose lines are not known."),
		el("div", {class: "scroll"}, el("table", {}, el("caption", {class: "vh"}, "Hottest lines of source"),
			el("thead", {}, el("tr", {}, ["Line", "Self", "Total", "Function", "Source"].map(name => el("th", {class: name === "Self" || name === "Total" ? null : "l", scope: "col"}, name)))),
			el("tbody", {}, lines.map(line => el("tr", {}, el("td", {class: "l fn", title: `${line.file}:${line.line}`}, `${line.file.replace(/.*\//, "")}:${line.line}`),
				share(line.self_percent), share(line.total_percent), el("td", {class: "l"}, shortName(line.function)), el("td", {class: "l"}, el("code", {class: "code"}, line.text || ""))))))));
}

function showStacks() {
	if (!profile.kindNames.length) {
		fill("stacks", head("stacks", "Stacks"), el("p", {class: "empty"}, "No stacks were recorded."));
		return;
	}
	const model = modelOf(state.kind), format = value => weight(state.kind, value);
	const lines = linesOf(state.kind);
	if (state.view === "graph") showGraph(model, format);
	else if (state.view === "lines" && lines.length) showLines(lines);
	else showFunctions(model, format);
}
