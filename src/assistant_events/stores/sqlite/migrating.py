"""
How a file of an older version comes to have the tables of today.

A migration brings a file from one version to the next, inside the transaction of the caller. One that was ever
released stays.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

MIGRATIONS: Final[Mapping[int, Callable[[sqlite3.Connection], None]]] = {}
"""Migrations by the version that they start from."""
