#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plays the history page as a user would.
usage: history_browser_check.py URL PICTURE_FOLDER"""
import sys

from browser import Browser

URL, PICTURES = sys.argv[1:]
failures = []


def check(good, text):
    if not good:
        failures.append(text)
        print("FAILED:", text)


def choose(browser, begin, end):
    """Drags over the chart from one share of its width to another"""
    box = browser.run("const b = document.querySelector('#chart').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]")
    browser.drag(box[0] + begin * box[2], box[1] + box[3] / 2, box[0] + end * box[2], box[1] + box[3] / 2)


def report(browser):
    return browser.run("return document.querySelector('#report').getAttribute('src') || ''")


def report_says(browser, text):
    try:
        browser.until("return document.querySelector('#report').contentDocument?.body?.textContent.includes(arguments[0])", text)
    except RuntimeError:
        print("the report:", browser.run("return document.querySelector('#report').contentDocument?.body?.textContent")[:2000])
        raise


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
    browser.until("return (document.querySelector('#report').contentDocument?.body?.textContent || '').length > 200")
    sides = browser.run("return document.querySelector('#report').contentDocument.body.textContent.match(/[0-9T:-]+Z to [0-9T:-]+Z/g)")
    check(len(sides) == 2 and sides[0].split()[2] <= sides[1].split()[0], f"the intervals overlap: {sides}")
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
sys.exit(bool(failures))
