"""The instances that a plan names, found in the present state."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignment_api import AssignorLabError
from assignor_lab.planning.state import PresentState

__all__ = ["UnknownInstanceError", "named_instances", "new_names", "with_names"]

_DIGITS = "0123456789"


class UnknownInstanceError(AssignorLabError):
    """A plan names an instance that the state does not have."""


def with_names(state: PresentState, wanted: Sequence[str]) -> tuple[PresentState, list[str]]:
    """The state with its instances under the names that a plan gives them, and sentences on assumptions.

    A name is an instance's own name, its process id, its host, or a beginning of one of these that no other has. If
    the source has no names and the plan has one for each instance, those become labels in the order of the members.

    Raises:
        UnknownInstanceError: if a name fits no instance, or more than one.
    """
    if not state.are_known and len(set(wanted)) == len(wanted) == len(state.names) and not _fits_any(state, wanted):
        labels = ", ".join(f"{label} is {name}" for label, name in zip(wanted, state.names, strict=True))
        sentence = (
            f"the source has no names of instances: the given names label its processes in their order ({labels})"
        )
        episode = attrs.evolve(state.episode, names=tuple(wanted))
        return attrs.evolve(state, episode=episode, names=tuple(wanted), are_known=True), [sentence]
    return state, []


def named_instances(state: PresentState, wanted: Sequence[str]) -> list[str]:
    """The instances that names mean, in the order of the names.

    Raises:
        UnknownInstanceError: as :func:`with_names`, and if an instance is named twice.
    """
    found: list[str] = []
    for name in wanted:
        fitting = _fitting(state, name)
        if len(fitting) != 1:
            fault = "fits no instance" if not fitting else f"fits {len(fitting)} instances"
            raise UnknownInstanceError(f"{name!r:.80} {fault}: the group has {', '.join(state.names)}")
        if fitting[0] in found:
            raise UnknownInstanceError(f"{name!r:.80} is named twice: name each instance once")
        found.append(fitting[0])
    return found


def _fits_any(state: PresentState, wanted: Sequence[str]) -> bool:
    return any(_fitting(state, name) for name in wanted)


def _fitting(state: PresentState, name: str) -> list[str]:
    known = [
        (own, str(client.process_id), "" if client.host_info is None else str(client.host_info.host))
        for own, client in zip(state.names, state.episode.clients, strict=True)
    ]
    exact = [each[0] for each in known if name in each]
    return exact or [each[0] for each in known if any(name and of.startswith(name) for of in each)]


def new_names(names: Sequence[str], count: int) -> list[str]:
    """Names for further instances: the next numbers, if the present names end in one."""
    numbered = [_stem_and_number(name) for name in names]
    stems = {stem for stem, _ in numbered}
    if len(stems) == 1 and all(number for _, number in numbered):
        last = max(int(number) for _, number in numbered)
        stem = stems.pop()
        return [f"{stem}{last + number}" for number in range(1, count + 1)]
    return [f"new-{number}" for number in range(1, count + 1)]


def _stem_and_number(name: str) -> tuple[str, str]:
    """A name without its last digits, and those, at most nine."""
    place = max(len(name.rstrip(_DIGITS)), len(name) - 9)
    return name[:place], name[place:]
