# SPDX-License-Identifier: BSD-2-Clause
"""What a page with many single events costs in Chromium: lanes_figures.py PAGE.html EVENTS THREADS

Time on a CPU is that of the thread which runs the page, by the kernel's clock of that thread, so that whatever else runs is no
part of it. The clock on the wall may take longer than it should by as much as threads of Chromium had to wait for a CPU."""
import glob
import sys
import time

from browser import Browser
from checks import check

page, events, threads = "file://" + sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
FIRST_PICTURE_S, FRAME_S = 1, 1 / 60
FRAMES = 100

MOVE = """
const [from, to, span] = arguments, done = arguments[arguments.length - 1], {whole} = laneState, began = performance.now();
let frame = 0;
const step = () => {
	const at = from + (to - from) * frame / FRAMES;
	if (frame++ === FRAMES) return done(performance.now() - began);
	laneView.show(whole * at, whole * (at + span));
	requestAnimationFrame(step);
};
requestAnimationFrame(step);""".replace("FRAMES", str(FRAMES))
SCROLL = """
const done = arguments[arguments.length - 1], began = performance.now(), {scroller} = laneView, least = scroller.scrollHeight - scroller.clientHeight;
let frame = 0;
const step = () => {
	if (frame++ === FRAMES) return done(performance.now() - began);
	scroller.scrollTop = least * frame / FRAMES;
	requestAnimationFrame(step);
};
requestAnimationFrame(step);""".replace("FRAMES", str(FRAMES))


def descendants(pid):
    """Of a process, itself among them."""
    parents = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            stat = open(path).read()
        except OSError:
            continue
        parents.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(stat.split()[0]))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def stolen_s():
    return int(open("/proc/stat").readline().split()[8]) / 100


def queued_s(browser):
    """Time in the run queue of all threads of Chromium, and what the host took away."""
    sums = 0
    for pid in descendants(browser.driver.pid):
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            try:
                sums += int(open(path).read().split()[1])
            except OSError:
                pass
    return sums / 1e9 + stolen_s()


def busy_s(browser):
    return next(item["value"] for item in browser.command("Performance.getMetrics")["metrics"] if item["name"] == "TaskDuration")


def open_page(browser):
    browser.open("about:blank")
    busy, queued = busy_s(browser), queued_s(browser)
    browser.open(page)
    browser.until("return performance.getEntriesByName('ready').length")
    ready = browser.run("return performance.getEntriesByName('ready')[0].startTime") / 1000
    return ready, busy_s(browser) - busy, queued_s(browser) - queued


def check_first_picture(browser):
    seen = [open_page(browser) for _ in range(3)]
    wall, busy, queued = min(seen, key=lambda one: one[0] - one[2])
    check(browser.run("return profile.lanes.waits + profile.lanes.samples") >= events, f"the page has {events} events")
    check(min(one[1] for one in seen) <= FIRST_PICTURE_S, f"the first picture takes {busy:.2f} s on a CPU")
    check(wall <= FIRST_PICTURE_S + queued, f"and comes after {wall:.2f} s, {queued:.2f} s in the run queue among them")


def check_moves(browser):
    browser.run("document.querySelector('#threads').scrollIntoView({behavior: 'instant'})")
    check(browser.run("return laneView.rowOf.size") == threads, f"the picture has {threads} lanes")
    moves = {"moved, half of all": (MOVE, 0, 0.5, 0.5), "moved, a hundredth": (MOVE, 0.2, 0.4, 0.01), "zoomed out": (MOVE, 0, 0, 1), "scrolled, all in view": (SCROLL,)}
    for name, (script, *arguments) in moves.items():
        busy = busy_s(browser)
        wall = browser.ask("POST", "/execute/async", {"script": script, "args": arguments}) / 1000
        frame = (busy_s(browser) - busy) / FRAMES
        check(frame <= FRAME_S, f"{name}: {1000 * frame:.1f} ms on a CPU for a frame, {FRAMES / wall:.0f} frames/s on the wall")


with Browser() as browser:
    browser.command("Performance.enable", timeDomain="threadTicks")
    began = time.monotonic()
    check_first_picture(browser)
    check_moves(browser)
    check(browser.complaints() == [], "no complaint")
    print(f"took {time.monotonic() - began:.1f} s")
