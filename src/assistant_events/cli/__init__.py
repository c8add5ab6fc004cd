"""
The command `assistant-events`: recorded streams and stored sessions, looked at from a terminal.

It needs the extra `cli`. What it prints never holds the values of a `State` unless that is asked for.
"""

from assistant_events.cli.entry_point import main

__all__ = ["main"]
