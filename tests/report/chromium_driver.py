"""A headless Chromium, driven over a pipe by the DevTools protocol: no port, no library, no network."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["CHROMIUM", "Browser", "Page", "open_browser"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
    "--remote-debugging-pipe",
)
_PATIENCE = 60.0


class Browser:
    """One Chromium process; commands go to descriptor 3 of it, answers and events come from 4."""

    def __init__(self, profile: Path) -> None:
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()
        flags = [*_FLAGS, f"--user-data-dir={profile}"]

        def place() -> None:
            # Chromium looks for its pipes at 3 and 4; first out of the way, since either may be one of these.
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 64) for end in (to_read, from_write)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [str(CHROMIUM), *flags, "about:blank"],
            preexec_fn=place,
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def _message(self, until: float) -> dict[str, Any] | None:
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._from], [], [], left)[0]:
                return None
            chunk = os.read(self._from, 1 << 20)
            if not chunk:
                raise RuntimeError("Chromium ended")
            self._buffer += chunk
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """One command and its answer; events that come meanwhile are kept."""
        self._number += 1
        order: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            order["sessionId"] = session
        data = json.dumps(order).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        until = time.monotonic() + _PATIENCE
        while (message := self._message(until)) is not None:
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
            self.events.append(message)
        raise TimeoutError(f"Chromium did not answer {method}")

    def listen(self, seconds: float) -> None:
        """Collect the events of the next `seconds`."""
        until = time.monotonic() + seconds
        while (message := self._message(until)) is not None:
            self.events.append(message)

    def close(self) -> None:
        """End this process, and no other."""
        with contextlib.suppress(Exception):
            self.send("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._to)
        os.close(self._from)


class Page:
    """A tab that remembers every console message, exception and request."""

    def __init__(self, browser: Browser, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.send(f"{domain}.enable")
        self.resize(width, height)
        self.scheme(dark=dark)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command to this tab."""
        return self.browser.send(method, self._session, **parameters)

    def resize(self, width: int, height: int) -> None:
        """Another size of the window; below 600 pixels it is a phone."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def scheme(self, *, dark: bool, media: str = "") -> None:
        """Prefer dark or light; `media="print"` shows the page as printed."""
        value = "dark" if dark else "light"
        self.send(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[{"name": "prefers-color-scheme", "value": value}],
        )

    def open(self, path: Path) -> None:
        """Open a local file and wait until its script has run to the end, and a moment longer."""
        self.send("Page.navigate", url=path.resolve().as_uri())
        until = time.monotonic() + _PATIENCE
        while self.value("document.documentElement?.dataset.ready") != "yes":
            if time.monotonic() > until:
                raise TimeoutError(f"the page did not get ready: {self.complaints()}")
            self.browser.listen(0.1)
        self.browser.listen(0.5)

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def _mine(self) -> Iterator[dict[str, Any]]:
        return (event for event in self.browser.events if event.get("sessionId") == self._session)

    def complaints(self) -> list[str]:
        """Console messages, logged errors and uncaught exceptions."""
        found = []
        for event in self._mine():
            parameters = event["params"]
            if event["method"] == "Runtime.consoleAPICalled":
                found.append(f"{parameters['type']}: {[a.get('value') for a in parameters['args']]}")
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            if event["method"] == "Log.entryAdded":
                found.append(f"{parameters['entry']['level']}: {parameters['entry']['text']}")
        return found

    def requests(self) -> list[str]:
        """The address of everything that was asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self._mine()
            if event["method"] == "Network.requestWillBeSent"
        ]

    def hover(self, selector: str, *, x: float = 0.5, y: float = 0.5) -> None:
        """Move the mouse over an element, at a fraction of its width and height."""
        box = self.value(
            f"(() => {{ const e = document.querySelector({selector!r}); "
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); "
            "const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()"
        )
        self.browser.listen(0.3)
        for step in (0.02, 0.0):
            self.send(
                "Input.dispatchMouseEvent",
                type="mouseMoved",
                x=box[0] + box[2] * (x + step),
                y=box[1] + box[3] * (y + step),
            )
            self.browser.listen(0.2)

    def key(self, key: str, code: int, text: str = "") -> None:
        """Press a key."""
        more = {"text": text} if text else {}
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more
            )

    def screenshot(
        self, path: Path, *, whole: bool = False, kind: str = "png", quality: int = 80, scale: float = 1.0
    ) -> None:
        """Save a picture of the window, or of the whole page."""
        parameters: dict[str, Any] = {"format": kind, "captureBeyondViewport": whole}
        if kind != "png":
            parameters["quality"] = quality
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {
                "x": 0,
                "y": 0,
                "width": size["width"],
                "height": size["height"],
                "scale": scale,
            }
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", **parameters)["data"]))

    def pdf(self, path: Path) -> None:
        """Print to a PDF file."""
        answer = self.send("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(answer["data"]))


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    """A Chromium with a new, empty profile, ended and removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="dpmarkov-chromium-", ignore_cleanup_errors=True) as profile:
        browser = Browser(Path(profile))
        try:
            yield browser
        finally:
            browser.close()
