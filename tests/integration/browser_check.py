# SPDX-License-Identifier: BSD-2-Clause
"""Plays the page and the flame graph of one profile: browser_check.py PAGE.html GRAPH.svg REVERSED.svg MODULES.svg REPORT.json FOLDED FUNCTION"""
import sys

from browser import Browser
from checks import check, read_report

page, graph, reversed_graph, module_graph, report_path, folded, function = sys.argv[1:]
report = read_report(report_path)
samples = report["samples"]["recorded"]


def svg_shapes(browser, expected):
    """Of reversed and of module frames: the function is a leaf at the root, its program holds it."""
    shares = {}
    for name, path in ("leaf", reversed_graph), ("module", module_graph):
        browser.open("file://" + path)
        browser.keys("/", *(function if name == "leaf" else "spin"))
        shares[name] = float(browser.text("#share").split()[1].rstrip("%"))
        under = browser.run("const all = [...document.querySelectorAll('#frames>svg')]; return all.filter(f => Math.abs(f.getAttribute('y') - all[0].getAttribute('y')) === 20).map(f => f.querySelector('title').textContent.split('\\n')[0])")
        check((function in under) == (name == "leaf"), f"{name}: above the root are {under[:4]}")
    check(abs(shares["leaf"] - expected) < 0.11 and shares["module"] >= shares["leaf"], f"shares {shares}, the folded stacks {expected:.1f} %")


def svg():
    with Browser() as browser:
        browser.open("file://" + graph)
        title = browser.text("#head .title")
        check(f"{samples:,} samples" in title, f"the title counts the samples: {title}")
        frames = browser.run("return document.querySelectorAll('#frames>svg').length")
        check(frames > 5, f"{frames} frames")
        browser.keys("/", *function)
        share = float(browser.text("#share").split()[1].rstrip("%"))
        weights = [line.rsplit(" ", 1) for line in open(folded)]
        expected = 100 * sum(int(n) for stack, n in weights if function in stack) / sum(int(n) for _, n in weights)
        check(abs(share - expected) < 0.11, f"the search matches {share} %, the folded stacks {expected:.1f} %")
        browser.keys("Escape")
        browser.run("[...document.querySelectorAll('#frames>svg')].find(f => f.querySelector('title').textContent.startsWith(arguments[0])).dispatchEvent(new MouseEvent('click', {bubbles: true}))", function)
        check("zoom=" in browser.run("return location.hash"), "a click zooms, and the address says so")
        wide = browser.run("return [...document.querySelectorAll('#frames>svg')].find(f => f.querySelector('title').textContent.startsWith(arguments[0])).getBoundingClientRect().width", function)
        check(wide > 1000, f"what is zoomed fills the window: {wide}")
        browser.keys("Escape")
        check("zoom=" not in browser.run("return location.hash"), "Escape zooms out")
        svg_shapes(browser, expected)
        check(browser.complaints() == [], f"no complaint: {browser.complaints()}")


