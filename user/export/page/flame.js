// SPDX-License-Identifier: BSD-2-Clause
/* A flame graph on a canvas. Its cost follows what is to be seen: what lies outside of the window or
 * is narrower than half a pixel is skipped with all below it. */
const ROW_HEIGHT = 20, LEAST_HEIGHT = 240, NARROWEST = .5, LABEL_MIN = 26;
const calm = matchMedia("(prefers-reduced-motion:reduce)");
let palette;

function readPalette() {
	const style = getComputedStyle(document.documentElement), color = name => style.getPropertyValue(name).trim();
	palette = {
		frames: MARKS.map(mark => color("--f-" + mark)), narrow: color("--f-narrow"), text: color("--f-text"), ink: color("--text"),
		hit: color("--f-hit"), accent: color("--accent"), edge: color("--edge"), faded: color("--text3"), font: "11.5px " + color("--sans")
	};
}

function tip(children, x, y) {
	const box = $("#tip");
	if (!children) {
		box.style.visibility = "hidden";
		return;
	}
	box.replaceChildren(...children);
	const size = box.getBoundingClientRect();
	box.style.left = Math.max(8, Math.min(innerWidth - size.width - 8, x + 14)) + "px";
	box.style.top = (y + 20 + size.height > innerHeight - 8 ? Math.max(8, y - size.height - 12) : y + 18) + "px";
	box.style.visibility = "visible";
}

class Flame {
	/* options: label, fits: no higher than its tree, format(value), isRootBelow(), onSelect(flame, node), onZoom(flame), onFunction(name) */
	constructor(host, options) {
		this.options = options;
		this.selected = this.zoomed = 0;
		this.hovered = -1;
		this.boxes = [];
		this.canvas = el("canvas", {"aria-hidden": "true"});
		this.spacer = el("div", {}, this.canvas);
		this.told = el("div", {class: "vh", "aria-live": "polite"});
		this.scroller = el("div", {class: "fls", tabindex: "0", role: "application", "aria-roledescription": "flame graph", "aria-label": options.label}, this.spacer);
		host.append(this.scroller, this.told);
		this.context = this.canvas.getContext("2d");
		this.scroller.addEventListener("scroll", () => this.draw());
		this.scroller.addEventListener("keydown", event => this.key(event));
		this.scroller.addEventListener("focus", () => this.draw());
		this.scroller.addEventListener("blur", () => this.draw());
		new ResizeObserver(() => this.draw()).observe(this.scroller);
		this.listenToPointer();
	}

	listenToPointer() {
		const nodeAt = event => {
			const box = this.canvas.getBoundingClientRect();
			return this.nodeAt(event.clientX - box.left, event.clientY - box.top);
		};
		this.canvas.addEventListener("pointermove", event => {
			if (event.pointerType === "touch") return;
			const node = nodeAt(event);
			this.hover(node);
			if (node < 0) tip();
			else this.showTip(node, event.clientX, event.clientY);
		});
		this.canvas.addEventListener("pointerleave", () => {
			this.hover(-1);
			tip();
		});
		this.canvas.addEventListener("click", event => {
			const node = nodeAt(event);
			tip();
			if (node < 0) return;
			this.select(node);
			this.zoom(node);
		});
		this.canvas.addEventListener("dblclick", () => this.openFunction(this.selected));
	}

	openFunction(node) {
		const name = this.model.tree.name[node];
		if (node > 0 && this.options.onFunction && profile.marks[name] !== MARK_ROOT) this.options.onFunction(name);
	}

	/* Another selection of the same tree keeps the zoom where it still exists. */
	set(model, isKept) {
		const path = isKept && this.model && this.zoomed ? this.pathOf(this.zoomed) : null;
		this.model = layOut(model);
		this.zoomed = path ? this.findPath(path) : 0;
		this.selected = this.zoomed;
		this.left = model.start[this.zoomed];
		this.right = this.left + model.total[this.zoomed];
		this.resize();
		this.draw();
		if (this.options.onZoom) this.options.onZoom(this);
	}

	pathOf(node) {
		const path = [], {tree} = this.model;
		for (; node > 0; node = tree.parent[node]) path.unshift(tree.name[node]);
		return path;
	}

