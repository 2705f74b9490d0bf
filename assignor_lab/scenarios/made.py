"""Histories that make their scenarios themselves, without a document that is read and checked again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assignor_lab.documents.errors import Place
from assignor_lab.scenarios.scenario import Scenario

__all__ = ["MadeDocument", "ScenarioHistory"]


class ScenarioHistory(ABC):
    """A history of a family of the lab's own, besides the documents that :class:`assignment_api.plugins.History` has.

    Rounds are asked for in one way or the other, not in both.
    """

    @abstractmethod
    def scenario(self, number: int, previous: Any, place: Place) -> Scenario:
        """What reading the document of ``round(number, previous)`` gives.

        Scenarios of one history share what they have in common, and so do those of histories of the same seed.
        """

    @abstractmethod
    def forget(self) -> None:
        """Shares nothing any more with scenarios that were made before: somebody has changed a state."""


class MadeDocument(Mapping[str, Any]):
    """The document of a scenario that was made without one: its larger parts are made when they are asked for.

    Args:
        known: The parts that are there.
        made: Makes the others.
    """

    __slots__ = ("_known", "_made")

    def __init__(self, known: dict[str, Any], made: Mapping[str, Callable[[], Any]]) -> None:
        self._known = known
        self._made = made

    def __getitem__(self, key: str) -> Any:
        if key not in self._known:
            self._known[key] = self._made[key]()
        return self._known[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The part called ``key``, or ``default``; without the exception that the base class answers by."""
        return self[key] if key in self else default  # noqa: SIM401 - that is this very method

    def __contains__(self, key: object) -> bool:
        return key in self._known or key in self._made

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._known, *self._made))

    def __len__(self) -> int:
        return len({*self._known, *self._made})
