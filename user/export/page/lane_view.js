// SPDX-License-Identifier: BSD-2-Clause
/* The picture of lanes: a column of pixels has what a thread did in that time, in parts. */
const THREAD_HEIGHT = 18, THREAD_GAP = 3, GROUP_HEIGHT = 22, REGION_HEIGHT = 13, LANES_AXIS = 20, LANES_MOST = 560, LANE_SPAN_LEAST = 2000;
/* What is asleep is above, in pale colors. */
const LANE_ORDER = [0, 2, 3, 5, 6, 7, 8, 11, 10, 4, 1, 9];

/* "#rrggbb" as a pixel of a canvas. */
const pixelOf = color => (0xff000000 | parseInt(color.slice(5, 7), 16) << 16 | parseInt(color.slice(3, 5), 16) << 8 | parseInt(color.slice(1, 3), 16)) >>> 0;

/* Rows from top to bottom: groups, lanes, and strips of regions above these. */
function layLanes(groups, regionsOf) {
	const rows = [];
	let top = 0;
	for (const group of groups) {
		/* One thread needs no head. */
		if (group.lanes.length > 1) {
			rows.push({group, top, height: GROUP_HEIGHT});
			top += GROUP_HEIGHT;
		}
		for (const lane of group.lanes) {
			const regions = regionsOf.get(lane.index);
			if (regions) top += REGION_HEIGHT;
			rows.push({lane, regions, top, height: THREAD_HEIGHT});
			top += THREAD_HEIGHT + THREAD_GAP;
		}
	}
	return {rows, height: top};
}

/* Heights of the parts of a column add up to its height. */
function paintColumn(pixels, at, stride, height, sums, before, span, colors) {
	let sum = 0, y = height;
	for (const kind of LANE_ORDER) {
		const part = sums[kind] - before[kind];
		if (!(part > 0)) continue;
		sum += part;
		const until = Math.max(0, height - Math.round(Math.min(1, sum / span) * height));
		while (y > until) pixels[at + --y * stride] = colors[kind];
	}
}

/* One lane from column 0 on; each column is `span` ns. */
function paintLane(lanes, lane, pixels, place, {stride, width, height, from, span, colors}) {
	let before = paintLane.before, sums = paintLane.sums, hint = sumUpTo(lanes, lane, Math.max(from, lane.begin), before, -1);
	const first = Math.max(0, Math.floor((lane.begin - from) / span)), end = Math.min(width, Math.ceil((lane.end - from) / span));
	for (let x = first; x < end; x++) {
		hint = sumUpTo(lanes, lane, from + (x + 1) * span, sums, hint);
		paintColumn(pixels, place + x, stride, height, sums, before, span, colors);
		[before, sums] = [sums, before];
	}
}
paintLane.before = new Float64Array(LANE_KINDS.length);
paintLane.sums = new Float64Array(LANE_KINDS.length);

class LaneView {
	constructor(lanes, groups, box, shown) {
		const regionsOf = new Map();
		for (const [lane, begin, length, name] of lanes.regions) regionsOf.set(lane, (regionsOf.get(lane) || []).concat([{begin, length, name}]));
		Object.assign(this, {lanes, shown}, layLanes(groups, regionsOf));
		this.rowOf = new Map(this.rows.filter(row => row.lane).map(row => [row.lane.index, row]));
		this.canvas = el("canvas", {tabindex: "0", "data-key": "lanes", role: "application", "aria-roledescription": "lanes of threads", "aria-describedby": "lane-text",
			"aria-label": `Lanes of ${plural(this.rowOf.size, "threads")}. Arrows up and down go to other threads, left and right to the wait before and after, plus and minus zoom, w goes to the thread that woke this one.`});
		this.spacer = el("div", {style: `height:${this.height}px`});
		this.scroller = el("div", {class: "lanes"}, this.canvas, this.spacer);
		box.append(this.scroller);
		this.measure();
		this.listen();
		this.readColors();
		this.paint();
	}

	measure() {
		this.width = Math.max(240, this.scroller.clientWidth);
		this.left = this.width < 520 ? 114 : 170;
		this.visible = Math.min(LANES_MOST, this.height + LANES_AXIS);
		this.scroller.style.height = this.visible + "px";
		this.ratio = devicePixelRatio || 1;
		this.canvas.width = Math.round(this.width * this.ratio);
		this.canvas.height = Math.round(this.visible * this.ratio);
		Object.assign(this.canvas.style, {width: this.width + "px", height: this.visible + "px"});
		this.spacer.style.marginTop = `${LANES_AXIS - this.visible}px`;
	}

