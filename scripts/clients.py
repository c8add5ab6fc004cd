"""
Installs the official clients that the tests drive.

Python clients go each into a directory of its own, `.venv/clients/<name>` from requirements/clients/<name>.txt, because
they exclude each other; with the argument `javascript`, npm puts the others where node looks for them. `pins` works out
anew what surrounds the clients. A client that cannot be installed is not a failure: its tests skip with the reason.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

PINS = Path("requirements/clients")
INSTALLED = Path(".venv/clients")
STAMP = Path(".venv/clients.stamp")
CLIENT = "google-genai"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]

JAVASCRIPT = Path("tests/official/javascript")
LOCK = JAVASCRIPT / "package-lock.json"
MODULES = JAVASCRIPT / "node_modules"
NPM = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"]


def main(arguments: list[str]) -> int:
    """
    Do what *arguments* ask for and return the exit code.
    """
    match arguments:
        case []:
            return install()
        case ["javascript"]:
            return install_javascript()
        case ["pins"]:
            return pin() or pin_javascript()
        case _:
            print("usage: python scripts/clients.py [javascript | pins]", file=sys.stderr)
            return 2


def install() -> int:
    """
    Install the Python clients that are missing or out of date, all at the same time.
    """
    missing = [path for path in sorted(PINS.glob("*.txt")) if not is_installed(path)]
    if missing:
        say(f"installing {', '.join(path.stem for path in missing)} into {INSTALLED} (about half a minute, once)")
    began = time.monotonic()
    running = [(path, start(path)) for path in missing]
    failed = [path.stem for path, pip in running if not finish(path, pip)]
    for name in failed:
        say(f"pip could not install {name}: {INSTALLED / name}.log says why; its tests skip")
    if not failed:
        STAMP.touch()
        if missing:
            say(f"ready ({time.monotonic() - began:.0f} s)")
    return 0


def is_installed(pins: Path) -> bool:
    """
    Return whether the directory holds exactly the *pins*, for this interpreter.
    """
    recipe = INSTALLED / pins.stem / "pins.txt"
    return recipe.is_file() and recipe.read_text(encoding="utf-8") == recipe_of(pins)


def recipe_of(pins: Path) -> str:
    """
    Return what a finished directory remembers of how it was made.
    """
    return f"# for {sys.implementation.cache_tag}\n" + pins.read_text(encoding="utf-8")


def start(pins: Path) -> subprocess.Popen[bytes]:
    """
    Start pip on *pins*, with what it prints in a file.
    """
    target = INSTALLED / pins.stem
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    how = ["install", "--no-deps", "--retries", "2", "--progress-bar", "off", "--target", str(target), "-r", str(pins)]
    with Path(f"{target}.log").open("wb") as log:
        return subprocess.Popen([*PIP, *how], stdout=log, stderr=subprocess.STDOUT)


def finish(pins: Path, pip: subprocess.Popen[bytes]) -> bool:
    """
    Wait for *pip* and return whether it succeeded.
    """
    if pip.wait() != 0:
        return False
    (INSTALLED / pins.stem / "pins.txt").write_text(recipe_of(pins), encoding="utf-8")
    return True


def install_javascript() -> int:
    """
    Install the pins of package-lock.json, unless they are there.
    """
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        say("node and npm are not installed (node 20 or newer is needed); the tests of the JavaScript clients skip")
        return 0
    done = MODULES / "installed-lock.json"
    if done.is_file() and done.read_bytes() == LOCK.read_bytes():
        return 0
    say(f"installing the JavaScript clients into {MODULES} (about half a minute, once)")
    began = time.monotonic()
    ran = subprocess.run([npm, "ci", *NPM], cwd=JAVASCRIPT, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        shutil.rmtree(MODULES, ignore_errors=True)
        say("npm could not install the JavaScript clients; their tests skip. The end of what it says:")
        print("\n".join(ran.stderr.splitlines()[-8:]), file=sys.stderr)
        return 0
    done.write_bytes(LOCK.read_bytes())
    say(f"ready ({time.monotonic() - began:.0f} s)")
    return 0


def pin() -> int:
    """
    Write each file of requirements anew: its comments, the version of the client in it, and what that needs today.
    """
    for path in sorted(PINS.glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        [client] = [line for line in lines if line.startswith(f"{CLIENT}==")]
        print(f"pins: resolving {client}", file=sys.stderr, flush=True)
        how = ["install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-", client]
        ran = subprocess.run([*PIP, *how], stdout=subprocess.PIPE, check=False)
        if ran.returncode != 0:
            return ran.returncode
        found = [entry["metadata"] for entry in json.loads(ran.stdout)["install"]]
        pins = sorted((f"{each['name']}=={each['version']}" for each in found), key=str.lower)
        comments = [line for line in lines if line.startswith("#")]
        path.write_text("\n".join([*comments, *pins]) + "\n", encoding="utf-8")
    return 0


def pin_javascript() -> int:
    """
    Write package-lock.json anew from package.json, with nothing in it that names a host.
    """
    npm = shutil.which("npm")
    if npm is None:
        print(f"pins: {LOCK} stays as it is, because npm is not installed", file=sys.stderr)
        return 0
    print(f"pins: resolving {JAVASCRIPT / 'package.json'}", file=sys.stderr, flush=True)
    how = ["install", "--package-lock-only", "--omit-lockfile-registry-resolved", *NPM]
    # Elsewhere, because beside installed modules npm leaves out their checksums.
    with TemporaryDirectory() as folder:
        shutil.copy(JAVASCRIPT / "package.json", folder)
        ran = subprocess.run([npm, *how], cwd=folder, check=False)
        if ran.returncode != 0:
            return ran.returncode
        lock = json.loads((Path(folder) / LOCK.name).read_bytes())
    for package in lock["packages"].values():
        package.pop("funding", None)
    LOCK.write_text(json.dumps(lock, indent=2) + "\n", encoding="utf-8")
    return 0


def say(text: str) -> None:
    """
    Print *text* beside what make prints.
    """
    print(f"clients: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        say("interrupted; the next make starts over")
        sys.exit(130)
