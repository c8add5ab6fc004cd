"""
What is installed for the tests of the JavaScript clients.
"""

import json
from pathlib import Path

HERE = Path(__file__).parent


def test_the_lock_names_no_host():
    """
    The exact versions come from the registry that npm is configured for: the lock has checksums and no addresses.
    """
    text = (HERE / "package-lock.json").read_text(encoding="utf-8")
    packages = {name: each for name, each in json.loads(text)["packages"].items() if name}

    assert "://" not in text
    assert all(each["integrity"] for each in packages.values())


def test_every_version_is_exact():
    """
    No version is a range.
    """
    asked = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]

    assert all(version.rpartition("@")[2][0].isdigit() for version in asked.values())
