"""
Installs the official clients that the tests drive, and the libraries that the benchmarks compare with.

Python clients go each into a directory of its own, `.venv/clients/<name>` from requirements/clients/<name>.txt, because
they exclude each other; with the argument `javascript`, npm puts the others where node looks for them. With `peers`,
each line of requirements/bench.txt is installed into `.venv/peers/<name>`. `pins` works out anew what surrounds the
clients. What cannot be installed is not a failure: its tests skip, or the benchmarks leave it out, with the reason.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

PINS = Path("requirements/clients")
INSTALLED = Path(".venv/clients")
STAMP = Path(".venv/clients.stamp")
PEERS = Path(".venv/peers")
PEER_PINS = Path("requirements/bench.txt")
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
            recipes = {path.stem: path.read_text(encoding="utf-8") for path in PINS.glob("*.txt")}
            if install(INSTALLED, recipes, ["--no-deps"], "its tests skip"):
                STAMP.touch()
            return 0
        case ["peers"]:
            lines = [line for line in PEER_PINS.read_text(encoding="utf-8").splitlines() if "==" in line]
            install(PEERS, {re.split(r"[\[=]", line)[0]: line for line in lines}, [], "the benchmarks leave it out")
            return 0
        case ["javascript"]:
            return install_javascript()
        case ["pins"]:
            return pin() or pin_javascript()
        case _:
            print("usage: python scripts/clients.py [javascript | peers | pins]", file=sys.stderr)
            return 2


def install(folder: Path, recipes: dict[str, str], how: list[str], consequence: str) -> bool:
    """
    Install what is missing or out of date, all at the same time, and return whether everything is there.

    *recipes* has the requirements of each directory in *folder* under its name.
    """
    # For this interpreter, and exactly these requirements.
    recipes = {name: f"# for {sys.implementation.cache_tag}\n{text}" for name, text in sorted(recipes.items())}
    missing = {name: recipe for name, recipe in recipes.items() if not is_installed(folder / name, recipe)}
    if missing:
        say(f"installing {', '.join(missing)} into {folder} (about half a minute, once)")
    began = time.monotonic()
    running = {name: start(folder / name, recipe, how) for name, recipe in missing.items()}
    failed = [name for name, pip in running.items() if not finish(folder / name, missing[name], pip)]
    for name in failed:
        say(f"pip could not install {name}: {folder / name}.log says why; {consequence}")
    if missing and not failed:
        say(f"ready ({time.monotonic() - began:.0f} s)")
    return not failed


def is_installed(target: Path, recipe: str) -> bool:
    """
    Return whether the directory was made from *recipe*, to its end.
    """
    done = target / "pins.txt"
    return done.is_file() and done.read_text(encoding="utf-8") == recipe


def start(target: Path, recipe: str, how: list[str]) -> subprocess.Popen[bytes]:
    """
    Start pip on *recipe*, with what it prints in a file.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    pins = Path(f"{target}.txt")
    pins.write_text(recipe, encoding="utf-8")
    command = ["install", *how, "--retries", "2", "--progress-bar", "off", "--target", str(target), "-r", str(pins)]
    with Path(f"{target}.log").open("wb") as log:
        return subprocess.Popen([*PIP, *command], stdout=log, stderr=subprocess.STDOUT)


def finish(target: Path, recipe: str, pip: subprocess.Popen[bytes]) -> bool:
    """
    Wait for *pip* and return whether it succeeded.
    """
    if pip.wait() != 0:
        return False
    (target / "pins.txt").write_text(recipe, encoding="utf-8")
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
        name = path.stem.rpartition("-")[0]
        [client] = [line for line in lines if line.startswith(f"{name}==")]
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