	findPath(path) {
		const {tree, total} = this.model;
		let node = 0;
		for (const name of path) {
			let child = node + 1;
			while (child < tree.end[node] && !(tree.name[child] === name && total[child])) child = tree.end[child];
			if (child >= tree.end[node]) break;
			node = child;
		}
		return node;
	}

	isRootBelow() {
		return !!this.options.isRootBelow && this.options.isRootBelow();
	}

	resize() {
		/* No higher than any filter could make it, so that it does not jump. */
		if (this.options.fits) this.scroller.style.maxHeight = Math.max(LEAST_HEIGHT, this.model.tree.deepest * ROW_HEIGHT + 4) + "px";
		this.height = Math.max((this.model.lowest[this.zoomed] + 1) * ROW_HEIGHT + 4, this.scroller.clientHeight);
		this.spacer.style.height = this.height + "px";
		this.scroller.scrollTop = this.isRootBelow() ? this.height : 0;
	}

	label(node) {
		return node <= 0 ? this.model.root || "all" : profile.names[this.model.tree.name[node]];
	}

	mark(node) {
		return node <= 0 ? MARK_ROOT : profile.marks[this.model.tree.name[node]];
	}

	isHidden(node) {
		const {hide, tree, noRoot} = this.model;
		return node ? !!hide && hide[tree.name[node]] === 1 : !!noRoot;
	}

	zoom(node, isAtOnce) {
		const {start, total} = this.model, fromLeft = this.left, fromRight = this.right, toLeft = start[node], toRight = toLeft + total[node];
		if (!total[node]) return;
		this.zoomed = node;
		this.resize();
		if (this.options.onZoom) this.options.onZoom(this);
		cancelAnimationFrame(this.frame);
		const begin = performance.now();
		const step = now => {
			const part = isAtOnce || calm.matches ? 1 : Math.min(1, Math.max(0, (now - begin) / 140)), eased = 1 - (1 - part) ** 3;
			this.left = part === 1 ? toLeft : fromLeft + (toLeft - fromLeft) * eased;
			this.right = part === 1 ? toRight : fromRight + (toRight - fromRight) * eased;
			this.paint();
			if (part < 1) this.frame = requestAnimationFrame(step);
		};
		step(begin);
	}

	select(node) {
		const value = this.model.total[node];
		this.selected = node;
		this.draw();
		if (this.options.onSelect) this.options.onSelect(this, node);
		this.told.textContent = `${this.label(node)}, ${MARK_WORDS[this.mark(node)]}, ${this.options.format(value)}, ${percent(value / this.model.total[0])}`;
	}

	hover(node) {
		if (node === this.hovered) return;
		this.hovered = node;
		this.draw();
		if (this.options.onSelect) this.options.onSelect(this, node < 0 ? this.selected : node);
	}

	draw() {
		if (this.isQueued) return;
		this.isQueued = true;
		requestAnimationFrame(() => {
			this.isQueued = false;
			this.paint();
		});
	}

