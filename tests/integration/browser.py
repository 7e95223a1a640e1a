# SPDX-License-Identifier: BSD-2-Clause
"""Headless Chromium, driven through chromedriver's WebDriver protocol with the standard library alone."""
import base64
import json
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Backspace": "\ue003", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


class Browser:
    def __init__(self, width=1280, height=1000, dark=False):
        # Says which port it has chosen.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.address = f"http://127.0.0.1:{line.rsplit(' ', 1)[1].strip().rstrip('.')}"
                break
        # Root has no user namespaces to lock itself in.
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={width},{height}"]
        options += ["--force-dark-mode"] * dark
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": options}, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = ""
        self.session = "/session/" + self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask("DELETE", "")
        except (OSError, RuntimeError):
            pass
        self.driver.kill()
        self.driver.wait()

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.address + self.session + path, method=method, data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {json.load(error)['value']['message']}") from None

    def open(self, address):
        self.ask("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        """What the script returns, run as the body of a function."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def inside(self, selector, script, *arguments):
        """The same in a frame of the page."""
        self.ask("POST", "/frame", {"id": self.ask("POST", "/element", {"using": "css selector", "value": selector})})
        try:
            return self.run(script, *arguments)
        finally:
            self.ask("POST", "/frame", {"id": None})

    def until(self, script, *arguments, seconds=120):
        """Waits until the script returns something true, and returns it. Only a page that hangs takes so long."""
        end = time.monotonic() + seconds
        while not (value := self.run(script, *arguments)):
            if time.monotonic() > end:
                raise RuntimeError(f"never true: {script} {arguments or ''}; the page: {self.text('body')[:2000]}")
            time.sleep(0.05)
        return value

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector, index=0):
        found = self.ask("POST", "/elements", {"using": "css selector", "value": selector})
        self.ask("POST", f"/element/{found[index][ELEMENT]}/click", {})

    def keys(self, *keys):
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def drag(self, x, y, to_x, to_y):
        at = lambda x, y, duration=0: {"type": "pointerMove", "duration": duration, "x": int(x), "y": int(y)}
        actions = [at(x, y), {"type": "pointerDown", "button": 0}, at((x + to_x) / 2, (y + to_y) / 2, 50), at(to_x, to_y, 50), {"type": "pointerUp", "button": 0}]
        self.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def command(self, name, **parameters):
        """Of the DevTools protocol."""
        return self.ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def touch(self, *steps):
        """Fingers on the screen: each step has the places of all; the last one is lifted."""
        for i, places in enumerate(steps):
            self.command("Input.dispatchTouchEvent", type="touchStart" if i == 0 else "touchMove", touchPoints=[{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)])
        self.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def complaints(self):
        """What stands in the console, and every request to anywhere but the disk."""
        found = [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]
        for entry in self.ask("POST", "/se/log", {"type": "performance"}):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                address = event["params"]["request"]["url"]
                if not address.startswith(("file:", "data:", "blob:", "about:")):
                    found.append("request to " + address)
        return found