	readColors() {
		const style = getComputedStyle(document.documentElement), read = name => style.getPropertyValue(name).trim();
		const full = color => color.length === 4 ? "#" + [...color.slice(1)].map(digit => digit + digit).join("") : color;
		this.colors = Uint32Array.from(LANE_KINDS, ([, key]) => pixelOf(full(read("--s-" + key))));
		this.ink = {panel: full(read("--panel")), sunk: full(read("--sunk")), line: read("--line"), text: read("--text"), muted: read("--text3"), accent: read("--accent"), region: read("--f-jit"), onRegion: read("--f-text"), sans: read("--sans")};
	}

	/* ns of a place, in pixels of the page, and back. */
	time(x) { return this.shown.from + (x - this.left) / (this.width - this.left) * (this.shown.to - this.shown.from); }
	place(ns) { return this.left + (ns - this.shown.from) / (this.shown.to - this.shown.from) * (this.width - this.left); }

	/* Once before the next frame, however often it is asked for. */
	draw() {
		if (this.asked) return;
		this.asked = requestAnimationFrame(() => {
			this.asked = 0;
			this.paint();
		});
	}

	paint() {
		const began = performance.now(), context = this.canvas.getContext("2d"), {ratio} = this, scroll = this.scroller.scrollTop;
		const shownRows = this.rows.filter(row => row.top + row.height > scroll && row.top - REGION_HEIGHT < scroll + this.visible - LANES_AXIS);
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.fillStyle = this.ink.panel;
		context.fillRect(0, 0, this.canvas.width, this.canvas.height);
		this.paintThreads(context, shownRows, scroll);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.paintRange(context);
		this.paintNames(context, shownRows, scroll);
		this.paintAxis(context);
		this.paintCursor(context, scroll);
		this.took = performance.now() - began;
	}

	paintThreads(context, shownRows, scroll) {
		const {ratio, lanes} = this, left = Math.round(this.left * ratio), width = this.canvas.width - left, height = Math.round(THREAD_HEIGHT * ratio);
		if (!this.image || this.image.width !== width || this.image.height !== height) {
			this.image = context.createImageData(width, height);
			this.pixels = new Uint32Array(this.image.data.buffer);
		}
		const how = {stride: width, width, height, from: this.shown.from, span: (this.shown.to - this.shown.from) / width, colors: this.colors}, sunk = pixelOf(this.ink.sunk);
		for (const row of shownRows) {
			if (!row.lane) continue;
			this.pixels.fill(sunk);
			paintLane(lanes, row.lane, this.pixels, 0, how);
			context.putImageData(this.image, left, Math.round((row.top - scroll + LANES_AXIS) * ratio));
		}
	}

	/* What lies outside of the range that the page shows is pale. */
	paintRange(context) {
		if (isWholeRange()) return;
		const [from, to] = rangeOf(), begin = Math.max(this.left, this.place(profile.slices[from][0])), end = Math.min(this.width, this.place(profile.slices[to - 1][1]));
		context.globalAlpha = .6;
		context.fillStyle = this.ink.panel;
		context.fillRect(this.left, LANES_AXIS, Math.max(0, begin - this.left), this.visible);
		context.fillRect(Math.max(this.left, end), LANES_AXIS, this.width, this.visible);
		context.globalAlpha = 1;
	}

	paintNames(context, shownRows, scroll) {
		const {ink} = this, font = "12px " + ink.sans, cursor = this.shown.cursor;
		if (!glyphWidths[font]) measureFont(context, font);
		context.font = font;
		context.textBaseline = "alphabetic";
		for (const row of shownRows) {
			const y = row.top - scroll + LANES_AXIS;
			context.fillStyle = row.group || cursor && cursor.lane === row.lane ? ink.text : ink.muted;
			if (row.group) context.fillText(fitName(`${row.group.title} \u00b7 ${plural(row.group.lanes.length, "threads")}, ${time(row.group.active)} active`, this.width - 8, font), 0, y + 16);
			else this.paintName(context, row.lane, y + 13, font);
			for (const region of row.regions || []) this.paintRegion(context, region, y - REGION_HEIGHT);
		}
	}

	/* The number is what tells threads of one name apart. */
	paintName(context, lane, y, font) {
		const number = " " + lane.tid, room = this.left - 20, name = fitName(lane.comm, room - textWidth(number, font), font);
		context.fillText(name ? name + number : number.slice(1), 10, y);
	}

