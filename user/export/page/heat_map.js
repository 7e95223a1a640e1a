// SPDX-License-Identifier: BSD-2-Clause
/* Single CPU samples as a heat map: a column per second, a row per 10 ms, so that what comes back with a period shows as a pattern. */
const HEAT_ROWS = 100, HEAT_HEIGHT = 2 * HEAT_ROWS, HEAT_COLUMN_LEAST = 2;
const hasSamples = () => hasTimes() && profile.samples;

/* Counts of the chosen rows, and how many seconds are in a column: more than one when they have no room. */
function heatCells(scale) {
	const {cell, row, weight, cellNs} = profile.samples, perSecond = Math.round(1e9 / cellNs);
	const seconds = Math.ceil(profile.slices[profile.slices.length - 1][1] / 1e9), room = Math.floor((scale.right - scale.left) / HEAT_COLUMN_LEAST);
	const perColumn = Math.max(1, Math.ceil(seconds / Math.max(1, room))), columns = Math.ceil(seconds / perColumn), sums = new Uint32Array(columns * HEAT_ROWS);
	let most = 0, all = 0;
	for (let i = 0; i < cell.length; i++) {
		if (!isPickedRow(row[i])) continue;
		const at = Math.min(columns - 1, Math.floor(cell[i] / perSecond / perColumn)) * HEAT_ROWS + Math.floor(cell[i] % perSecond * HEAT_ROWS / perSecond);
		all += weight[i];
		most = Math.max(most, sums[at] += weight[i]);
	}
	return {sums, columns, perColumn, most, all};
}

/* Of one hue: from the panel to on-CPU. */
function drawHeat(canvas, cells, scale) {
	const ratio = devicePixelRatio || 1, width = scale.right - scale.left, context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(HEAT_HEIGHT * ratio);
	Object.assign(canvas.style, {left: scale.left + "px", width: width + "px", height: HEAT_HEIGHT + "px"});
	context.fillStyle = style.getPropertyValue("--sunk");
	context.fillRect(0, 0, canvas.width, canvas.height);
	context.fillStyle = style.getPropertyValue("--s-on");
	const height = canvas.height / HEAT_ROWS;
	for (let column = 0; column < cells.columns; column++) {
		const from = Math.round((scale.x(column * cells.perColumn * 1e9) - scale.left) * ratio), to = Math.round((scale.x((column + 1) * cells.perColumn * 1e9) - scale.left) * ratio);
		for (let i = 0; i < HEAT_ROWS; i++) {
			const value = cells.sums[column * HEAT_ROWS + i];
			if (!value) continue;
			context.globalAlpha = .2 + .8 * value / cells.most;
			/* The begin of a second is below, as on other axes. */
			context.fillRect(from, Math.round((HEAT_ROWS - 1 - i) * height), to - from - (to - from > 4 ? 1 : 0), Math.ceil(height));
		}
	}
	context.globalAlpha = 1;
}

function heatTip(event, cells, brush) {
	const {left, right, width} = brush.scale, box = brush.svg.getBoundingClientRect(), place = (event.clientX - box.left) * width / box.width, y = event.clientY - box.top;
	if (event.buttons || event.pointerType === "touch" || place < left || place > right || y < 0 || y >= HEAT_HEIGHT) return tip();
	const column = Math.min(cells.columns - 1, Math.floor(brush.scale.time(place) / 1e9 / cells.perColumn)), row = HEAT_ROWS - 1 - Math.floor(y * HEAT_ROWS / HEAT_HEIGHT);
	const second = column * cells.perColumn, part = (row * 10).toString().padStart(3, "0");
	tip([el("div", {class: "sub num"}, cells.perColumn > 1 ? `${part}${NARROW}ms into the seconds ${second} \u2013 ${second + cells.perColumn - 1}` : `${second}.${part}${NARROW}s, 10${NARROW}ms`),
	     el("dl", {}, el("dt", {}, "On-CPU"), el("dd", {}, weight("cpu", cells.sums[column * HEAT_ROWS + row])), el("dt", {class: "muted"}, plural(cells.sums[column * HEAT_ROWS + row], "samples")))], event.clientX, event.clientY);
}

/* Into the box of the lanes; the brush lies on top. */
function showHeat(box, scale) {
	const cells = heatCells(scale), canvas = el("canvas", {role: "img", "aria-label": `Heat map of ${plural(cells.all, "CPU samples")}: a column for ${cells.perColumn > 1 ? cells.perColumn + " seconds" : "each second"}, a row for each 10 ms of it`});
	const svg = el("svg", {class: "time", viewBox: `0 0 ${scale.width} ${HEAT_HEIGHT + AXIS_HEIGHT}`, height: HEAT_HEIGHT + AXIS_HEIGHT, role: "group", "aria-label": "Time line"});
	const labels = scale.left < 120 ? ["CPU samples", "10 ms \u00d7 1 s"] : ["CPU samples", "row: 10 ms", "column: " + (cells.perColumn > 1 ? cells.perColumn + " s" : "1 s"), `most ${plural(cells.most, "samples")}`];
	labels.forEach((text, i) => svg.append(el("text", i ? {x: 0, y: 13 + 14 * i} : {class: "lab", x: 0, y: 13}, text)));
	for (const [at, y] of [[0, HEAT_HEIGHT - 2], [500, HEAT_HEIGHT / 2 + 4], [1000, 10]]) svg.append(el("text", {x: scale.left - 8, y, "text-anchor": "end"}, scale.left < 120 ? "" : at ? `${at}${NARROW}ms` : "0"));
	drawAxis(svg, scale, HEAT_HEIGHT);
	const brush = new Brush(svg, scale, HEAT_HEIGHT);
	svg.addEventListener("pointermove", event => heatTip(event, cells, brush));
	svg.addEventListener("pointerleave", () => tip());
	box.append(el("div", {class: "heat", style: `width:${scale.width}px`}, canvas, svg));
	drawHeat(canvas, cells, scale);
}
