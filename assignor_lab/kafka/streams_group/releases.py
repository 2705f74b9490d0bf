"""Rules of the streams protocol that differ between released versions of the broker."""

from __future__ import annotations

import attrs

__all__ = ["KAFKA_4_3", "KAFKA_4_4", "Release"]


@attrs.frozen
class Release:
    """A released version of the broker, limited to streams groups.

    Sources: ``streams-group-assignor.md`` and ``streams-group-assignor-4.4.md``, read from the released classes.

    Args:
        shows_targets: Assignors receive members' previous targets as their tasks; otherwise their real tasks.
        shows_offsets: Assignors receive the offsets that members report.
        own_copy_blocks: A member with a copy of a task gets its active role only after it has revoked the copy.
        has_static_members: Members may have a ``group.instance.id``.
        forgets_interval: The assignment interval restarts after the last member has left.
    """

    name: str
    shows_targets: bool
    shows_offsets: bool
    own_copy_blocks: bool
    has_static_members: bool
    forgets_interval: bool


KAFKA_4_3 = Release(
    "4.3", shows_targets=True, shows_offsets=False, own_copy_blocks=True, has_static_members=False,
    forgets_interval=False,
)  # fmt: skip
KAFKA_4_4 = Release(
    "4.4", shows_targets=False, shows_offsets=True, own_copy_blocks=False, has_static_members=True,
    forgets_interval=True,
)  # fmt: skip
