# SPDX-License-Identifier: BSD-2-Clause
"""The page and the flame graph of hostile_names: hostile_browser_check.py PAGE.html GRAPH.svg"""
import sys
import time

from browser import Browser
from checks import check

page, graph, comparison = sys.argv[1:]
NAMES = ["</script><script>hacked=1</script>", "<img src=http://127.0.0.1:9/x onerror=hacked=1>", "]]>&amp;<!--", "{{DATA}}${hacked=1}", "=cmd|'/c calc'!A1", "__proto__", "constructor"]

with Browser() as browser:
    browser.open("file://" + graph)
    titles = browser.run("return [...document.querySelectorAll('title')].map(e => e.textContent)")
    for name in NAMES:
        check(any(name in title for title in titles), f"svg: {name}")
    browser.keys("/", *"script")
    check(browser.run("return typeof hacked") == "undefined", "svg: no name was run")
    check(browser.complaints() == [], f"svg: no complaint: {browser.complaints()}")

    browser.open("file://" + comparison)
    shown = browser.text("main")
    check(any(name in shown for name in NAMES), f"diff: names are text in its tables: {shown[:500]}")
    browser.run("[...document.querySelectorAll('.views button')].find(b => b.textContent === 'Side by side').click()")
    browser.until("return document.querySelectorAll('iframe').length === 2")
    time.sleep(0.5)
    check(browser.run("return typeof hacked") == "undefined" and browser.run("return document.querySelectorAll('img').length") == 0, "diff: no name was run or is markup")
    check(browser.complaints() == [], f"diff: no complaint: {browser.complaints()}")

    browser.open("file://" + page)
    browser.until("return !document.getElementById('page').hidden")
    for name in NAMES:
        found = browser.run("state.search = arguments[0]; return searchTree(modelOf('cpu'), state.search).sum", name)
        check(found >= 25, f"html: {found} samples in {name}")
    browser.run("change(() => { state.search = ''; state.view = 'functions'; })")
    shown = browser.run("return [...document.querySelectorAll('#stacks td.fn')].map(e => e.title)")
    check(all(name in shown for name in NAMES), f"html: the table of functions has all of them: {shown}")
    for name in NAMES:
        browser.run("change(() => state.chosen = profile.names.indexOf(arguments[0]))", name)
    browser.run("change(() => { state.view = 'graph'; state.rootBelow = true; state.allFrames = true; })")
    for reversed, modules in (True, False), (True, True), (False, True):
        browser.run("change(() => { state.reversed = arguments[0]; state.byModule = arguments[1]; })", reversed, modules)
        browser.run("graph.select(1); graph.zoom(1, true)")
        text = browser.run("return stackText(graph, 1)")
        check(not any(ord(sign) < 32 and sign != "\n" or 127 <= ord(sign) < 160 for sign in text), f"html: a copied stack has no control characters: {text!r}")
    browser.run("change(() => { state.reversed = state.byModule = false; })")
    browser.run("location.hash = new URLSearchParams({rows: '0', name: '<img src=x onerror=hacked=1>', search: '</script><script>hacked=1</script>'})")
    browser.until("return state.pick && state.search.includes('hacked')")
    browser.run("location.hash = ''")
    browser.until("return !state.search")
    browser.click("#processes tbody tr")
    check(browser.run("return typeof hacked") == "undefined" and browser.run("return document.querySelectorAll('img').length") == 0, "html: no name was run or is markup")
    check(browser.complaints() == [], f"html: no complaint: {browser.complaints()}")