def check_time_line(browser):
    """A range by a drag, by keys, and of everything: its figures are parts of those of the whole."""
    slices = browser.run("return profile.slices.length")
    check(slices >= 2, f"the time line has {slices} slices")
    sums = browser.run("return Object.values(profile.kinds).map(kind => [kind.value, kind.weight].map(values => values.reduce((sum, value) => sum + value, 0)))")
    check(all(abs(whole - parts) <= 1e-6 * whole for whole, parts in sums), f"of each kind, the parts add up to the whole: {sums}")
    browser.run("change(() => state.view = 'graph')")
    whole = browser.run("return sumOf('cpu')")
    browser.run("$('#time').scrollIntoView({behavior: 'instant'})")
    left, right, top = browser.run("const box = $('svg.time').getBoundingClientRect(); const axis = $('svg.time line.axis').getBoundingClientRect(); return [axis.left, box.right - 2, box.top + 20]")
    browser.drag(left + 2, top, (left + right) / 2, top)
    chosen = browser.run("return state.range")
    check(chosen and chosen[0] == 0 and 0 < chosen[1] < slices, f"a drag chooses slices {chosen}")
    part = browser.run("return sumOf('cpu')")
    check(0 < part < whole and browser.run("return graph.model.total[0]") == part, f"the flame graph has {part} of {whole} samples")
    check(browser.run("return $$('#chips button').length") == 1, "the range stands in the bar")
    browser.run("$('[data-key=handle0]').focus()")
    browser.run("change(() => state.range = [0, 1])")
    first = browser.run("return sumOf('cpu')")
    browser.run("change(() => state.range = rangeBetween(1, profile.slices.length))")
    check(first + browser.run("return sumOf('cpu')") == whole, "what is in a range and what is not are all there is")
    browser.run("$('[data-key=handle0]').focus()")
    browser.keys("ArrowRight")
    check(slices == 2 or browser.run("return state.range[0]") == 2, "an arrow moves the handle by a slice")
    check("range=" in browser.run("return location.hash"), "the address has the range")
    browser.run("document.activeElement.blur()")
    browser.keys("Escape")
    check(browser.run("return state.range") is None, "Escape removes it")


def check_heat_map(browser):
    """Single samples of all rows, and of a range that is chosen on it."""
    browser.run("change(() => state.lanes = 'heat')")
    box = browser.run("const box = $('.heat canvas').getBoundingClientRect(), plain = $('#time svg.time line.axis').getBoundingClientRect(); return [box.left - plain.left, box.width, box.height]")
    check(abs(box[0]) <= 1 and box[1] > 300 and box[2] == 200, f"the heat map begins where its axis does: {box}")
    shown = browser.run("return heatCells({left: 0, right: 1000}).all")
    check(shown == samples, f"the heat map has {shown} samples of {samples}")
    painted = browser.run("const canvas = $('.heat canvas'), data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; const colors = new Set; for (let i = 0; i < data.length; i += 4) colors.add(data[i]); return colors.size")
    check(painted > 1, "cells are painted")
    browser.run("change(() => state.lanes = 'resource')")


# Elements that end beyond the window and are not inside of one that scrolls or cuts them off.
TOO_WIDE = """
const room = document.documentElement.clientWidth, isCut = e => e && (getComputedStyle(e).overflowX !== "visible" || isCut(e.parentElement));
return $$("body *").filter(e => e.getClientRects().length && e.getBoundingClientRect().right > room + 1 && !isCut(e.parentElement))
	.map(e => `${e.tagName.toLowerCase()}.${e.className.baseVal || e.className || e.id} to ${Math.round(e.getBoundingClientRect().right)} of ${room}: ${e.textContent.slice(0, 60)}`).slice(0, 8)"""

# Names of machines, programs, files and functions are as long as they like, and have no place to break.
LONG_NAMES = """
const name = "n".repeat(60), lengthen = object => {
	for (const [key, value] of Object.entries(object || {})) {
		if (typeof value === "string" && !["by", "start", "unit"].includes(key)) object[key] = value + name;
		else if (typeof value === "object") lengthen(value);
	}
};
lengthen(profile.report);
profile.names = [...profile.names].map(old => old + name);
showHeader();
showResources();
showFindings();
showLosses();
change(() => state.pick = {rows: new Set([0]), text: name});
graph.zoom(1);"""


def check_widths(browser, widths):
    for width in widths:
        browser.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}})
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check(wide <= 0, f"at {width} pixels the page is {wide} too wide" + (f": {browser.run(TOO_WIDE)}" if wide > 0 else ""))
    browser.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})


def check_long_names(browser):
    """Whatever the machine, the program and its functions are called, the page fits its window. Last: it changes the profile."""
    browser.run(LONG_NAMES)
    check_widths(browser, (320, 390, 1280))
    browser.run("change(() => { state.view = 'functions'; state.chosen = 1; })")
    check_widths(browser, (390, 1280))


