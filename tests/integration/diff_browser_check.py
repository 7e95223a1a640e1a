# SPDX-License-Identifier: BSD-2-Clause
"""The page of a comparison, played: both sides beside each other with one zoom: diff_browser_check.py PAGE.html FUNCTION"""
import sys
import time

from browser import Browser
from checks import check, end

page, function = sys.argv[1:]
# The frames are documents of their own; the browser's protocol goes into one at a time.
WIDTH = "const f = [...document.querySelectorAll('#frames>svg')].find(f => f.querySelector('title').textContent.startsWith(arguments[0])); return parseFloat(f.getAttribute('width'))"
CLICK = "[...document.querySelectorAll('#frames>svg')].find(f => f.querySelector('title').textContent.startsWith(arguments[0])).dispatchEvent(new MouseEvent('click', {bubbles: true}))"


def in_frame(browser, number, script):
    browser.ask("POST", "/frame", {"id": number})
    try:
        return browser.run(script, function)
    finally:
        browser.ask("POST", "/frame", {"id": None})


def loaded(browser, number):
    """Documents in frames load later, and what was found in the one before is stale then."""
    for _ in range(100):
        try:
            if in_frame(browser, number, "return Boolean(document.documentElement.flameGraph)"):
                return
        except RuntimeError:
            pass
        time.sleep(0.1)
    raise RuntimeError(f"frame {number} never has a graph")


with Browser() as browser:
    browser.open("file://" + page)
    loaded(browser, 0)
    check(browser.run("return document.querySelectorAll('iframe').length") == 1, "one graph at first")
    both = in_frame(browser, 0, WIDTH)
    browser.run("[...document.querySelectorAll('.views button')].find(b => b.textContent === 'Side by side').click()")
    browser.until("return document.querySelectorAll('iframe').length === 2")
    for number in (0, 1):
        loaded(browser, number)
    base, new = (in_frame(browser, number, WIDTH) for number in (0, 1))
    check(base < both < new, f"the function has {base} % of the base, {new} % of the new side, {both} % of both")
    in_frame(browser, 0, CLICK)
    browser.ask("POST", "/frame", {"id": 1})
    browser.until(WIDTH.replace("return ", "return 99.9 < "), function)
    browser.ask("POST", "/frame", {"id": None})
    check(True, "a zoom of one side is the other's as well")
    check(browser.complaints() == [], f"no complaint: {browser.complaints()}")
end()
