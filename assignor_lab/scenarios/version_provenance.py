"""The release of Kafka Streams that decided an imported state, and sentences on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from assignment_api.releases import RELEASE_KEY, read_release

__all__ = ["OTHER_RULES", "deciding_release", "of_other_rules", "of_two_releases", "shown_release"]

#: Start of the sentence.
OTHER_RULES = "release with other rules:"
#: First release with the present rules for standbys.
_FIRST = (2, 7)


def deciding_release(versions: Mapping[str, str], leader: str | None) -> str | None:
    """The release of the leader, or else the most frequent one; ``None``: unknown.

    Args:
        versions: Client id of an instance to its release.
        leader: Member id of the group's leader.
    """
    known = {client: version for client, version in versions.items() if read_release(version) is not None}
    if not known:
        return None
    of_leader = [client for client in known if leader is not None and leader.startswith(f"{client}-")]
    if of_leader:
        return known[max(of_leader, key=len)]
    return Counter(known.values()).most_common(1)[0][0]


def shown_release(versions: Mapping[str, str], leader: str | None) -> tuple[dict[str, str], list[str]]:
    """The setting with the release that decides, if it is known, and sentences on the instances' releases.

    Args:
        versions: Client id of an instance to its release.
        leader: Member id of the group's leader.
    """
    decides = deciding_release(versions, leader)
    sentences = (of_other_rules(versions.values()), of_two_releases(versions.values(), decides))
    return {} if decides is None else {RELEASE_KEY: decides}, [each for each in sentences if each is not None]


def of_two_releases(versions: Iterable[str], decides: str | None) -> str | None:
    """A sentence if the instances of a group run several releases: the leader decides."""
    several = sorted({version for version in versions if read_release(version) is not None})
    if len(several) < 2:
        return None
    return (
        f"the instances run Kafka Streams {' and '.join(several)}: the leader decides, here as Kafka {decides} "
        "(each decision has the release of its own leader)"
    )


def of_other_rules(versions: Iterable[str]) -> str | None:
    """A sentence on the oldest of some releases, or ``None`` if all of them place tasks by the lab's rules."""
    known = {version: tuple(int(part) for part in version.split(".")[:2]) for version in versions if _is_read(version)}
    if not known or min(known.values()) >= _FIRST:
        return None
    oldest = min(known, key=known.__getitem__)
    return (
        f"{OTHER_RULES} the instances run Kafka Streams {oldest}, and releases before 2.7 place standbys by another "
        "rule, which the lab does not have: log a decision of release 2.7 or later"
    )


def _is_read(version: str) -> bool:
    parts = version.split(".")[:2]
    return len(parts) == len(_FIRST) and all(part.isascii() and part.isdecimal() for part in parts)