	paintRegion(context, region, y) {
		const begin = Math.max(this.left, this.place(region.begin)), end = Math.min(this.width, this.place(region.begin + region.length));
		if (end <= begin) return;
		context.fillStyle = this.ink.region;
		context.fillRect(begin, y + 1, Math.max(1, end - begin), REGION_HEIGHT - 2);
		context.font = "10px " + this.ink.sans;
		if (!glyphWidths[context.font]) measureFont(context, context.font);
		context.fillStyle = this.ink.onRegion;
		const name = end - begin > 16 ? fitName(region.name, end - begin - 6, context.font) : "";
		if (name) context.fillText(name, begin + 3, y + 10);
		context.font = "12px " + this.ink.sans;
	}

	paintAxis(context) {
		const {from, to} = this.shown, wanted = (to - from) / Math.max(2.5, (this.width - this.left) / 110);
		let step = 10 ** Math.floor(Math.log10(wanted));
		step *= [1, 2, 5, 10].find(times => step * times >= wanted);
		context.fillStyle = this.ink.panel;
		context.fillRect(0, 0, this.width, LANES_AXIS);
		context.fillStyle = this.ink.muted;
		const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step) + 1e-9)));
		for (let ns = Math.ceil(from / step) * step; ns <= to; ns += step) {
			const x = this.place(ns), text = (ns / 1e9).toFixed(digits) + NARROW + "s", room = context.measureText(text).width;
			context.fillRect(x, LANES_AXIS - 4, 1, 4);
			if (x + room + 4 < this.width) context.fillText(text, x + 3, 12);
		}
	}

	/* The moment that is described, and an arrow from the thread that ended its wait. */
	paintCursor(context, scroll) {
		const {cursor} = this.shown, row = cursor && this.rowOf.get(cursor.lane.index);
		if (!row) return;
		const y = row.top - scroll + LANES_AXIS, x = this.place(cursor.ns);
		context.save();
		context.beginPath();
		context.rect(this.left, LANES_AXIS, this.width - this.left, this.visible - LANES_AXIS);
		context.clip();
		context.strokeStyle = context.fillStyle = this.ink.text;
		context.lineWidth = 1.5;
		context.strokeRect(x - 2, y - 1, 4, THREAD_HEIGHT + 2);
		const moment = laneMoment(this.lanes, cursor.lane, cursor.ns), other = moment && moment.wait >= 0 ? this.rowOf.get(this.lanes.wakerLane[moment.wait] - 1) : null;
		if (other) {
			const at = this.place(this.lanes.begin[moment.wait] + this.lanes.length[moment.wait]), from = other.top - scroll + LANES_AXIS + THREAD_HEIGHT / 2, to = y + THREAD_HEIGHT / 2, way = Math.sign(to - from) || 1;
			context.setLineDash(this.lanes.wake[moment.wait] === WAKE_INTERRUPT ? [3, 3] : []);
			context.beginPath();
			context.moveTo(at, from);
			context.lineTo(at, to);
			context.stroke();
			context.setLineDash([]);
			context.beginPath();
			context.moveTo(at, to);
			context.lineTo(at - 4, to - 7 * way);
			context.lineTo(at + 4, to - 7 * way);
			context.fill();
		}
		context.restore();
	}

	/* ---- where it looks ---- */

	show(from, to) {
		const whole = this.shown.whole, span = Math.max(LANE_SPAN_LEAST, Math.min(whole, to - from)), begin = Math.max(0, Math.min(whole - span, from));
		Object.assign(this.shown, {from: begin, to: begin + span});
		this.draw();
		this.shown.moved();
	}
	zoom(times, ns) {
		const {from, to} = this.shown;
		this.show(ns - (ns - from) * times, ns + (to - ns) * times);
	}
	pan(part) {
		const {from, to} = this.shown, by = (to - from) * part;
		this.show(from + by, to + by);
	}
	/* A time has a place in the picture, and its lane, too. */
	reveal({lane, ns}) {
		const {from, to} = this.shown, row = this.rowOf.get(lane.index), room = this.visible - LANES_AXIS;
		if (ns < from || ns > to) this.show(ns - (to - from) / 2, ns + (to - from) / 2);
		if (row && row.top - REGION_HEIGHT < this.scroller.scrollTop) this.scroller.scrollTop = row.top - GROUP_HEIGHT;
		else if (row && row.top + THREAD_HEIGHT > this.scroller.scrollTop + room) this.scroller.scrollTop = row.top + THREAD_HEIGHT + 8 - room;
	}
	choose(lane, ns) {
		this.shown.cursor = {lane, ns: Math.max(lane.begin, Math.min(lane.end, ns))};
		this.reveal(this.shown.cursor);
		this.draw();
		this.shown.chosen();
	}
	rowAt(event) {
		const box = this.canvas.getBoundingClientRect(), y = event.clientY - box.top - LANES_AXIS + this.scroller.scrollTop;
		return this.rows.find(row => row.lane && y >= row.top - 1 && y < row.top + row.height + THREAD_GAP);
	}

	/* ---- pointer and keys ---- */

	listen() {
		this.scroller.addEventListener("scroll", () => this.draw());
		this.canvas.addEventListener("wheel", event => this.wheel(event), {passive: false});
		this.canvas.addEventListener("pointerdown", event => this.press(event));
		this.canvas.addEventListener("pointermove", event => this.hover(event));
		this.canvas.addEventListener("pointerleave", () => tip());
		this.canvas.addEventListener("keydown", event => this.key(event));
		this.fingers = new LaneFingers(this);
	}

	/* Without a key it scrolls where there is more to scroll; with Ctrl, and beside that, it zooms. */
	wheel(event) {
		const box = this.canvas.getBoundingClientRect(), ns = this.time(event.clientX - box.left);
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / 800);
		else if (event.clientX - box.left < this.left) this.scroller.scrollTop += event.deltaY;
		else this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), ns);
	}

	/* A drag chooses a range; a click describes a moment. */
	press(event) {
		const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, {from, to} = this.shown, anchor = this.time(x);
		if (event.button || event.pointerType === "touch" || x < this.left) return;
		let isMoved = false;
		this.canvas.setPointerCapture(event.pointerId);
		const move = moved => {
			if (moved.pointerId !== event.pointerId || !isMoved && Math.abs(moved.clientX - event.clientX) < 4) return;
			isMoved = true;
			tip();
			const by = (moved.clientX - event.clientX) / (this.width - this.left) * (to - from);
			state.range = rangeOfTimes(Math.min(anchor, anchor + by), Math.max(anchor, anchor + by));
			this.draw();
		};
		const release = () => {
			for (const name of ["pointermove", "pointerup", "pointercancel"]) this.canvas.removeEventListener(name, name === "pointermove" ? move : release);
			const row = this.rowAt(event);
			if (isMoved) change(() => {});
			else if (row) this.choose(row.lane, anchor);
		};
		this.canvas.addEventListener("pointermove", move);
		this.canvas.addEventListener("pointerup", release);
		this.canvas.addEventListener("pointercancel", release);
	}

	hover(event) {
		const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, row = this.rowAt(event);
		if (event.buttons || event.pointerType === "touch" || x < this.left || !row) return tip();
		const ns = this.time(x), moment = laneMoment(this.lanes, row.lane, ns);
		tip([el("div", {class: "sub num"}, `${row.lane.comm} ${row.lane.tid} at ${atTime(ns)}`), el("div", {}, moment ? momentText(this.lanes, moment) : ns < row.lane.begin ? "not begun" : "ended")], event.clientX, event.clientY);
	}

	key(event) {
		const {cursor, from, to} = this.shown, threads = this.rows.filter(row => row.lane), middle = cursor && cursor.ns >= from && cursor.ns <= to ? cursor.ns : (from + to) / 2;
		if (event.ctrlKey || event.metaKey || event.altKey || !threads.length) return;
		const current = cursor ? threads.findIndex(row => row.lane === cursor.lane) : -1, step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
		if (step) this.choose(threads[Math.max(0, Math.min(threads.length - 1, current + step))].lane, middle);
		else if (event.key === "ArrowLeft" || event.key === "ArrowRight") this.step(event.key === "ArrowRight" ? 1 : -1, event.shiftKey);
		else if (event.key === "+" || event.key === "=") this.zoom(.5, middle);
		else if (event.key === "-") this.zoom(2, middle);
		else if (event.key === "0") this.show(0, this.shown.whole);
		else if (event.key === "w") this.goToWaker();
		else if (event.key === "r") change(() => state.range = rangeOfTimes(from, to));
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	/* To the wait before or after; with Shift, the picture moves. */
	step(way, isPan) {
		const {cursor} = this.shown;
		if (isPan || !cursor) return this.pan(way / 4);
		const {begin} = this.lanes, {lane} = cursor, at = waitAt(this.lanes, lane, cursor.ns);
		/* From within a wait, the begin of it lies before; rounding keeps off its edges. */
		const next = way > 0 ? at + 1 : at >= 0 && cursor.ns > begin[lane.first + at] + 1 ? at : at - 1;
		this.choose(lane, next < 0 ? lane.begin : next >= lane.count ? lane.end : begin[lane.first + next] + .5);
	}
	goToWaker() {
		const {cursor} = this.shown, moment = cursor && laneMoment(this.lanes, cursor.lane, cursor.ns), lane = moment && moment.wait >= 0 ? this.lanes.wakerLane[moment.wait] : 0;
		if (lane) this.choose(this.lanes.threads[lane - 1], this.lanes.begin[moment.wait] + this.lanes.length[moment.wait]);
	}
}
