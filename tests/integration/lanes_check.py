# SPDX-License-Identifier: BSD-2-Clause
"""Lanes of threads in the page, against the accounts of the threads and what the program said that it did.

usage: lanes_check.py PAGE.html REPORT.json [SAID]: rows of both are threads; the page has all waits when SAID is given"""
import sys

from browser import Browser
from checks import check, read_report

page, report_path = sys.argv[1:3]
said = [line.split() for line in open(sys.argv[3])] if len(sys.argv) > 3 else None
report = read_report(report_path)
rows = {(row.get("pid"), row.get("tid")): row for row in report["rows"] if "offcpu" in row}
start_ns = report["time"]["start_unix_ns"]

SUMS = """
const {lanes} = profile;
return lanes.threads.map(lane => {
	const states = [0, 0, 0, 0, 0, 0];
	states[0] = lane.lastRan;
	for (let i = lane.first; i < lane.first + lane.count; i++) {
		states[0] += lanes.ran[i];
		states[lanes.state[i]] += lanes.length[i];
		states[1] += lanes.queue[i];
	}
	return {pid: lane.pid, tid: lane.tid, comm: lane.comm, length: lane.end - lane.begin, isComplete: lane.isComplete, states, drawn: [...sumBetween(lanes, lane, lane.begin, lane.end)]};
})"""
STATES = ("oncpu_ns", None, "sleep_ns", "disk_ns", "uninterruptible_ns", "stopped_ns")


def figures(row):
    """On-CPU and the states of its waits; the run queue is what these leave of all waits."""
    waits = row["offcpu"]
    known = [waits.get(name, 0) if name else 0 for name in STATES]
    known[1] = waits["total_ns"] - sum(known[2:])
    return known


def check_sums(browser):
    lanes = browser.run(SUMS)
    check(len(lanes) > 0 and all(lane["isComplete"] for lane in lanes), f"each of {len(lanes)} lanes has its account")
    apart = [lane for lane in lanes if abs(sum(lane["drawn"]) - lane["length"]) > 1 or abs(lane["drawn"][0] - lane["states"][0]) > 1]
    check(apart == [], f"what is drawn of a lane is its length, and its time on a CPU: {apart[:2]}")
    by_row = {}
    for lane in lanes:
        sums = by_row.setdefault((lane["pid"], lane["tid"]), [0] * 6)
        for i, ns in enumerate(lane["states"]):
            sums[i] += ns
    compared = [(sums, figures(rows[key]), key) for key, sums in by_row.items() if key in rows]
    check(len(compared) > 0, f"{len(compared)} rows have lanes")
    if said is None:
        wrong = [each for each in compared if abs(each[0][0] - each[1][0]) > 1 or any(lane > true + 1 for lane, true in zip(each[0], each[1]))]
        check(wrong == [], f"lanes with longer waits alone have the CPU time of the account, and no state has more than there: {wrong[:2]}")
    else:
        wrong = [each for each in compared if any(abs(lane - true) > 1 for lane, true in zip(each[0], each[1]))]
        check(wrong == [], f"all states of a thread's lanes are those of its account, to the nanosecond: {wrong[:2]}")


MOMENT = """
const [tid, ns] = arguments, {lanes} = profile, lane = lanes.threads.find(lane => lane.tid === tid && lane.begin <= ns && ns <= lane.end), moment = lane && laneMoment(lanes, lane, ns);
return moment && {kind: LANE_KINDS[moment.kind][0], wake: moment.wait < 0 ? 0 : lanes.wake[moment.wait], waker: moment.wait < 0 ? 0 : lanes.waker[moment.wait], lane: lane.index}"""
SUM = """
const [tid, from, to] = arguments, {lanes} = profile, lane = lanes.threads.find(lane => lane.tid === tid && lane.begin <= from && to <= lane.end);
return lane && sumBetween(lanes, lane, from, to)[0]"""
# The color of a lane's pixels at a time, by kind: the most frequent.
PAINTED = """
const [index, ns] = arguments, lane = profile.lanes.threads[index], context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
laneView.choose(lane, ns);
laneView.show(ns - 2e6, ns + 2e6);
laneState.cursor = null;
laneView.paint();
Object.assign(context.canvas, {width: laneView.canvas.width, height: laneView.canvas.height});
context.drawImage(laneView.canvas, 0, 0);
const row = laneView.rowOf.get(index), ratio = laneView.ratio, y = row.top - laneView.scroller.scrollTop + LANES_AXIS;
const data = new Uint32Array(context.getImageData(Math.round(laneView.place(ns) * ratio), Math.round((y + 2) * ratio), 1, Math.round((THREAD_HEIGHT - 4) * ratio)).data.buffer);
const seen = new Map();
for (const pixel of data) seen.set(pixel, (seen.get(pixel) || 0) + 1);
const most = [...seen].sort((a, b) => b[1] - a[1])[0][0], kind = laneView.colors.indexOf(most);
return kind < 0 ? "none" : LANE_KINDS[kind][0]"""