def check_layout(browser):
    """What was not recorded takes no room, nothing is wider than the window, and no button lacks a name."""
    shown = browser.run("return $$('section.p').filter(e => e.getClientRects().length).map(e => e.id)")
    check(("network" in shown) == ("peers" in report) and ("latency" in shown) == ("devices" in report) and ("memory" in shown) == ("memory_over_time" in report), f"sections are those of what was recorded: {shown}")
    said = browser.text("#losses")
    check("peers" in report or "network messages (-e network)" in said, "what was not recorded is said")
    check(("threads" in shown) != ("what each thread did" in said), "lanes of threads are shown, or are said not to be recorded")
    check_widths(browser, (390, 1280, 2560))
    nameless = browser.run("return $$('button,input,canvas,[role=img],[role=slider]').filter(e => e.getClientRects().length && !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('[aria-hidden=true]'))).map(e => e.outerHTML.slice(0, 80))")
    check(nameless == [], f"everything that can be used has a name: {nameless}")
    titles = browser.run("return $$('#findings h3').map(e => e.textContent)")
    check(len(titles) == len(report["findings"]) and all(len(title) < 200 for title in titles), f"each finding has its cause as a title: {titles}")


def check_shapes(browser, function):
    """Reversed and by module: the same samples, by keys and by buttons; a frame's stack as text; all of it in the address."""
    browser.run("change(() => { state.view = 'graph'; state.pick = state.range = null; document.activeElement.blur(); })")
    matched = browser.run("return searchTree(modelOf('cpu'), arguments[0]).sum", function)
    browser.keys("v")
    check(browser.run("return state.reversed && graph.model.total[0]") == samples, "reversed, the graph has all samples")
    check(browser.run("return searchTree(modelOf('cpu'), arguments[0]).sum", function) == matched, "and the function has as many")
    ends = browser.run("const {tree, total} = graph.model; return [...tree.name].every((name, i) => i === 0 || tree.end[i] > i + 1 || !total[i] || profile.marks[name] === MARK_ROOT)")
    check(ends, "its stacks end at their processes")
    browser.keys("m")
    modules = browser.run("return graph.visibleChildren(0).map(node => graph.label(node))")
    check("spin" in modules and browser.run("return graph.model.total[0]") == samples, f"by module, leaves are in {modules[:5]}")
    pressed = browser.run("return $$('#stacks button[aria-pressed=true]').map(e => e.textContent)")
    check("Reversed" in pressed and "By module" in pressed, f"buttons say so: {pressed}")
    browser.run("graph.scroller.focus()")
    browser.keys("ArrowDown", "ArrowDown", "Enter")
    copied = browser.run("return stackText(graph, graph.selected)").splitlines()
    check(len(copied) == 3 and copied[0] == browser.run("return graph.label(graph.visibleParent(graph.selected))") and copied[2].startswith("CPU: "), f"the stack is copied as text, leaf first: {copied}")
    zoom = "return graph.zoomed ? graph.pathOf(graph.zoomed).join() : ''"
    before, address = browser.run(zoom), browser.run("return location.href")
    check(before != "" and "reversed=1" in address and "zoom=" in address, f"the address has the zoom: {address}")
    browser.open("about:blank")
    browser.open(address)
    browser.until("return !document.getElementById('page').hidden")
    check(browser.run(zoom) == before and browser.run("return state.reversed && state.byModule"), "the address brings it back")
    for hostile in ("zoom=9.9.9&reversed=1&modules=1", "zoom=" + "1." * 70000, "rows=1e9.-1.x&range=0.0", "lanes=1.0&moment=99.99&group=__proto__", "kind=constructor&view=__proto__&waits=x.y&function=77777777", "%00%ff&&==#"):
        browser.run("location.hash = arguments[0]; loadAddress(); change(() => {})", hostile)
        check(browser.run("return graph.zoomed === 0 && graph.model.total[0]") == samples, f"an address of something else changes nothing: {hostile[:40]}")
    browser.run("location.hash = ''")
    browser.until("return !state.reversed && !state.byModule")


