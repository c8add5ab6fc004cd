"""
Plain JSON and JSON text of everything that is stored or sent between processes.

Built on one cattrs converter. `dumps` and `loads` are for JSON text, `unstructure` and `structure` for plain JSON in
Python, and `json_schema` describes both. `configure_converter` is for converters of classes of your own that hold
events or messages.
"""

from assistant_events.converters.converter import configure_converter, structure, unstructure
from assistant_events.converters.json_text import dumps, loads
from assistant_events.converters.schema import json_schema

__all__ = [
    "configure_converter",
    "dumps",
    "json_schema",
    "loads",
    "structure",
    "unstructure",
]
