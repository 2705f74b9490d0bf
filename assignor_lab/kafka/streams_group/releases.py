"""Rules of the streams protocol in which released versions of the broker differ."""

from __future__ import annotations

import attrs

__all__ = ["KAFKA_4_3", "KAFKA_4_4", "Release"]


@attrs.frozen
class Release:
    """A released version of the broker, as far as a streams group can tell.

    Sources: ``streams-group-assignor.md`` and ``streams-group-assignor-4.4.md``, read from the released classes.

    Args:
        name: The version.
        shows_targets: Assignors get members' previous targets as what they have; otherwise what they really have.
        shows_offsets: They get the offsets that members report.
        own_copy_blocks: A member that has a copy of a task is given its active role only after it gave the copy back.
        has_static_members: Members may have a ``group.instance.id``.
        forgets_interval: What a group has when its last member has gone does not count for the assignment interval.
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
