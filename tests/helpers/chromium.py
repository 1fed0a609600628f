"""A real Chromium without a window, told what to do through a pair of pipes (DevTools protocol)."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

_LEFT_BY_MAKE = Path(sys.prefix) / ".no-browser"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)
WHY_NONE = "there is no Chromium: " + (
    _LEFT_BY_MAKE.read_text().strip() if _LEFT_BY_MAKE.exists() else "make browser installs it"
)
SECONDS = 60


class Chromium:
    """A page in a browser; `complaints` are what its console and its loading complained of."""

    def __init__(self, folder):
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()

        def hand_over():  # the browser reads from 3 and writes to 4
            source, sink = os.dup(theirs_read), os.dup(theirs_write)
            os.dup2(source, 3)
            os.dup2(sink, 4)

        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        self._process = subprocess.Popen(
            [BROWSER, *options, f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=hand_over,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_read)
        os.close(theirs_write)
        self._in, self._out, self._buffer, self._sent = ours_read, ours_write, b"", 0
        self._session = None
        self.complaints, self._events = [], []
        (target,) = (
            found for found in self._call("Target.getTargets")["targetInfos"] if found["type"] == "page"
        )
        attached = self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self.requests = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.terminate()
        self._process.wait(SECONDS)
        os.close(self._in)
        os.close(self._out)

    def open(self, path, width=1280, height=900, dark=False):
        """Show a file, as wide and as dark as asked, and wait until it is there."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._events.clear()
        self._call("Page.navigate", url=path.as_uri())
        until = time.monotonic() + SECONDS
        while "Page.loadEventFired" not in self._events:
            self._receive(until)

    def ask(self, script):
        """Give the value of an expression in the page."""
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key, code=0):
        """Press a key."""
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        """Put text into the field that has the focus, as one paste."""
        self._call("Input.insertText", text=text)

    def click(self, x, y, shift=False):
        """Move the mouse to a place in the window, and click there."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            held = {"button": "left", "clickCount": 1, "modifiers": 8 if shift else 0}
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **held)

    def drag(self, x, y, by_x, by_y):
        """Press the mouse at a place, move it, and let go."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind, part in (("mousePressed", 0), ("mouseMoved", 0.5), ("mouseMoved", 1), ("mouseReleased", 1)):
            place = {"x": x + part * by_x, "y": y + part * by_y}
            self._call("Input.dispatchMouseEvent", type=kind, button="left", buttons=1, clickCount=1, **place)

    def fingers(self, *ways):
        """Put fingers down, move each from one place to another, and lift them."""
        for kind, part in (("touchStart", 0), ("touchMove", 0.3), ("touchMove", 0.6), ("touchMove", 1)):
            points = [
                {"x": a + part * (c - a), "y": b + part * (d - b), "id": finger}
                for finger, ((a, b), (c, d)) in enumerate(ways)
            ]
            self._call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self._call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def wheel(self, x, y, by):
        """Turn the mouse's wheel."""
        self._call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)

    def picture(self):
        """Give a picture of the window, as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot")["data"])

    def download_to(self, folder):
        """Save to a folder what the page offers for download."""
        self._call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def wait_for(self, condition):
        """Wait until a condition holds; gives what it gave."""
        until = time.monotonic() + SECONDS
        while not (found := condition()):
            assert time.monotonic() < until, "waited in vain"
            time.sleep(0.02)
        return found

    def _call(self, method, **parameters):
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + SECONDS
        while True:
            answer = self._receive(until)
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer
                return answer["result"]

    def _receive(self, until):
        """Give the next message; note events on the way."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            piece = os.read(self._in, 1 << 16) if ready else b""
            if not piece:
                raise TimeoutError("the browser does not answer")
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, parameters):
        if method is not None:
            self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(parameters)
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
