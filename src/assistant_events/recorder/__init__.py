"""The producing side: verbs in, legal events out. Where authors of adapters live."""

from assistant_events.recorder.recorder import Recorder

__all__ = ["Recorder"]
