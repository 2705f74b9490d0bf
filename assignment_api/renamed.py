"""Old names of public classes; they warn with ``DeprecationWarning``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["renamed"]

#: ``assignment_api.group`` has other classes of the old names.
_RENAMED = {"GroupAssignment": "ConsumerAssignments", "MemberAssignment": "ConsumerAssignment"}


def renamed(module: str, names: Mapping[str, Any]) -> Callable[[str], Any]:
    """``__getattr__`` of a module with renamed classes; ``names``: its present ones."""

    def attribute(name: str) -> Any:
        new = _RENAMED.get(name)
        if new is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(f"{module}.{name} is now {module}.{new}", DeprecationWarning, stacklevel=2)
        return names[new]

    return attribute