def check_said(browser):
    """What the program did at a time is what its lane has there, in the numbers and in the picture."""
    for line in said:
        if line[0] == "cpu":
            tid, begin, end, cpu = map(int, line[1:])
            sum_ns = browser.run(SUM, tid, begin - start_ns, end - start_ns)
            check(sum_ns is not None and abs(sum_ns - cpu) <= 2e6 + cpu / 20, f"thread {tid} was on a CPU for {cpu} ns, its lane for {sum_ns}")
        elif line[0] == "woken":
            tid, ns, waker = map(int, line[1:])
            moment = browser.run(MOMENT, tid, ns - start_ns)
            check(moment and moment["wake"] == 1 and moment["waker"] == waker, f"thread {tid} was woken by {waker}: {moment}")
        else:
            tid, ns, kind = int(line[0]), int(line[1]), " ".join(line[2:])
            moment = browser.run(MOMENT, tid, ns - start_ns)
            check(moment and (moment["kind"] == kind or kind == "another thread" and moment["kind"] == "lock"), f"thread {tid} was in {kind}, its lane says {moment}")
            check(kind != "sleep" or moment and moment["wake"] != 1, f"a timer is no thread: {moment}")
            painted = browser.run(PAINTED, moment["lane"], ns - start_ns)
            check(painted == moment["kind"], f"and has the color of {painted}")


def check_wakers(browser):
    """Whoever wakes another is on a CPU then; the kernel's clock of the run queue is not that of the switches."""
    seen = browser.run("""
const {lanes} = profile, near = 100000;
let running = 0, all = 0;
for (let i = 0; i < lanes.waits; i++) {
	if (lanes.wake[i] !== 1 || !lanes.wakerLane[i]) continue;
	const lane = lanes.threads[lanes.wakerLane[i] - 1], ns = lanes.begin[i] + lanes.length[i];
	all++;
	running += sumBetween(lanes, lane, ns - near, ns + near)[0] > 0;
}
return [running, all]""")
    check(seen[1] > 0 and seen[0] >= 0.98 * seen[1], f"of {seen[1]} wakers {seen[0]} were on a CPU")


def check_keys(browser):
    """Without a pointer: to a thread, to its waits, into it and out, to its waker; and what is described is said as text."""
    browser.run("change(() => { laneView.show(0, laneState.whole); laneState.cursor = null; laneState.chosen(); }); laneView.canvas.focus()")
    browser.keys("ArrowDown")
    first = browser.run("return laneState.cursor && laneState.cursor.lane.index")
    check(first == browser.run("return laneView.rows.find(row => row.lane).lane.index"), "an arrow goes to the first thread")
    check(browser.run("return $('#lane-text h3').textContent").startswith(browser.run("return laneState.cursor.lane.comm")), "its name stands below")
    before = browser.run("return laneState.cursor.ns")
    browser.keys("ArrowRight")
    check(browser.run("return laneState.cursor.ns") > before, "another goes on to the next wait")
    browser.keys("+", "+")
    check(browser.run("return laneState.to - laneState.from") <= browser.run("return laneState.whole") / 3.9, "plus zooms")
    browser.keys("0")
    check(browser.run("return laneState.to - laneState.from === laneState.whole"), "0 shows all")
    chosen = browser.run("""
const {lanes} = profile, wait = lanes.wakerLane.findIndex((lane, i) => lane && lanes.wake[i] === 1 && laneView.rowOf.has(lane - 1)), lane = lanes.threads.find(lane => wait >= lane.first && wait < lane.first + lane.count);
laneView.choose(lane, lanes.begin[wait] + lanes.length[wait] / 2);
return lanes.wakerLane[wait] - 1""")
    check("Woken by" in browser.text("#lane-text"), "a wait says what ended it")
    browser.keys("w")
    check(browser.run("return laneState.cursor.lane.index") == chosen, "w goes to the waker")


def check_pointer(browser):
    browser.run("laneView.show(0, laneState.whole); laneView.scroller.scrollTop = 0; $('#threads').scrollIntoView({behavior: 'instant'}); laneView.paint()")
    left, top, width, index = browser.run("const box = laneView.canvas.getBoundingClientRect(), row = laneView.rows.find(row => row.lane); return [box.left + laneView.left, box.top + LANES_AXIS + row.top + 5, laneView.width - laneView.left, row.lane.index]")
    browser.drag(left + width / 4, top, left + width / 4 + 1, top)
    check(browser.run("return laneState.cursor.lane.index") == index, "a click chooses a thread")
    browser.run("laneView.canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -300, clientX: arguments[0], clientY: arguments[1], bubbles: true, cancelable: true}))", left + width / 2, top)
    check(browser.run("return laneState.to - laneState.from") < browser.run("return laneState.whole") / 2, "the wheel zooms")
    browser.run("laneView.show(0, laneState.whole)")
    slices = browser.run("return profile.slices.length")
    if slices > 1:
        browser.drag(left + 4, top, left + width / 3, top)
        chosen = browser.run("return state.range")
        check(chosen and chosen[0] == 0 and chosen[1] < slices, f"a drag chooses the slices {chosen} of {slices}")
        check(browser.run("return sumOf('cpu')") <= browser.run("return profile.kinds.cpu.value.reduce((sum, value) => sum + value, 0)"), "the rest of the page follows")
        browser.run("change(() => state.range = null)")


