"""Rules of the streams protocol that differ between released versions of the broker."""

from __future__ import annotations

import attrs

from assignment_api.releases import KafkaRelease, holds, release_named

__all__ = ["KAFKA_4_3", "KAFKA_4_4", "Release", "broker_of"]


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


def broker_of(release: KafkaRelease) -> Release:
    """The rules of a release, from the table of all releases."""
    return Release(
        release.line,
        shows_targets=holds("brokers_show_targets", release),
        shows_offsets=holds("brokers_show_offsets", release),
        own_copy_blocks=holds("own_copy_blocks", release),
        has_static_members=holds("static_streams_members", release),
        forgets_interval=holds("forgets_assignment_interval", release),
    )


KAFKA_4_3, KAFKA_4_4 = broker_of(release_named("4.3")), broker_of(release_named("4.4"))
