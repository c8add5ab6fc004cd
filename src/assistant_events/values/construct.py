"""
Objects of frozen classes that are filled by plain assignment, where they are made by the thousand.
"""

from __future__ import annotations


def draft_of(cls: type) -> type:
    """
    Return a mutable twin of a frozen class.

    Whoever makes an object fills the slots of a new twin with values that are known to be right, and then sets its
    `__class__` to *cls*: a third less than to store through the descriptors of the slots. From then on the object is as
    frozen as any other.
    """
    body = {
        "__slots__": tuple(cls.__dict__["__slots__"]),
        "__init__": object.__init__,
        # Both, or CPython keeps the slow way for assignments.
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,
    }
    return type(f"{cls.__name__}Draft", cls.__bases__, body)
