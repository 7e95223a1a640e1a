// SPDX-License-Identifier: BSD-2-Clause
/* The table of network peers, and the times to answer of those with most time. Sums are those of the
 * report: of the whole interval. */
const PEERS_SHOWN = 12, PEER_HISTOGRAMS = 6;

const PEER_COLUMNS = [
	["sent", "Sent", "", peer => peer.sent_bytes, bytes],
	["received", "Received", "", peer => peer.received_bytes, bytes],
	["messages", "Messages", "c3", peer => peer.sent_messages + peer.received_messages, count],
	["waited", "Waited", "", peer => peer.waits.total_ns, time],
	["p50", "Response p50", "c2", peer => peer.responses.p50_ns, time],
	["p99", "p99", "", peer => peer.responses.p99_ns, time],
	["max", "max", "c3", peer => peer.responses.max_ns, time],
	["connections", "Connections", "c2", peer => peer.connects.count + peer.accepted, count],
	["failed", "Failed", "c1", peer => peer.failures.reduce((sum, failure) => sum + failure.count, 0), count],
	["retransmits", "Retransmits", "c4", peer => peer.retransmits, count],
	["rtt", "Round trip", "c4", peer => peer.round_trip_mean_ns, time],
];

/* Peers, requests and memory are known by process: rows of containers and regions choose none of them. */
const pickedRows = () => state.pick ? [...state.pick.rows].map(row => profile.report.rows[row]) : [];
const isPickKnown = () => pickedRows().every(row => row.pid || row.comm);
const isOfPick = item => !state.pick || !isPickKnown() || pickedRows().some(row => row.pid ? row.pid === item.pid : row.comm === item.comm);
const pickNote = () => isPickKnown() ? null : el("p", {class: "sub pb"}, "Of all processes: not known for the chosen rows.");
const ofPick = () => state.pick && isPickKnown() ? ` of ${state.pick.text}` : "";

function comparePeers(a, b) {
	const [key, direction] = state.peerSort;
	if (key === "peer") return direction * a.peer.localeCompare(b.peer);
	const value = PEER_COLUMNS.find(([name]) => name === key)[3];
	return direction * ((value(a) || 0) - (value(b) || 0));
}

function peerHead(key, title, classes) {
	const [sorted, direction] = state.peerSort, first = key === "peer" ? 1 : -1;
	return el("th", {class: classes, scope: "col", "aria-sort": sorted === key ? (direction < 0 ? "descending" : "ascending") : null},
		  el("button", {type: "button", "data-key": "peer " + key, onclick() { change(() => state.peerSort = [key, sorted === key ? -direction : first]); }}, title));
}

function peerRow(peer, columns) {
	const failures = peer.failures.map(failure => `${count(failure.count)} ${failure.error}`).join(", ");
	return el("tr", {}, el("td", {class: "l"}, el("span", {class: "nm"}, peer.comm), el("span", {class: "pid"}, peer.pid || "")),
		  el("td", {class: "l", title: peer.peer}, peer.peer),
		  columns.map(([key, , classes, value, format]) => el("td", {class: classes, title: key === "failed" && failures ? failures : null}, cell(value(peer) || undefined, format))));
}

function responseFigures(peers) {
	const timed = peers.filter(peer => peer.responses.count).sort((a, b) => b.responses.total_ns - a.responses.total_ns).slice(0, PEER_HISTOGRAMS);
	const all = timed.flatMap(peer => peer.responses.histogram.map(bucket => bin(bucket.from_ns))), axis = [Math.min(bin(1e4), ...all), Math.max(bin(1e8), ...all) + 2];
	return timed.map(peer => histogramFigure(`${peer.comm} \u2192 ${peer.peer}`, peer.responses.count, peer.responses, axis, "answers"));
}

/* Without those in which no peer has anything, as connections of datagrams. */
const usedPeerColumns = peers => PEER_COLUMNS.filter(([key, , , value]) => key === state.peerSort[0] || peers.some(value));

function showPeers() {
	const peers = (profile.report.peers || []).filter(isOfPick);
	if (!profile.report.peers) return;
	if (!peers.length) {
		fill("network", head("network", "Network"), el("p", {class: "empty"}, `No message${ofPick()} was sent or received.`));
		return;
	}
	const sorted = [...peers].sort(comparePeers), shown = state.allPeers ? sorted : sorted.slice(0, PEERS_SHOWN), figures = responseFigures(peers), columns = usedPeerColumns(profile.report.peers);
	fill("network", head("network", "Network, by process and peer"), pickNote(),
	     el("div", {class: "scroll"}, el("table", {}, el("caption", {class: "vh"}, "Messages, waits and answers by process and peer"),
		el("thead", {}, el("tr", {}, el("th", {class: "l", scope: "col"}, "Process"), peerHead("peer", "Peer", "l"), columns.map(([key, title, classes]) => peerHead(key, title, classes)))),
		el("tbody", {}, shown.map(peer => peerRow(peer, columns))))),
	     sorted.length > PEERS_SHOWN ? el("div", {class: "pb", style: "padding-top:8px"}, el("button", {class: "link", type: "button", onclick() { change(() => state.allPeers = !state.allPeers); }}, state.allPeers ? `Show the first ${PEERS_SHOWN}` : `Show ${count(sorted.length - PEERS_SHOWN)} more`)) : null,
	     figures.length ? [el("div", {class: "ph", style: "border-top:1px solid var(--line)"}, el("h3", {}, "Time from the last message to the answer")), el("div", {class: "hs"}, figures)] : null);
}