def check_address(browser):
    """Links within the page keep what was chosen; an address that is pasted is heeded."""
    chosen = "return state.pick ? state.pick.text : ''"
    before = browser.run(chosen)
    browser.run("[...document.querySelectorAll('.bar nav a')].find(e => e.getClientRects().length).click()")
    check("rows=" in browser.run("return location.hash") and browser.run(chosen) == before != "", "a link to a section keeps the choice in the address")
    browser.run("location.hash = 'view=functions&search=pasted'")
    browser.until("return state.search === 'pasted' && state.view === 'functions' && !state.pick")
    browser.run("location.hash = ''")
    browser.until("return state.search === '' && state.view === 'graph'")


def check_nothing_chosen(browser):
    """Where no event is chosen there is no graph, but a field to search in."""
    browser.run("change(() => { state.view = 'graph'; state.pick = {rows: new Set(), text: 'nothing'}; })")
    check(browser.run("return graph === null && document.querySelector('#search') !== null"), "there is no graph of nothing")
    browser.run("const field = document.querySelector('#search'); field.value = 'main'; field.dispatchEvent(new Event('input'))")
    check(browser.run("return state.search") == "main", "what is typed is kept")
    browser.run("change(() => { state.search = ''; state.pick = null; })")


def html(dark):
    with Browser(dark=dark) as browser:
        browser.open("file://" + page)
        browser.until("return !document.getElementById('page').hidden")
        check(browser.text("#facts").find(report["host"]["name"]) >= 0, "the header names the host")
        rows = browser.run("return document.querySelectorAll('#processes tbody tr').length")
        check(rows >= 1, f"{rows} rows of processes")
        # The sum that the button of a kind shows, and that of the function in the flame graph.
        whole = browser.run("return sumOf('cpu')")
        check(whole == samples, f"the stacks hold {whole} samples of {samples}")
        browser.keys("/", *function)
        matched = browser.run("return searchTree(modelOf('cpu'), arguments[0]).sum", function)
        weights = [line.rsplit(" ", 1) for line in open(folded)]
        expected = sum(int(n) for stack, n in weights if function in stack)
        check(matched == expected, f"the search finds {matched} samples, the folded stacks have {expected}")
        browser.keys("Escape", "f", "ArrowDown", "ArrowDown", "Enter")
        check("of zoom" in browser.text("#stacks .stat"), "Enter zooms")
        browser.keys("Backspace", "Backspace", "t")
        names = browser.run("return [...document.querySelectorAll('#stacks td.fn')].map(e => e.title)")
        check(function in names, f"the function stands in the table: {names[:5]}")
        check_layout(browser)
        check_time_line(browser)
        check_heat_map(browser)
        browser.click("#processes tbody tr")
        check(browser.run("return document.querySelectorAll('#chips button').length") == 1, "a click on a row chooses it")
        address = browser.run("return location.href")
        browser.open("about:blank")
        browser.open(address)
        browser.until("return !document.getElementById('page').hidden")
        check(browser.run("return document.querySelectorAll('#chips button').length") == 1, "the address keeps the choice")
        check_address(browser)
        check_nothing_chosen(browser)
        if not dark:
            check_shapes(browser, function)
        theme = "return document.documentElement.dataset.theme"
        before = browser.run(theme)
        browser.run("dispatchEvent(new Event('beforeprint'))")
        painted = browser.run("return graph.canvas.getContext('2d').getImageData(20, 8, 1, 1).data[3]")
        check(browser.run(theme) == "light" and painted == 255, f"on paper it is light, and drawn: {painted}")
        browser.run("dispatchEvent(new Event('afterprint'))")
        check(browser.run(theme) == before, "and on the screen as before")
        check_long_names(browser)
        check(browser.complaints() == [], f"no complaint: {browser.complaints()}")


svg()
html(dark=False)
html(dark=True)
