"""Files of episodes: common rules of all kinds of groups."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import BinaryIO, TypeVar

from assignor_lab.documents.shapes import Mismatch, faults_at
from assignor_lab.scenarios import DocumentFormatError, Scenario, read_scenarios

__all__ = ["check_kind", "episodes_in"]

E = TypeVar("E")


def episodes_in(source: str | PathLike[str] | BinaryIO, read: Callable[[Scenario], E]) -> list[E]:
    """All episodes of a file.

    Raises:
        DocumentFormatError: if the file cannot be read or is empty, and as ``read`` does.
    """
    episodes = [read(scenario) for scenario in read_scenarios(source)]
    if not episodes:
        name = source if isinstance(source, str) else getattr(source, "name", "<stream>")
        raise DocumentFormatError(str(name), None, "", "holds no episode")
    return episodes


def check_kind(scenario: Scenario, kind: str) -> None:
    with faults_at(scenario.place):
        if scenario.kind != kind:
            made = kind.removesuffix("-episode") == scenario.kind
            hint = ": single states are no history; assignor import-episode makes one of a recording" if made else ""
            raise Mismatch(f'is of kind "{scenario.kind}"; this command reads kind "{kind}"{hint}', "kind")
