"""`eifel watch`: which retransmissions of this host were needless, live."""

import argparse
import json
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from eifel.cli import FAILED, OK
from eifel.cli.output import VERSIONS, console, note, table
from eifel.errors import BadInputError
from eifel.watch import VERDICTS, Found, line

LARGEST_PORT = 65535

POLL_MS = 200
"""The longest wait for the kernel's facts, so that Ctrl-C and the end of `--seconds` are soon seen."""
SCRAPE_TIMEOUT_S = 5.0
"""A scraper that sends nothing for so long is left."""


def command(options: argparse.Namespace) -> int:
    """Watches until `--seconds` are over, or until Ctrl-C. Returns 1 if a condition of `--fail-if` holds."""
    from eifel import _engine

    try:
        _engine.check_conditions(options.fail_if)
    except _engine.CaptureError as error:
        raise BadInputError(str(error)) from None
    if options.port is not None and options.port > LARGEST_PORT:
        raise BadInputError(f"--port {options.port}: expected a port, at most {LARGEST_PORT}")
    namespace = _inode(options.namespace, "--namespace")
    cgroup = _inode(options.cgroup, "--cgroup")
    found = Found()
    server = _serve(options.listen, found, _engine.watched_causes()) if options.listen else None
    try:
        host = _engine.WatchedHost(options.port, namespace, cgroup, options.without)
    except OSError as error:
        note(f"eifel watch: {error}")
        return FAILED
    for lacking in host.lacking():
        note(f"eifel watch: {lacking}")
    with _asked_to_stop() as stop:
        # A program that starts the watch waits for this line: what happens before it is not seen.
        note("eifel watch: watching")
        _watch(host, found, options, stop)
    if server:
        server.shutdown()
        server.server_close()
    _print_summary(found, options)
    failures = found.failures(options.fail_if)
    for failure in failures:
        note(f"eifel: {failure}")
    return FAILED if failures else OK


def _watch(host: Any, found: Found, options: argparse.Namespace, stop: threading.Event) -> None:
    end = None if options.seconds is None else time.monotonic() + options.seconds
    while not stop.is_set() and (end is None or time.monotonic() < end):
        _take(host, host.poll(POLL_MS), found, options)
    _take(host, host.finish(), found, options)


@contextmanager
def _asked_to_stop() -> Iterator[threading.Event]:
    """Gives what Ctrl-C and SIGTERM set. The second of them ends at once.

    An exception would lose lines that are just written.
    """
    stop = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def on_signal(*_: object) -> None:
        stop.set()
        restore()

    for number in before:
        signal.signal(number, on_signal)
    try:
        yield stop
    finally:
        restore()


def _take(host: Any, rows: str, found: Found, options: argparse.Namespace) -> None:
    judged = json.loads(rows)
    found.add(judged)
    found.counts = json.loads(host.counts())
    for row in judged if not options.quiet else ():
        sys.stdout.write(_marked("watch", row) if options.json else line(row))
    sys.stdout.flush()


def _marked(schema: str, content: Mapping[str, Any]) -> str:
    """Returns a line of JSON with the name and the version of its schema."""
    return json.dumps({"schema": schema, "version": VERSIONS[schema], **content}) + "\n"


def _print_summary(found: Found, options: argparse.Namespace) -> None:
    summary = found.summary(options.top)
    if options.json:
        sys.stdout.write(_marked("watch-summary", summary))
        return
    verdicts = ", ".join(f"{summary[verdict]} {verdict}" for verdict in VERDICTS)
    print(f"{summary['retransmissions']} retransmissions on {summary['connections']} connections: {verdicts}")
    if summary["facts_dropped"]:
        lost = f"{summary['retransmissions_dropped']} retransmissions among them"
        print(f"the kernel's ring had no room for {summary['facts_dropped']} facts, {lost}")
    shown = table(["local", "remote", "retransmissions", *VERDICTS, "bytes", "bytes spurious"], left=2)
    for row in summary["worst"]:
        numbers = (row["retransmissions"], *(row[name] for name in VERDICTS), row["bytes"], row["bytes_spurious"])
        shown.add_row(row["local"], row["remote"], *map(str, numbers))
    if summary["worst"]:
        console().print(shown)


def _inode(path: str | None, option: str) -> int | None:
    """Returns the inode of a file of a namespace, or of the folder of a control group."""
    if path is None:
        return None
    try:
        return Path(path).stat().st_ino
    except OSError as error:
        raise BadInputError(f"{option} {path}: {error.strerror}") from None


def _serve(address: str, found: Found, causes: list[str]) -> ThreadingHTTPServer:
    """Answers scrapes at `/metrics` from a thread, until the server is shut down."""

    class Scraped(BaseHTTPRequestHandler):
        timeout = SCRAPE_TIMEOUT_S

        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404, "only /metrics is here")
                return
            text = found.prometheus(causes).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Keeps standard error for what was found."""

    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > LARGEST_PORT:
        raise BadInputError(f"--listen {address}: expected ADDRESS:PORT, as 127.0.0.1:9760")
    try:
        server = ThreadingHTTPServer((host.strip("[]"), int(port)), Scraped)
    except OSError as error:
        raise BadInputError(f"--listen {address}: {error.strerror or error}") from None
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    note(f"eifel watch: http://{host}:{server.server_address[1]}/metrics")
    return server
