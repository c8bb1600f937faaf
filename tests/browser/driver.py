"""A browser to test the page with: Debian's Chromium, driven by chromedriver over W3C WebDriver, with Python alone."""
import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015"}


def missing():
    """The program that must be installed, or None."""
    names = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"no {' and no '.join(names)}" if names else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# Delays every answer of a server by so many milliseconds. With 300, a test that does not wait for what it checks fails.
LATENCY = int(os.environ.get("GRAPNEL_LATENCY", "0"))


class Browser:
    def __init__(self, width=1600, height=1000, dark=False, arguments=()):
        self.port = free_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = ""
        for _ in range(200):
            try:
                self.call("GET", "/status")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
        arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-precise-memory-info",
                     "--js-flags=--expose-gc", f"--window-size={width},{height}", *(arguments or ["--disable-gpu"])]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        wanted = {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        if LATENCY:
            self.call("POST", "/chromium/network_conditions", {"network_conditions": {
                "offline": False, "latency": LATENCY, "download_throughput": 1 << 30, "upload_throughput": 1 << 30}})

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{self.session}{path}", data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from error

    def go(self, url):
        self.call("POST", "/url", {"url": url})

    def js(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def before_pages(self, script):
        """Runs `script` in every page from now on, before its own."""
        self.call("POST", "/goog/cdp/execute", {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": script}})

    def prefer(self, theme):
        """Sets the system's theme, "dark" or "light"; "" for the browser's own."""
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}})

    def wait(self, condition, seconds=20):
        """Waits until a JavaScript expression is true; returns its value."""
        end = time.time() + seconds
        while time.time() < end:
            value = self.js(f"return {condition}")
            if value:
                return value
            time.sleep(0.03)
        raise AssertionError(f"after {seconds} s still not: {condition}")

    def view_size(self, width, height):
        """Sets the size of the page, without the window around it."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics})

    def find(self, css):
        return self.call("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self.call("POST", f"/element/{self.find(css)}/click", {})

    def type(self, css, text):
        self.call("POST", f"/element/{self.find(css)}/value", {"text": text})

    def press(self, *keys):
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def click_at(self, x, y, times=1):
        actions = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}]
        for _ in range(times):
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def complaints(self):
        """Errors and warnings that the browser has printed since the last call, without those for the icon, which it requests by itself."""
        entries = self.call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] != "INFO" and "/favicon.ico" not in entry["message"]]

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.kill()
            self.driver.wait()
