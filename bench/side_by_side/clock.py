"""Measuring: the least of several times, everybody's turn by turn, so that a slow minute of the machine hits all alike."""

import json
import subprocess
import time

ENOUGH = 15.0  # seconds: who has taken more than this in all, and had a turn or two, needs no more


class Skipped(Exception):
    """Something cannot be measured here; the message says why."""


class TooSlow(Skipped):
    """It took more than the time it was given."""


class Failed(Skipped):
    """A command ended with another code than 0; `told` is all that it said."""

    def __init__(self, message, told):
        super().__init__(message)
        self.told = told


def run(command, env=None, timeout=600):
    """The standard output of a command that must succeed."""
    try:
        done = subprocess.run(command, env=env, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError:
        raise Skipped(f"there is no {command[0]}")
    except subprocess.TimeoutExpired:
        raise TooSlow(f"took more than {timeout:.0f} s")
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Failed(f"{command[0]} failed: {reason}", done.stderr)
    return done.stdout


def answer(command, env=None):
    """The JSON that a command prints; it has measured itself."""
    return json.loads(run(command, env).splitlines()[-1])


def whole(command, timeout=600):
    """Seconds of a whole process, from its start to its end, and what it printed."""
    started = time.perf_counter()
    output = run(command, timeout=timeout)
    return {"seconds": time.perf_counter() - started, "output": output}


def turn_by_turn(contestants, repeat, least=2):
    """Each contestant's fastest answer by name, or the reason why it has none.

    A contestant is a function that answers with a dictionary that has `seconds`. Who is slow has no more than `least` turns."""
    best, skipped, spent = {}, {}, dict.fromkeys(contestants, 0.0)
    for turn in range(repeat):
        for name, contestant in contestants.items():
            if name in skipped or (turn >= least and spent[name] > ENOUGH):
                continue
            try:
                result = contestant()
            except Skipped as reason:
                skipped[name] = str(reason)
                continue
            spent[name] += result["seconds"]
            if name not in best or result["seconds"] < best[name]["seconds"]:
                best[name] = result
    return best, {name: reason for name, reason in skipped.items() if name not in best}
