#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plays the history page as a user would.
usage: history_browser_check.py URL PICTURE_FOLDER"""
import json
import sys
import time
import urllib.request

from browser import Browser

URL, PICTURES = sys.argv[1:]
failures = []


def check(good, text):
    if not good:
        failures.append(text)
        print("FAILED:", text)


def choose(browser, begin, end):
    """Drags over the chart from one share of its width to another. A report that comes in moves the chart away below the
    pointer: then the drag hits something else, and is made again."""
    wanted = browser.run("return [arguments[0], arguments[1]].map(share => timeAt(share * width()))", begin, end)
    near = "return Math.abs(view.from - arguments[0]) < arguments[2] && Math.abs(view.to - arguments[1]) < arguments[2]"
    for _ in range(10):
        box = browser.run("document.querySelector('#chart').scrollIntoView({behavior: 'instant', block: 'center'}); const b = document.querySelector('#chart').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]")
        browser.drag(box[0] + begin * box[2], box[1] + box[3] / 2, box[0] + end * box[2], box[1] + box[3] / 2)
        if browser.run(near, *wanted, 1.5):
            return
        time.sleep(0.5)
    check(False, f"no drag chooses {wanted}: {browser.run('return [view.from, view.to]')}")


def report(browser):
    return browser.run("return document.querySelector('#report').getAttribute('src') || ''")


def report_says(browser, text):
    try:
        browser.until("return document.querySelector('#report').contentDocument?.body?.textContent.includes(arguments[0])", text)
    except RuntimeError:
        print("the report:", browser.run("return document.querySelector('#report').contentDocument?.body?.textContent")[:2000])
        raise


def play_lanes(browser):
    """Lanes of processes and threads have what the answer has of the program; a moment is said in words, and opens its report."""
    browser.open("about:blank")
    browser.open(URL + "/#range=60")
    browser.until("return lanes.shown.some(({lane}) => lane.name === 'spin')")
    cpu = browser.run("""
const shown = lanes.shown.find(({lane}) => lane.name === 'spin'), window = lanes.windows.find(one => one.lanes.has(shown.key));
chooseLane(shown.key, (window.begin + window.end) / 2);
return [window.lanes.get(shown.key)[0], window.covered, shown.lane.pid]""")
    check(0 < cpu[0] <= 1.5 * cpu[1], f"spin ran for {cpu[0]} ns of {cpu[1]}")
    check("spin" in browser.text("#lane-text") and "on-CPU" in browser.text("#lane-text"), f"the moment is not said: {browser.text('#lane-text')}")
    painted = browser.run("""
const canvas = document.querySelector('#lane-picture'), row = lanes.shown.findIndex(({lane}) => lane.name === 'spin'), ratio = devicePixelRatio || 1, at = lanes.windows.findLast(one => one.lanes.has(lanes.shown[row].key));
lanes.at = null;
drawLanes();
const data = canvas.getContext('2d').getImageData((xOf(at.begin) + xOf(at.end)) / 2 * ratio, (row * LANE_HEIGHT + LANE_NAME + LANE_BAR - 1) * ratio, 1, 1).data;
return [...data].slice(0, 3).map(part => part.toString(16).padStart(2, '0')).join('')""")
    check(painted in ("2a6ebb", "5ea3ea"), f"its foot has the color of on-CPU: {painted}")
    browser.run("document.querySelector('#lane-picture').focus()")
    browser.keys("ArrowDown", "ArrowLeft", "ArrowRight")
    check(browser.run("return lanes.at !== null") and browser.text("#lane-text") != "", "keys choose no moment")
    browser.run("const shown = lanes.shown.find(({lane}) => lane.name === 'spin'), window = lanes.windows.find(one => one.lanes.has(shown.key)); chooseLane(shown.key, window.begin + 0.1)")
    browser.keys("Enter")
    check(f"&pid={cpu[2]}&" in report(browser), f"Enter does not open the report of the process: {report(browser)}")
    report_says(browser, "spin_here")
    browser.click("#lane-numbers")
    check(browser.run("return [...document.querySelectorAll('#lane-table td')].some(cell => cell.textContent.startsWith('spin'))"), "the table has no line of it")
    browser.run("const by = document.querySelector('#lane-by'); by.value = 'thread'; by.onchange({ target: by })")
    browser.until("return lanes.by === 'thread' && lanes.shown.some(({lane}) => lane.name === 'spin' && lane.tid)")
    check("lanes=thread" in browser.run("return location.hash"), "the address does not have the lanes")
    check("Waits were not recorded" in browser.text("#lane-note"), f"what is not known is not said: {browser.text('#lane-note')}")
    for width in (400, 800, 1280):
        browser.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width == 400)
        browser.until("return document.querySelector('#lane-picture').clientWidth <= document.documentElement.clientWidth")
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check(wide <= 0, f"at {width} pixels the page is {wide} too wide")
        browser.picture(f"{PICTURES}/history-lanes-{width}.png")
    browser.command("Emulation.clearDeviceMetricsOverride")


def newest():
    with urllib.request.urlopen(f"{URL}/api/v1/windows?from=-1m", timeout=60) as answer:
        return json.load(answer)["windows"][-1][1]


def idle(browser, how):
    """Once what was asked for is there, nothing is asked for while two windows come."""
    asked = "return performance.getEntriesByType('resource').length"
    browser.until("return loading === 0")
    browser.run("performance.clearResourceTimings()")
    begun = newest()
    while newest() < begun + 2:
        time.sleep(0.1)
    check(browser.run(asked) == 0, f"{how}, it asks {browser.run(asked)} times")


def play_live(browser):
    """The present is renewed in the page that is there: what was chosen in it stays; it can be stopped, and stepped back from."""
    browser.click("#now")
    browser.until("return view.now && typeof document.querySelector('#report').contentWindow.renewProfile === 'function' && !document.querySelector('#report').contentDocument.querySelector('#page').hidden")
    browser.run("performance.clearResourceTimings()")
    begun, zoomed = browser.inside("#report", """
