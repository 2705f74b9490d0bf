"""Exports of packages, imported on use (PEP 562), and old names of public classes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

__all__ = ["exported"]

#: Old names of ``assignment_api`` and ``assignment_api.streams``; ``assignment_api.group`` has other classes of these.
RENAMED = {"GroupAssignment": "ConsumerAssignments", "MemberAssignment": "ConsumerAssignment"}


def exported(package: str, names: Collection[str], homes: str, *, has_old_names: bool = False) -> Callable[[str], Any]:
    """``__getattr__`` of a package: a plugin's process imports what its author names, and not the whole contract.

    Args:
        homes: Modules inside the package, cheap ones first; the first one with a name in its ``__all__`` has it.
        has_old_names: True: ``RENAMED`` are found, too, with a ``DeprecationWarning``.
    """

    def attribute(name: str) -> Any:
        for home in homes.split() if name in names else ():
            module = import_module(f"{package}.{home}")
            if name in module.__all__:
                found = getattr(module, name)
                setattr(sys.modules[package], name, found)
                return found
        new = RENAMED.get(name) if has_old_names else None
        if new is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warnings.warn(f"{package}.{name} is now {package}.{new}", DeprecationWarning, stacklevel=2)
        return attribute(new)

    return attribute
