"""What has to be there: novikoff built for release, the peers installed, the machine described."""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from .clock import Skipped, run
from .peers import Peer


@dataclass
class Tools:
    """Everything that is measured, by path; `None` where it is not to be had, and `reasons` says why."""

    novikoff: str
    checker: str
    library: str
    python: str | None
    read_problem: str | None
    fasttext: str | None
    log: Path
    reasons: dict

    def peer(self, **options):
        return Peer(self.python, self.log, **options)

    def fingerprint(self):
        """Tells novikoff's programs apart: what is known of one does not hold for the next."""
        return hashlib.sha256(Path(self.novikoff).read_bytes()).hexdigest()[:16]

    def versions(self):
        """The peers', by name."""
        try:
            with self.peer() as peer:
                versions = peer.call("versions")["versions"]
        except Skipped as reason:
            versions = {"Python peers": f"skipped ({reason})"}
        debians = {package: debian_version(package) for package in ("liblinear-tools", "fasttext")}
        return {**versions, **debians, "Python": platform.python_version()}


def prepare(bench):
    peers = bench / ".peers"
    peers.mkdir(exist_ok=True)
    log = peers / "log"
    log.write_text("")
    reasons = {}
    print("building novikoff", flush=True)
    novikoff = build(bench.parent, "novikoff", ["--package", "novikoff-cli"])
    checker = build(bench.parent, "novikoff-check", ["--package", "novikoff-checker"])
    library = build(bench, "novikoff-bench", [])
    print("installing the peers", flush=True)
    python = attempt(reasons, "Python peers", lambda: environment(peers, bench / "requirements.txt"))
    read_problem = attempt(reasons, "LIBLINEAR's reading", lambda: liblinear(peers))
    fasttext = attempt(reasons, "fastText", lambda: debian("fasttext", "fasttext"))
    return Tools(novikoff, checker, library, python, read_problem, fasttext, log, reasons)


def attempt(reasons, what, work):
    try:
        return work()
    except Skipped as reason:
        reasons[what] = str(reason)
        print(f"skipped: {what}: {reason}", file=sys.stderr)


def build(folder, name, options):
    """Builds a program for release and says where cargo has put it."""
    command = ["cargo", "build", "--release", "--locked", "--message-format=json-render-diagnostics", *options]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"error: {name} does not build")
    messages = (json.loads(line) for line in done.stdout.splitlines())
    return next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == name)


def environment(peers, requirements):
    """A Python with the peers in it, made anew when their versions have changed."""
    venv, made_of = peers / "venv", peers / "venv" / "made-of"
    wanted = requirements.read_text()
    if not made_of.exists() or made_of.read_text() != wanted:
        shutil.rmtree(venv, ignore_errors=True)
        run([sys.executable, "-m", "venv", str(venv)])
        run([str(venv / "bin" / "pip"), "install", "--quiet", "--requirement", str(requirements)], timeout=1800)
        made_of.write_text(wanted)
    return str(venv / "bin" / "python")


def liblinear(peers):
    """The library that makes `liblinear-train` tell how long its reading took."""
    debian("liblinear-train", "liblinear-tools")
    source, library = Path(__file__).with_name("read_problem.c"), peers / "read_problem.so"
    run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)])
    return str(library)


def debian(program, package):
    """A program of Debian's, installed if it is missing and that may be done."""
    if not shutil.which(program):
        if os.geteuid() != 0:
            raise Skipped(f"there is no {program} (Debian: {package}), and only root may install it")
        run(["apt-get", "install", "--yes", "--no-install-recommends", package], timeout=600)
    return shutil.which(program)


def machine(tools, root):
    """Lines that say what ran, and on what."""
    load = f"load {os.getloadavg()[1]:.1f} over the five minutes before"
    lines = [f"{cpu()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, {date.today().isoformat()}, {load}"]
    versions = tools.versions()
    versions["novikoff"] = novikoff_version(tools, root)
    lines.append(", ".join(f"{name} {version}" for name, version in versions.items()))
    return lines


def cpu():
    try:
        names = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def debian_version(package):
    try:
        return run(["dpkg-query", "--show", "--showformat=${Version}", package])
    except Skipped:
        return "unknown"


def novikoff_version(tools, root):
    version = run([tools.novikoff, "--version"]).split()[-1]
    try:
        return f"{version} ({run(['git', '-C', str(root), 'describe', '--always', '--dirty']).strip()})"
    except Skipped:
        return version
