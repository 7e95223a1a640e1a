// SPDX-License-Identifier: BSD-2-Clause
// The present: asks for what is new once there is a new window, and renews the report in its frame.
"use strict";

const NOW_SECONDS = 10;
// Beyond so many windows all is asked for anew: the server merges neighbours, to 400 of a series and 120 of lanes.
const SERIES_MOST = 800, LANES_MOST = 240;
// A page that is open may cost the server so many ms of CPU time per second: 1 % of a CPU. Where a renewal costs more, the next one is later, within a minute.
const COST_PER_SECOND = 10, COST_SAVED = 20, COST_OWED = 600;
const live = { last: 0, length: 10, arrived: 0, shown: 0, isLoading: false, saved: COST_SAVED, savedAt: 0 };

// CPU time that an answer took, which the server says; one that another page has asked for already takes none.
function payFor(answer) {
	const timing = /\bcpu;dur=([\d.]+)/.exec(answer.headers?.get("Server-Timing") || "");
	if (timing) live.saved -= Number(timing[1]);
	return answer;
}
// ms until what was paid is made up for.
function owedMs(now) {
	live.saved = Math.min(COST_SAVED, Math.max(-COST_OWED, live.saved) + Math.max(0, now - (live.savedAt || now)) / 1000 * COST_PER_SECOND);
	live.savedAt = now;
	return Math.max(0, -live.saved / COST_PER_SECOND * 1000);
}
const ask = async (path) => payFor(await fetch(path));

// When to ask next: a second after the last question, or when the next window may be there, or when the server has rested.
const nextAsk = (now) => Math.max(1000, owedMs(now), Math.min(live.length - 1, 15) * 1000 - (now - live.arrived));

// Answers of new windows behind those that are there; of a name that was not there before nothing is known.
function appendSeries(old, got, from) {
	const last = old.windows.length ? old.windows[old.windows.length - 1][1] : 0, kept = old.windows.map((_, i) => i).filter((i) => old.windows[i][1] > from), fresh = got.windows.map((_, i) => i).filter((i) => got.windows[i][0] >= last - 0.001);
	const join = (name) => [...kept.map((i) => old[name][i]), ...fresh.map((i) => got[name][i])], byName = (series) => new Map(series.map((one) => [one.name, one.values])), before = byName(old.series), after = byName(got.series);
	const series = [...new Set([...before.keys(), ...after.keys()])].map((name) => ({ name, values: [...kept.map((i) => (before.get(name) || [])[i] || 0), ...fresh.map((i) => (after.get(name) || [])[i] || 0)] }));
	const sum = (values) => values.reduce((all, value) => all + value, 0);
	series.sort((a, b) => sum(b.values) - sum(a.values));
	return { ...got, windows: join("windows"), machine_busy_percent: join("machine_busy_percent"), left_out: join("left_out"), series };
}

// Times are the server's, whatever the browser's clock says: what is new since the last window, or the default of the API.
const newsQuery = (now) => live.last && now - live.arrived < 240000 ? `&from=${Math.floor(live.last)}` : "";
// The newest window; null: none.
async function newestWindow() {
	const answer = await ask(`api/v1/windows?level=slice${newsQuery(Date.now())}`);
	if (!answer.ok) throw new Error(await answer.text());
	const { windows } = await answer.json();
	return windows.length ? windows[windows.length - 1] : null;
}
async function isNews() {
	const window = await newestWindow();
	if (!window || window[1] <= live.last) return false;
	live.length = window[1] - window[0];
	live.last = window[1];
	live.arrived = Date.now();
	return true;
}

// ---- the report of the last seconds ----

const nowRange = () => [live.last - Math.max(NOW_SECONDS, live.length), live.last];
// The function of the page in the frame; null: it is not there (yet), or the frame shows an error of the browser, which no script may read.
function renewerIn(frame) {
	try {
		return frame.contentWindow && frame.contentWindow.renewProfile || null;
	} catch {
		return null;
	}
}
// Its data alone is put into the page that is there: what was chosen in it stays, and nothing flickers.
async function renewReport() {
	const frame = $("report"), [begin, end] = nowRange(), mine = live.shown = end;
	view.from = begin;
	view.to = end;
	drawBrush();
	showChosen();
	// A slow answer comes at last if it is not asked for again.
	if (live.isLoading) return;
	const renew = renewerIn(frame);
	if (!renew) return showReport();
	const answer = await ask(`api/v1/page?${interval(view.from, view.to, "")}`);
	if (!answer.ok) throw new Error(await answer.text());
	const text = await answer.text();
	if (mine === live.shown && view.now) await renew(text);
}

function showLive() {
	$("now").setAttribute("aria-pressed", String(Boolean(view.now)));
	$("now").textContent = view.now ? "pause" : "now";
	$("now").title = view.now ? "Stop here" : `The last ${NOW_SECONDS} seconds, renewed with each window`;
	$("earlier").disabled = !view.from;
	$("later").disabled = !view.from || view.now;
}
// In the report that is there; where there is none, or a comparison, it is loaded.
async function showNow() {
	if (!live.last || live.isLoading || !renewerIn($("report"))) return showReport();
	$("base").value = view.base;
	try {
		await renewReport();
	} catch {
		showReport();
	}
}
async function setNow(isNow) {
	view.now = isNow ? 1 : 0;
	// Nothing is asked for any more.
	if (!isNow) stopFollowing();
	else {
		view.base = view.comm = view.container = "";
		view.pid = 0;
		if (view.end) follow(true);
		await isNews();
		if (live.last) [view.from, view.to] = nowRange();
		await showNow();
	}
	showLive();
	writeAddress();
}
// An interval before or after the chosen one.
function stepBy(sign) {
	const length = view.to - view.from;
	view.now = 0;
	choose(view.from + sign * length, view.to + sign * length, true);
}
function listenToLive() {
	$("now").onclick = () => setNow(!view.now);
	$("earlier").onclick = () => stepBy(-1);
	$("later").onclick = () => stepBy(1);
	$("report").addEventListener("load", () => { live.isLoading = false; });
	showLive();
}
