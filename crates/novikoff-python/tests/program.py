"""The program, which models are compared with."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def path():
    """Where the program is: as NOVIKOFF says, built from this tree, or on the PATH."""
    given = os.environ.get("NOVIKOFF")
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[3] / "target"))
    built = [target / profile / "novikoff" for profile in ("release", "debug")]
    built = sorted((one for one in built if one.exists()), key=lambda one: -one.stat().st_mtime)
    return given or (str(built[0]) if built else shutil.which("novikoff"))


def run(*arguments, fails=False):
    """What the program prints."""
    program = path()
    if program is None:
        pytest.skip("the program is not built: cargo build -p novikoff-cli, or say where it is with NOVIKOFF")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert fails or done.returncode == 0, done.stderr
    return done.stdout if not fails else done.stderr


def train(data, *options):
    """The bytes of the model that the program trains."""
    model = Path(data).with_suffix(".model")
    run("train", data, "-o", model, *options)
    return model.read_bytes()
