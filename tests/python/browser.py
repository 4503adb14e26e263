"""Drives a headless Chromium in tests: its DevTools protocol over a pair of pipes, without other software."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page of one browser. A context manager."""

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM is not None
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        ours = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_browser, from_browser)]
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
        command += ["--disable-background-networking", "--disable-component-update", "--no-proxy-server"]
        command += ["--disable-dev-shm-usage", f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        pipes = [(os.POSIX_SPAWN_DUP2, end, fd) for fd, end in zip((3, 4), ours, strict=True)]
        self._pid = os.posix_spawn(CHROMIUM, command, os.environ, file_actions=[*quiet, *pipes])
        for end in (to_browser, from_browser, *ours):
            os.close(end)
        self._left = b""
        self._number = 0
        self._session: str | None = None
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self("Page.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        self("Browser.close")
        os.waitpid(self._pid, 0)
        os.close(self._read)
        os.close(self._write)

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            *messages, self._left = self._left.split(b"\0")
            for number, text in enumerate(messages):
                answer = json.loads(text)
                if answer.get("id") == self._number:
                    self._left = b"\0".join([*messages[number + 1 :], self._left])
                    assert "error" not in answer, (method, answer["error"])
                    return answer["result"]
            assert select.select([self._read], [], [], deadline - time.monotonic())[0], f"{method}: no answer"
            self._left += os.read(self._read, 1 << 20)

    def screen(self, width: int, height: int, *, touch: bool = False, dark: bool = False) -> None:
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=touch)
        self("Emulation.setTouchEmulationEnabled", enabled=touch)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, file: Path) -> None:
        self("Page.navigate", url=file.as_uri())
        self.until("document.readyState === 'complete'")

    def evaluate(self, script: str) -> Any:
        """Returns the value of an expression on the page. Waits for a promise."""
        found = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, condition: str, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not self.evaluate(condition):
            assert time.monotonic() < deadline, condition
            time.sleep(0.05)

    def choose(self, selector: str, file: Path) -> None:
        """Gives a file to an input of the page, as if the user had chosen it."""
        document = self("DOM.getDocument")["root"]["nodeId"]
        node = self("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]
        self("DOM.setFileInputFiles", files=[str(file)], nodeId=node)

    def fingers(self, *path: list[tuple[float, float]]) -> None:
        """Puts fingers down at the first points, moves them through the others, and lifts them."""
        for number, points in enumerate(path):
            touches = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(points)]
            self("Input.dispatchTouchEvent", type="touchMove" if number else "touchStart", touchPoints=touches)
        self("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        """Presses the mouse at a point, moves it to another one, and releases it."""
        (x, y), (to_x, to_y) = start, end
        self("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
        for step in range(1, steps + 1):
            at = {"x": x + (to_x - x) * step / steps, "y": y + (to_y - y) * step / steps}
            self("Input.dispatchMouseEvent", type="mouseMoved", **at, button="left", buttons=1)
        self("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", buttons=0, clickCount=1)

    def wheel(self, x: float, y: float, down: float) -> None:
        """Turns the wheel at a point, by some pixels of the page."""
        self("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=down)

    def press(self, key: str) -> None:
        """Presses a key and releases it."""
        code = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36}.get(key, ord(key[0].upper()))
        text = key if len(key) == 1 else ""
        self("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def double_click(self, x: float, y: float) -> None:
        for count in (1, 2):
            for kind in ("mousePressed", "mouseReleased"):
                self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
