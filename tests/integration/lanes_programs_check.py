# SPDX-License-Identifier: BSD-2-Clause
"""What a program's threads did at many moments: by the picture of lanes, and by the single events as text.

usage: lanes_programs_check.py PAGE.html EVENTS.txt PICTURES: both of one run, with all waits; pictures go to PICTURES-<width>.png"""
import bisect
import collections
import random
import re
import sys

from browser import Browser
from checks import check

page, events_path, pictures = sys.argv[1:]
HEAD = re.compile(r"(.*) (\d+)/(\d+) (\d+)\.(\d{9}): (\d+) (\S+):")
# Words of the picture for the states of events.
STATES = {"runqueue": 1, "sleep": 2, "disk": 3, "uninterruptible": 4, "stopped": 5}
THREADS, MOMENTS, PAINTED = 16, 12, 10
random.seed(67)

Wait = collections.namedtuple("Wait", "begin end state frames")
Sample = collections.namedtuple("Sample", "begin frames")


def read_events():
    """(pid, tid) -> waits, samples; each in order of time."""
    threads = collections.defaultdict(lambda: ([], []))
    with open(events_path, encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            lines = [line for line in block.split("\n") if line and not line.startswith("#")]
            if not lines:
                continue
            head = HEAD.fullmatch(lines[0])
            frames = [re.fullmatch(r"\s*0 (.*) \((.*?)\)", line)[1] for line in lines[1:]]
            begin, number, kind = int(head[4] + head[5]), int(head[6]), head[7]
            waits, samples = threads[int(head[2]), int(head[3])]
            if kind.startswith("offcpu-"):
                waits.append(Wait(begin, begin + number, STATES[kind[7:]], frames))
            elif kind == "cpu":
                samples.append(Sample(begin, frames))
    return threads


def wait_at(waits, ns):
    at = bisect.bisect_right([wait.begin for wait in waits], ns) - 1
    # One of no length lies at its own begin.
    return waits[at] if at >= 0 and ns < waits[at].end else None


# What the page answers at a time of a thread; laneStack() has the stack that it shows.
MOMENTS_OF = """
const [pid, tid, times] = arguments, {lanes} = profile, mine = lanes.threads.filter(lane => lane.pid === pid && lane.tid === tid);
const stackOf = stack => laneStack(lanes, stack).map(name => profile.names[name]);
return times.map(ns => {
	const lane = mine.find(lane => lane.begin <= ns && ns <= lane.end), moment = lane && laneMoment(lanes, lane, ns);
	if (!moment) return null;
	const {wait, sample} = moment;
	return {lane: lane.index, kind: moment.kind, word: LANE_KINDS[moment.kind][0], begin: moment.begin, end: moment.end, text: momentText(lanes, moment), state: wait < 0 ? 0 : lanes.state[wait], queue: wait < 0 ? 0 : lanes.queue[wait],
		frames: stackOf(wait >= 0 ? lanes.stack[wait] : sample >= 0 ? lanes.sampleStack[sample] : -1), sample: sample >= 0 ? lanes.sampleBegin[sample] : -1};
})""".replace("laneStack(lanes, stack)", "(stack < 0 ? [] : laneStack(lanes, stack))")
LANES = "return profile.lanes.threads.map(({index, pid, tid, comm, begin, end, count, sampleCount}) => ({index, pid, tid, comm, begin, end, count, sampleCount}))"


def moments_of(lane, waits):
    """Amid waits, at their edges, between them, and anywhere."""
    inside = [wait for wait in waits if lane["begin"] <= wait.begin and wait.end <= lane["end"] and wait.end > wait.begin]
    times = [random.randint(int(lane["begin"]) + 1, max(int(lane["begin"]) + 1, int(lane["end"]) - 1)) for _ in range(MOMENTS // 3)]
    for wait in random.sample(inside, min(MOMENTS // 3, len(inside))):
        times += [(wait.begin + wait.end) // 2, wait.begin, max(wait.begin, wait.end - 1)]
    # A moment after a wait the thread is on a CPU, or in its next one.
    times += [wait.end + 1 for wait in random.sample(inside, min(MOMENTS // 3, len(inside))) if wait.end + 1 < lane["end"]]
    return times


def is_equal(answer, ns, waits, samples):
    """'' or what differs."""
    wait = wait_at(waits, ns)
    if wait:
        if not answer["state"]:
            return f"in {wait}, by the picture {answer}"
        if (answer["begin"], answer["end"], answer["state"]) != (wait.begin, wait.end, wait.state):
            return f"{wait} and {answer}"
        # The part at the end is that of the run queue.
        if answer["state"] != 1 and (answer["kind"] == 2) != (ns >= wait.end - answer["queue"]):
            return f"the run queue begins {answer['queue']} ns before the end: {answer}"
        return "" if answer["frames"] == wait.frames else f"stacks {wait.frames} and {answer['frames']}"
    if answer["state"]:
        return f"in no wait, by the picture {answer}"
    begins = [sample.begin for sample in samples if answer["begin"] <= sample.begin <= answer["end"]]
    if not begins:
        return "" if answer["sample"] < 0 else f"no sample, but {answer}"
    nearest = min(abs(begin - ns) for begin in begins)
    if answer["sample"] < 0 or abs(answer["sample"] - ns) != nearest:
        return f"samples at {begins[:3]}, but {answer}"
    return "" if any(sample.begin == answer["sample"] and sample.frames == answer["frames"] for sample in samples) else f"the stack of the sample is {answer['frames']}"


# The most frequent color of a lane's pixels at a time that stands long enough to have one of its own.
PAINTED_AT = """
const [index, ns] = arguments, lane = profile.lanes.threads[index], context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
laneView.choose(lane, ns);
laneView.show(ns - 1e6, ns + 1e6);
laneState.cursor = null;
laneView.paint();
Object.assign(context.canvas, {width: laneView.canvas.width, height: laneView.canvas.height});
context.drawImage(laneView.canvas, 0, 0);
const row = laneView.rowOf.get(index), ratio = laneView.ratio, y = row.top - laneView.scroller.scrollTop + LANES_AXIS, seen = new Map();
for (const pixel of new Uint32Array(context.getImageData(Math.round(laneView.place(ns) * ratio), Math.round((y + 2) * ratio), 1, Math.round((THREAD_HEIGHT - 4) * ratio)).data.buffer)) seen.set(pixel, (seen.get(pixel) || 0) + 1);
const kind = laneView.colors.indexOf([...seen].sort((a, b) => b[1] - a[1])[0][0]);
return kind < 0 ? "none" : LANE_KINDS[kind][0]"""


def check_moments(browser, threads):
    lanes = [lane for lane in browser.run(LANES) if lane["count"] or lane["sampleCount"]]
    listed = collections.Counter((lane["pid"], lane["tid"]) for lane in lanes)
    check({thread for thread, (waits, samples) in threads.items() if waits or samples} == set(listed), f"the {len(listed)} threads of the events are those that have lanes")
    counts = lambda one: (sum(lane["count"] for lane in lanes if (lane["pid"], lane["tid"]) == one), sum(lane["sampleCount"] for lane in lanes if (lane["pid"], lane["tid"]) == one))
    apart = [one for one, (waits, samples) in threads.items() if counts(one) != (len(waits), len(samples))]
    check(apart == [], f"as many waits and samples of each: {[(one, counts(one), len(threads[one][0]), len(threads[one][1])) for one in apart[:3]]}")
    busiest = sorted(lanes, key=lambda lane: -lane["count"])
    chosen = busiest[:THREADS // 2] + random.sample(busiest[THREADS // 2:], min(THREADS // 2, len(busiest[THREADS // 2:])))
    asked, different, words, candidates = 0, [], collections.Counter(), collections.defaultdict(list)
    for lane in chosen:
        waits, samples = threads[lane["pid"], lane["tid"]]
        times = moments_of(lane, waits)
        for ns, answer in zip(times, browser.run(MOMENTS_OF, lane["pid"], lane["tid"], times)):
            asked += 1
            why = "no answer" if answer is None else is_equal(answer, ns, waits, samples)
            if why:
                different.append(f"{lane['comm']} {lane['tid']} at {ns}: {why}")
                continue
            words[answer["word"]] += 1
            edge = answer["end"] - answer["queue"] if answer["kind"] != 2 else answer["end"]
            if ns - answer["begin"] > 50000 and edge - ns > 50000 and answer["kind"] > 1:
                candidates[answer["word"]].append((answer["lane"], ns))
    check(asked >= 40 and different == [], f"{asked} moments of {len(chosen)} threads, {len(different)} are not as the events have them: {different[:3]}; {dict(words)}")
    painted = [(word, one) for word, ones in candidates.items() for one in random.sample(ones, min(PAINTED // 3, len(ones)))]
    wrong = [(word, one, color) for word, one in painted if (color := browser.run(PAINTED_AT, *one)) != word]
    check(len(painted) > 0 and wrong == [], f"{len(painted)} of them have the color of their state: {wrong[:3]}")


def take_pictures(browser):
    """To be looked at, in three widths; nothing is wider than the page."""
    for width in (400, 800, 1280):
        browser.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width == 400)
        browser.until("return laneView.width <= document.documentElement.clientWidth")
        browser.run("laneState.cursor = null; laneView.show(0, laneState.whole); laneView.scroller.scrollTop = 0; $('#threads').scrollIntoView({behavior: 'instant'}); scrollBy(0, -60); laneView.paint()")
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check(wide <= 0, f"at {width} pixels the page is {wide} too wide")
        browser.picture(f"{pictures}-{width}.png")
    browser.command("Emulation.clearDeviceMetricsOverride")


with Browser(1280, 900) as browser:
    browser.open("file://" + page)
    browser.until("return !document.getElementById('page').hidden && laneView !== null")
    missing = browser.run("return profile.lanes.missing")
    check(missing == 0, f"there was room for all events but {missing}")
    check_moments(browser, read_events())
    take_pictures(browser)
    check([c for c in browser.complaints() if "net::ERR" not in c] == [], "nothing stands in the console")
