"""Everything that runs assignors: scenarios, scoring, capture, reports and the command `assignor`.

``open`` gives a real group in notebooks and scripts::

    import assignor_lab as lab

    group = lab.open("my-group.jsonl")
    group.plan("roll")

All other names of this package are internal and may change in each release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assignor_lab.notebook.group import Group
    from assignor_lab.notebook.group import open_group as open  # noqa: A004 - lab.open

__all__ = ["Group", "open"]  # noqa: RUF100

_PLACES = {"Group": "Group", "open": "open_group"}


def __getattr__(name: str) -> Any:
    """Imports the rooms of :class:`Group` when it is used: a command needs few of them."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from assignor_lab.notebook import group

    return getattr(group, _PLACES[name])
