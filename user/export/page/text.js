// SPDX-License-Identifier: BSD-2-Clause
/* Elements, numbers, names. */
const $ = (selector, inside = document) => inside.querySelector(selector);
const $$ = (selector, inside = document) => [...inside.querySelectorAll(selector)];

const SVG_TAGS = new Set(["svg", "g", "rect", "path", "line", "text", "title"]);

/* All text of the profile enters the page through here, as text and never as markup. */
function el(tag, attributes, ...children) {
	const isSvg = SVG_TAGS.has(tag);
	const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === undefined || value === null || value === false) continue;
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else if (isSvg || name === "style" || !(name in element)) element.setAttribute(name, value);
		else element[name] = value;
	}
	element.append(...children.flat(9).filter(child => child !== undefined && child !== null && child !== false));
	return element;
}

/* Three significant digits, the unit behind a narrow space. */
const NARROW = "\u202f";
const digits = value => {
	const size = Math.abs(value);
	return size >= 99.95 ? value.toFixed(0) : size >= 9.995 ? value.toFixed(1) : value.toFixed(2);
};
const count = number => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ",");
function time(ns) {
	if (!ns) return "0" + NARROW + "ns";
	if (ns < 0) return "-" + time(-ns);
	if (ns < 999.5) return Math.round(ns) + NARROW + "ns";
	if (ns < 999500) return digits(ns / 1e3) + NARROW + "\u00b5s";
	if (ns < 999500000) return digits(ns / 1e6) + NARROW + "ms";
	if (ns < 59.95e9) return digits(ns / 1e9) + NARROW + "s";
	const seconds = Math.round(ns / 1e9);
	if (seconds < 6000) return Math.floor(seconds / 60) + NARROW + "min" + NARROW + String(seconds % 60).padStart(2, "0") + NARROW + "s";
	return Math.floor(seconds / 3600) + NARROW + "h" + NARROW + String(Math.floor(seconds / 60) % 60).padStart(2, "0") + NARROW + "min";
}
function bytes(size) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
	let unit = 0;
	while (Math.abs(size) >= 1023.5 && unit < units.length - 1) {
		size /= 1024;
		unit++;
	}
	return (unit ? digits(size) : count(size)) + NARROW + units[unit];
}
function percent(share) {
	if (!isFinite(share)) return "\u2013";
	/* Sums of parts are all of it but for rounding. */
	return (share >= 1 - 1e-9 ? (100 * share).toFixed(0) : share >= .9995 ? ">99.9" : share >= .0005 ? (100 * share).toFixed(1) : share > 0 ? "<0.1" : "0") + NARROW + "%";
}
/* Zero is a dot; what was not measured is a dash. */
function cell(value, format) {
	if (value === undefined || value === null || Number.isNaN(value)) return el("span", {class: "z"}, "\u2013");
	return value ? format(value) : el("span", {class: "z"}, "\u00b7");
}
const plural = (number, many) => count(number) + " " + (number === 1 ? many.replace(/sses$/, "ss").replace(/([^s])s$/, "$1") : many);

/* ---- names in the room there is: whole, else without parameters, else their telling end ---- */
const glyphWidths = {};
function measureFont(context, font) {
	context.font = font;
	glyphWidths[font] = Float32Array.from({length: 128}, (_, code) => code < 32 ? 0 : context.measureText(String.fromCharCode(code)).width);
}
function textWidth(text, font) {
	const widths = glyphWidths[font];
	let sum = 0;
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		sum += widths[code < 128 ? code : 109];
	}
	return sum;
}
/* What compilers append to the names of copies of a function, and ends of names of files: their begins say more. */
const CLONE = /^(\d|part|isra|constprop|cold|lto_priv|llvm|(so|py|cpython)\b)/;
const shortNames = new Map();
/* Without arguments and template parameters, or the file behind a name of Python; the same rule as in frame_label.c. */
function shortName(name) {
	const known = shortNames.get(name);
	if (known !== undefined) return known;
	const file = /^(\S+) \([^()]*\)$/.exec(name);
	if (file) {
		shortNames.set(name, file[1]);
		return file[1];
	}
	let short = "", depth = 0;
	for (let i = 0; i < name.length; i++) {
		const sign = name[i];
		if (depth) {
			depth += sign === "<" || sign === "(" ? 1 : (sign === ">" && name[i - 1] !== "-") || sign === ")" ? -1 : 0;
		} else if ((sign === "<" || sign === "(") && /([\w>\u0080-\uffff]|\boperator\W+)$/.test(name.slice(Math.max(0, i - 16), i)) &&
			   !/\boperator$/.test(name.slice(Math.max(0, i - 16), i))) {
			depth = 1;
		} else {
			short += sign;
		}
	}
	if (depth) short = name;
	shortNames.set(name, short);
	return short;
}
function fitName(name, room, font) {
	if (textWidth(name, font) <= room) return name;
	const short = shortName(name), dots = textWidth("\u2026", font);
	if (textWidth(short, font) <= room) return short;
	for (let i = 1; i < short.length; i++) {
		const rest = short.startsWith("::", i) ? short.slice(i + 2) : short[i] === "." || short[i] === "/" ? short.slice(i + 1) : "";
		if (rest && !CLONE.test(rest) && dots + textWidth(rest, font) <= room) return "\u2026" + rest;
	}
	let sum = dots, length = 0;
	while (length < short.length && (sum += glyphWidths[font][Math.min(short.charCodeAt(length), 127)] || 7) <= room) length++;
	return length >= 2 ? short.slice(0, length) + "\u2026" : "";
}