def check_table(browser):
    browser.run("$$('#threads .tools button').find(button => button.textContent === 'Table').click()")
    shown = browser.run("return $$('#threads table')[0].querySelectorAll('tbody tr').length")
    check(shown == min(200, browser.run("return profile.lanes.threads.length")), f"a table has a line for each of {shown} threads")
    check(browser.run("return $$('#threads table').length") == 2, "and the waits of the chosen one")
    markup = browser.run("return $$('#threads b, #lane-text b').length")
    check(markup == 0, "no name is markup")
    browser.run("$$('#threads .tools button').find(button => button.textContent === 'Table').click()")


def check_sizes(browser):
    for width in (400, 800, 1280, 2000):
        browser.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {"width": width, "height": 900, "deviceScaleFactor": 2, "mobile": width == 400}})
        browser.until("return laneView.width <= document.documentElement.clientWidth")
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check(wide <= 0, f"at {width} pixels the page is {wide} too wide")
        room = browser.run("return (laneView.width - laneView.left) / laneView.width")
        check(room >= 0.6, f"{room:.0%} of it are lanes")
    browser.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})


def check_touch(browser):
    """On a phone: a finger moves the picture, two zoom it about what they hold, a tap describes; the page does not scroll meanwhile."""
    browser.command("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=2, mobile=True)
    browser.command("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
    browser.until("return laneView.width <= document.documentElement.clientWidth")
    browser.run("showLanes(); laneState.cursor = null; laneView.show(0, laneState.whole); laneView.scroller.scrollTop = 0; $('#threads .lanes').scrollIntoView({behavior: 'instant', block: 'center'}); laneView.paint()")
    left, top, width, index = browser.run("const box = laneView.canvas.getBoundingClientRect(), row = laneView.rows.find(row => row.lane); return [box.left + laneView.left, box.top + LANES_AXIS + row.top + 8, laneView.width - laneView.left, row.lane.index]")
    x = lambda part: left + part * width
    shown = "return [laneState.from / laneState.whole, laneState.to / laneState.whole, scrollY]"
    before = browser.run(shown)
    browser.touch([(x(0.4), top), (x(0.6), top)], [(x(0.3), top + 20), (x(0.7), top - 4)], [(x(0.2), top + 40), (x(0.8), top - 6)])
    zoomed = browser.run(shown)
    check(abs(zoomed[1] - zoomed[0] - 1 / 3) < 0.02 and abs((zoomed[0] + zoomed[1]) / 2 - 0.5) < 0.02, f"two fingers that go from 20 % to 60 % apart show a third: {zoomed}")
    browser.touch([(x(0.5), top)], [(x(0.4), top)], [(x(0.2), top)])
    moved = browser.run(shown)
    check(abs(moved[0] - zoomed[0] - 0.1) < 0.02 and abs(moved[1] - moved[0] - (zoomed[1] - zoomed[0])) < 1e-6, f"a finger moves it by as much: {moved}")
    check(before[2] == zoomed[2] == moved[2], "the page stays where it is")
    browser.touch([(x(0.1), top), (x(0.9), top)], [(x(0.4), top), (x(0.6), top)], [(x(0.49), top), (x(0.51), top)], [(x(0.6), top), (x(0.4), top)])
    check(browser.run(shown)[:2] == [0, 1], f"together, they show all of it: {browser.run(shown)}")
    check(browser.run("return laneState.cursor") is None, "none of this is a tap")
    browser.touch([(x(0.5), top)])
    check(browser.run("return laneState.cursor && laneState.cursor.lane.index") == index, "a tap chooses a thread")
    check("Two fingers" in browser.text("#threads"), "the page says so")
    browser.command("Emulation.setTouchEmulationEnabled", enabled=False)
    browser.command("Emulation.clearDeviceMetricsOverride")


with Browser() as browser:
    browser.open("file://" + page)
    browser.until("return !document.getElementById('page').hidden")
    check_sums(browser)
    if said:
        check_said(browser)
    check_wakers(browser)
    check_keys(browser)
    check_pointer(browser)
    check_table(browser)
    check_sizes(browser)
    check_touch(browser)
    complaints = browser.complaints()
    check(complaints == [], f"no complaint: {complaints}")
