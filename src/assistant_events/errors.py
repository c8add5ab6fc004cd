"""
Every error that the library raises on its own account.

One tree below `AssistantEventsError`. `LocalProtocolError` is the caller's doing, `RemoteProtocolError` the provider's.
Errors keep data as attributes and build their text in `__str__`; no text ever holds a value out of a `State`.
"""

from __future__ import annotations


class AssistantEventsError(Exception):
    """Base of all errors of this library."""


class LocalProtocolError(AssistantEventsError):
    """The caller did something that the order of events does not allow."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RemoteProtocolError(AssistantEventsError):
    """
    A provider's answer could not be used.

    Decoders never raise it. `AssistantMessage.raise_for_error` raises a subclass; where the app's own source of bytes
    raises it, it becomes the error of the message.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class JsonError(AssistantEventsError, ValueError):
    """Bytes or text that are not a JSON document this library accepts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StructureError(AssistantEventsError, ValueError):
    """
    A stored or received document does not have the shape of what it claims to be.

    `path` names the place in the document, from `$` down, for example `$.usage.input_tokens`.
    """

    def __init__(self, path: str, expected: str, got: str) -> None:
        super().__init__(path, expected, got)
        self.path = path
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.got}"


class UnknownDialectError(AssistantEventsError, LookupError):
    """No adapter of the dialect that was asked for is installed, or not the *part* of it that is named."""

    def __init__(self, name: str, known: tuple[str, ...], part: str = "") -> None:
        super().__init__(name, known, part)
        self.name = name
        self.known = known
        self.part = part

    def __str__(self) -> str:
        listed = ", ".join(self.known) or "none"
        if self.part:
            return f"no {self.part} of dialect {self.name!r}; installed {self.part}s: {listed}"
        return f"unknown dialect {self.name!r}; installed: {listed}"


class AdapterError(AssistantEventsError):
    """An entry point of a dialect cannot be used: it does not load, or names an object of another class."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason

    def __str__(self) -> str:
        return f"adapter {self.name!r}: {self.reason}"


class FixtureError(AssistantEventsError, ValueError):
    """
    The configured answers of a mock provider are not valid.

    `others` holds what else is wrong, so that all of it can be put right at once.
    """

    def __init__(self, file: str, entry: str, field: str, reason: str, others: tuple[FixtureError, ...] = ()) -> None:
        super().__init__(file, entry, field, reason, others)
        self.file = file
        self.entry = entry
        self.field = field
        self.reason = reason
        self.others = others

    @property
    def line(self) -> str:
        """The problem at this place, without the others: one line, whatever names a file has."""
        text = ": ".join([part for part in (self.file, self.entry, self.field, self.reason) if part])
        return "\\n".join(text.splitlines())

    def __str__(self) -> str:
        # All of them: a test shows nothing else, and the first is not always the most helpful one.
        return "\n".join([problem.line for problem in (self, *self.others)])


class StoreError(AssistantEventsError):
    """A store could not do what was asked."""

    def __init__(self, reason: str, *arguments: object) -> None:
        super().__init__(*arguments or (reason,))  # those of a subclass, which pickle calls with them
        self.reason = reason


class ConflictError(StoreError):
    """Another writer appended first: the log does not end where the writer expected it."""

    def __init__(self, session_id: str, expected_seq: int, actual_seq: int) -> None:
        super().__init__("conflict", session_id, expected_seq, actual_seq)
        self.session_id = session_id
        self.expected_seq = expected_seq
        self.actual_seq = actual_seq

    def __str__(self) -> str:
        return (
            f"session {self.session_id!r}: expected seq {self.expected_seq}, store holds {self.actual_seq}; "
            "read the new records and try again"
        )


class PrunedError(StoreError):
    """The requested records have been pruned; only a snapshot covers them."""

    def __init__(self, session_id: str, after: int, pruned_to: int) -> None:
        super().__init__("pruned", session_id, after, pruned_to)
        self.session_id = session_id
        self.after = after
        self.pruned_to = pruned_to

    def __str__(self) -> str:
        return (
            f"session {self.session_id!r}: records up to seq {self.pruned_to} are pruned, "
            f"cannot read after {self.after}; start from the snapshot"
        )


class ClaimedError(StoreError):
    """Another living worker holds the claim of the session."""

    def __init__(self, session_id: str, worker: str) -> None:
        super().__init__("claimed", session_id, worker)
        self.session_id = session_id
        self.worker = worker

    def __str__(self) -> str:
        return (
            f"session {self.session_id!r} is claimed by worker {self.worker!r}; "
            "it can be claimed once it is released, or its worker has died"
        )


class OwnerError(StoreError):
    """The session was created with another owner, or without one. The owner never changes."""

    def __init__(self, session_id: str) -> None:
        super().__init__("another owner", session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return (
            f"session {self.session_id!r}: it was created with another owner, or without one; the owner never changes"
        )


class FencedError(StoreError):
    """The writer does not hold the claim of the session any more: its token is refused, now and later."""

    def __init__(self, session_id: str, token: int) -> None:
        super().__init__("fenced", session_id, token)
        self.session_id = session_id
        self.token = token

    def __str__(self) -> str:
        return (
            f"session {self.session_id!r}: token {self.token} is not that of the current claim; "
            "the claim was released, or another worker has taken the session over"
        )