	prepare() {
		const width = this.scroller.clientWidth, height = this.scroller.clientHeight, ratio = devicePixelRatio || 1;
		if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
			this.canvas.style.width = width + "px";
			this.canvas.style.height = height + "px";
		}
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.context.clearRect(0, 0, width, height);
		if (!glyphWidths[palette.font]) measureFont(this.context, palette.font);
		this.context.font = palette.font;
		return [width, height];
	}

	top(row) {
		return this.isRootBelow() ? this.height - (row + 1) * ROW_HEIGHT - this.scroller.scrollTop : row * ROW_HEIGHT - this.scroller.scrollTop;
	}

	/* Whether a frame is in a search: 2 itself, 1 something below it, 0 neither, 3 there is no search. */
	heat(node) {
		const {hits, hitsBefore, tree} = this.model;
		if (!hitsBefore) return 3;
		if (node && hits[tree.name[node]]) return 2;
		return hitsBefore[tree.end[node]] > hitsBefore[node] ? 1 : 0;
	}

	/* Fills this.boxes, and returns runs of frames too narrow to be seen one by one. */
	place(width, height) {
		const {tree, total, start, row} = this.model, scale = width / (this.right - this.left || 1), isBelow = this.isRootBelow();
		const lastRun = [], runs = [];
		this.boxes = [];
		for (let i = 0; i < tree.length;) {
			const x = (start[i] - this.left) * scale, wide = total[i] * scale, y = this.top(row[i]);
			if (!(total[i] > 0) || x >= width || x + wide <= .01) {
				i = tree.end[i];
				continue;
			}
			if (this.isHidden(i)) {
				i++;
				continue;
			}
			if (isBelow ? y + ROW_HEIGHT < 0 : y > height) {
				i = tree.end[i];
				continue;
			}
			const isSeen = y > -ROW_HEIGHT && y < height;
			if (wide < NARROWEST) {
				if (isSeen) this.addToRun(lastRun, runs, row[i], x, x + wide, this.heat(i));
				i = tree.end[i];
				continue;
			}
			if (isSeen) {
				const left = Math.max(0, x);
				this.boxes.push({node: i, x: left, y, width: Math.min(width, x + wide) - left, heat: this.heat(i)});
			}
			i++;
		}
		return runs;
	}

	addToRun(lastRun, runs, row, left, right, heat) {
		const last = lastRun[row];
		if (last && left - last.right < .6) {
			last.right = Math.max(right, last.right);
			last.heat = Math.max(last.heat, heat);
			return;
		}
		runs.push(lastRun[row] = {row, left, right, heat});
	}

	paint() {
		if (!this.model || !this.scroller.clientWidth) return;
		const [width, height] = this.prepare(), runs = this.place(width, height);
		this.paintBoxes();
		this.paintRuns(runs);
		this.paintLabels();
		this.paintOutlines();
	}

	paintBoxes() {
		const {context, boxes} = this;
		palette.frames.forEach((color, mark) => {
			context.fillStyle = color;
			for (const box of boxes) {
				if (this.mark(box.node) !== mark) continue;
				context.globalAlpha = box.heat ? 1 : .32;
				context.fillRect(box.x, box.y, box.width > 2 ? box.width - .75 : box.width, ROW_HEIGHT - 1);
			}
		});
		context.globalAlpha = 1;
		context.strokeStyle = palette.edge;
		context.setLineDash([3, 2]);
		for (const box of boxes)
			if (this.mark(box.node) === MARK_TRUNCATED && box.width > 2) context.strokeRect(box.x + .5, box.y + .5, box.width - 1.75, ROW_HEIGHT - 2);
		context.setLineDash([]);
		context.fillStyle = palette.hit;
		for (const box of boxes) if (box.heat === 2) context.fillRect(box.x, box.y + ROW_HEIGHT - 4, Math.max(1, box.width - .75), 3);
	}

	paintRuns(runs) {
		const {context} = this, isSearch = !!this.model.hitsBefore;
		for (const run of runs) {
			context.globalAlpha = isSearch && !run.heat ? .3 : 1;
			context.fillStyle = isSearch && run.heat ? palette.hit : palette.narrow;
			context.fillRect(run.left, this.top(run.row), Math.max(.75, run.right - run.left), ROW_HEIGHT - 1);
		}
		context.globalAlpha = 1;
	}

	paintLabels() {
		const {context, model} = this;
		context.textBaseline = "middle";
		for (const box of this.boxes) {
			if (box.width < LABEL_MIN) continue;
			const text = fitName(this.label(box.node), box.width - 9, palette.font);
			context.globalAlpha = box.heat && model.row[box.node] < model.row[this.zoomed] ? .75 : 1;
			context.fillStyle = !box.heat ? palette.faded : this.mark(box.node) === MARK_TRUNCATED ? palette.ink : palette.text;
			context.fillText(text, box.x + 4.5, box.y + ROW_HEIGHT / 2 + .5);
		}
		context.globalAlpha = 1;
	}

	/* The same function wherever it stands, and the frame that has the keyboard. */
	paintOutlines() {
		const {context, model} = this, isFocused = document.activeElement === this.scroller;
		const shown = this.hovered > 0 ? this.hovered : this.selected > 0 && isFocused ? this.selected : 0;
		if (shown) {
			context.strokeStyle = palette.ink;
			context.lineWidth = 1.5;
			for (const box of this.boxes)
				if (box.node && model.tree.name[box.node] === model.tree.name[shown] && box.width > 1.5)
					context.strokeRect(box.x + .75, box.y + .75, Math.max(1, box.width - 2.2), ROW_HEIGHT - 2.5);
		}
		const current = isFocused && this.boxes.find(box => box.node === this.selected);
		if (current) {
			context.strokeStyle = palette.accent;
			context.lineWidth = 2;
			context.strokeRect(current.x + 1, current.y + 1, current.width - 2.7, ROW_HEIGHT - 3);
		}
		context.lineWidth = 1;
	}

	nodeAt(x, y) {
		const box = this.boxes.find(b => y >= b.y && y < b.y + ROW_HEIGHT && x >= b.x && x < b.x + b.width);
		return box ? box.node : -1;
	}

	explain(node) {
		switch (this.mark(node)) {
		case MARK_TRUNCATED: return "Truncated: the frames between here and the root are missing.";
		case MARK_UNRESOLVED: return "No symbol for this address.";
		default: {
			if (this.model.tree.name[node] >= profile.firstModule) return "All functions of this module that call each other.";
			const module = profile.modules[this.model.tree.name[node]];
			return MARK_WORDS[this.mark(node)] + (module ? " in " + module : "");
		}
		}
	}

	showTip(node, x, y) {
		const {total} = this.model, rows = [];
		const row = (name, value, whole) => rows.push(el("dt", {}, name), el("dd", {}, this.options.format(value)), el("dd", {}, percent(value / whole)));
		row(this.model.isReversed ? "time" : "total", total[node], total[0]);
		if (!this.model.isReversed) row("self", ownOf(this.model, node), total[0]);
		if (this.zoomed) rows.push(el("dt", {}, "of zoom"), el("dd"), el("dd", {}, percent(total[node] / total[this.zoomed])));
		tip([el("span", {class: "code"}, this.label(node)), el("dl", {}, rows), node ? el("p", {}, this.explain(node)) : ""], x, y);
	}

	/* ---- keys ---- */
	visibleParent(node) {
		const {parent} = this.model.tree;
		do node = node > 0 ? parent[node] : -1;
		while (node >= 0 && this.isHidden(node));
		return node;
	}

	visibleChildren(node, found = []) {
		const {tree, total} = this.model;
		for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
			if (!total[child]) continue;
			if (this.isHidden(child)) this.visibleChildren(child, found);
			else found.push(child);
		}
		return found;
	}

	sibling(step) {
		const parent = this.visibleParent(this.selected);
		if (parent < 0) return -1;
		const all = this.visibleChildren(parent), at = all.indexOf(this.selected) + step;
		return at >= 0 && at < all.length ? all[at] : -1;
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const isBelow = this.isRootBelow(), inward = isBelow ? "ArrowUp" : "ArrowDown", outward = isBelow ? "ArrowDown" : "ArrowUp";
		let to = -1;
		switch (event.key) {
		case inward: to = this.visibleChildren(this.selected).reduce((a, b) => a < 0 || this.model.total[b] > this.model.total[a] ? b : a, -1); break;
		case outward: to = this.visibleParent(this.selected); break;
		case "ArrowLeft": to = this.sibling(-1); break;
		case "ArrowRight": to = this.sibling(1); break;
		case "Home": to = 0; break;
		case "Enter": case " ": this.zoom(this.selected); break;
		case "Backspace": this.zoom(Math.max(0, this.visibleParent(this.zoomed))); break;
		case "s": this.openFunction(this.selected); break;
		case "Escape":
			if (!this.zoomed) return;
			this.selected = 0;
			this.zoom(0);
			break;
		default: return;
		}
		event.preventDefault();
		event.stopPropagation();
		if (to >= 0) this.moveTo(to);
	}

	moveTo(node) {
		const {tree, row} = this.model, {scroller} = this;
		if (node < this.zoomed || node >= tree.end[this.zoomed]) this.zoom(Math.max(0, this.visibleParent(this.zoomed)));
		this.select(node);
		const y = this.isRootBelow() ? this.height - (row[node] + 1) * ROW_HEIGHT : row[node] * ROW_HEIGHT;
		if (y < scroller.scrollTop) scroller.scrollTop = y;
		if (y + ROW_HEIGHT > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = y + ROW_HEIGHT - scroller.clientHeight;
	}
}
