"""The peers in Python: one warm process each, so that neither the interpreter's start nor its imports are counted."""

import json
import select
import subprocess
from pathlib import Path

from .clock import Skipped, TooSlow

WORKER = Path(__file__).with_name("worker.py")


class Peer:
    """A process of `worker.py`; each call is one function there."""

    def __init__(self, python, log, timeout=300):
        self.python, self.log, self.timeout = python, log, timeout
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def call(self, function, **arguments):
        """The function's answer; a failure, or taking too long, is a reason to skip it."""
        if self.python is None:
            raise Skipped("the peers' environment could not be made")
        if self.process is None:
            self.start()
        self.process.stdin.write(json.dumps({"function": function, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.timeout)
        if not ready:
            self.stop()
            raise TooSlow(f"took more than {self.timeout:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            self.stop()
            raise Skipped(f"ended without an answer (see {self.log})")
        result = json.loads(line)
        if "failed" in result:
            raise Skipped(result["failed"])
        return result

    def start(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([self.python, WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None