change(() => { state.reversed = true; state.search = 'spin_here'; });
graph.zoom(graph.visibleChildren(0).find(node => graph.label(node) === 'spin_here'), true);
window.isSame = true;
return [$('#facts').textContent, graph.label(graph.zoomed)]""")
    browser.until("return document.querySelector('#report').contentDocument.querySelector('#facts').textContent !== arguments[0]", begun)
    kept = browser.inside("#report", "return [window.isSame, state.reversed, state.search, graph.label(graph.zoomed)]")
    check(kept == [True, True, "spin_here", zoomed], f"what was chosen does not stay: {kept}, zoomed {zoomed}")
    check("renewed" in browser.text("#chosen") and "now=1" in browser.run("return location.hash"), "the page does not say so")
    browser.picture(f"{PICTURES}/history-live.png")
    whole, data = (browser.run("return performance.getEntriesByType('resource').filter(one => one.name.includes(arguments[0])).length", path) for path in ("/api/v1/profile", "/api/v1/page"))
    check(data >= 1 and whole == 0, f"renewals ask for the data alone: {data} times, for all of a report {whole} times")
    browser.inside("#report", "scrollTo(0, 400)")
    begun = browser.inside("#report", "return [$('#facts').textContent, scrollY]")
    browser.until("return document.querySelector('#report').contentDocument.querySelector('#facts').textContent !== arguments[0]", begun[0])
    check(browser.inside("#report", "return scrollY") == begun[1] > 0, "the report does not stay where it was scrolled to")
    # Paused and hidden, it asks for nothing while the history goes on.
    browser.click("#now")
    stopped = browser.run("return view.to")
    idle(browser, "paused")
    check(browser.run("return view.to") == stopped, "it does not stop")
    browser.click("#now")
    browser.until("return view.now && live.last > arguments[0] && timer", stopped)
    browser.run("Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
    idle(browser, "hidden")
    browser.run("Object.defineProperty(document, 'hidden', { value: false }); document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
    browser.until("return live.last > arguments[0] + 2", stopped)
    browser.click("#earlier")
    check(browser.run("return view.to") < stopped and browser.run("return view.now") == 0, "there is no step back")
    browser.until("return document.querySelector('#report').contentDocument?.body?.textContent.length > 200")


def play(browser):
    browser.open(URL + "/#range=60")
    browser.until("return document.querySelectorAll('#chart g rect').length > 3")
    browser.until("return document.querySelector('#legend').textContent.includes('spin')")
    browser.until("return document.querySelector('#alerts').textContent.includes('hog')")
    check("quick" in browser.text("#objectives"), "the objective is not shown")
    # What is before the first window is a gap.
    check(browser.run("return document.querySelectorAll('#machine .gap title').length") > 0, "the gap is not marked")
    browser.click("#live")
    browser.until("return location.hash.includes('end=')")
    at = browser.run("return data.windows.map(([b, e]) => [xOf(b) / width(), xOf(e) / width(), e])")
    # In the first ones code of the program may not have been read yet.
    choose(browser, at[2][0] + 0.001, at[3][1] - 0.001)
    browser.until("return document.querySelector('#report').getAttribute('src')")
    report_says(browser, "spin_here")
    browser.picture(f"{PICTURES}/history-report.png")
    browser.click("#mark")
    choose(browser, at[4][0] + 0.001, at[5][1] - 0.001)
    browser.run("const base = document.querySelector('#base'); base.value = 'marked'; base.onchange({ target: base })")
    check("base_from=" in report(browser) and "/diff?" in report(browser), f"the marked interval is not the base: {report(browser)}")
    # The document before it stays until the new one has come.
    sides = browser.until("const frame = document.querySelector('#report'), shown = frame.contentDocument, found = shown?.URL === frame.src && shown.body?.textContent.match(/[0-9T:-]+Z to [0-9T:-]+Z/g); return found && found.length === 2 ? found : null")
    check(len(sides) == 2 and sides[0].split()[2] <= sides[1].split()[0], f"the intervals overlap: {sides}, {report(browser)}, windows {at[:7]}")
    check(browser.run("return document.querySelectorAll('#chart .brush, #chart .marked').length") == 2, "the two intervals are not marked")
    browser.picture(f"{PICTURES}/history-diff.png")
    # Somebody else opens the address.
    address, source = browser.run("return location.href"), report(browser)
    browser.open("about:blank")
    browser.open(address)
    browser.until("return document.querySelectorAll('#chart .brush, #chart .marked').length == 2")
    check(report(browser) == source, f"the address shows {report(browser)} instead of {source}")
    browser.run("const base = document.querySelector('#base'); base.value = 'hour'; base.onchange({ target: base })")
    browser.until("return document.querySelector('#report').contentDocument?.body?.textContent.includes('no history')")
    browser.click("#alerts a")
    check(browser.run("return view.from") < at[0][2], "the alert's link does not show the time before it")
    for complaint in browser.complaints():
        # The hour before has no history, which the frame says.
        check(complaint.startswith("request to " + URL) or "404" in complaint, complaint)


with Browser() as browser:
    play(browser)
    play_lanes(browser)
    play_live(browser)
    for complaint in browser.complaints():
        check(complaint.startswith("request to " + URL), complaint)
sys.exit(bool(failures))
