"""Histories that create their scenarios directly, without reading and checking a document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assignor_lab.documents.errors import Place
from assignor_lab.scenarios.scenario import Scenario

__all__ = ["MadeDocument", "ScenarioHistory"]


class ScenarioHistory(ABC):
    """A history of one of the lab's own families; it also has the documents of :class:`assignment_api.plugins.History`.

    Rounds are requested in one way or the other, not in both.
    """

    @abstractmethod
    def scenario(self, number: int, previous: Any, place: Place) -> Scenario:
        """The scenario of the document ``round(number, previous)``, without reading one.

        Scenarios of one history, or of histories with the same seed, share their common parts.
        """

    @abstractmethod
    def forget(self) -> None:
        """Drops everything shared with earlier scenarios, after an assignor changed a state."""


class MadeDocument(Mapping[str, Any]):
    """The document of a scenario that was created without one: its larger parts are created on request."""

    __slots__ = ("_known", "_made")

    def __init__(self, known: dict[str, Any], made: Mapping[str, Callable[[], Any]]) -> None:
        self._known = known
        self._made = made

    def __getitem__(self, key: str) -> Any:
        if key not in self._known:
            self._known[key] = self._made[key]()
        return self._known[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - that is this very method

    def __contains__(self, key: object) -> bool:
        return key in self._known or key in self._made

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._known, *self._made))

    def __len__(self) -> int:
        return len({*self._known, *self._made})
