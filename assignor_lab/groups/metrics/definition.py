"""The definition of a metric: a function of a placement with its unit, direction and words."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Generic, Literal, Protocol, TypeVar

import attrs

from assignment_api.plugins import MetricPlugin

__all__ = ["Definition", "Direction", "OfView", "derived", "metric", "plugins_of"]

Direction = Literal["lower", "higher", "none"]

V = TypeVar("V")
#: A figure of any group's placement is one of each kind's, too.
V_contra = TypeVar("V_contra", contravariant=True)
T = TypeVar("T")


@attrs.frozen
class Definition(Generic[V_contra]):
    """A metric before it is that of a kind of group.

    Args:
        figure: The figure for one placement, or ``None`` where the state does not tell.
        name: Name of the column.
        group: Heading in reports.
        unit: What is counted.
        direction: Which way is better.
        summary: One sentence that a user understands.
        unavoidable: What no assignor can avoid.
    """

    figure: Callable[[V_contra], float | None]
    name: str
    group: str
    unit: str
    direction: Direction
    summary: str
    unavoidable: str = ""


def metric(
    group: str, unit: str, direction: Direction, unavoidable: str = ""
) -> Callable[[Callable[[V], float | None]], Definition[V]]:
    """Makes a definition of the decorated function: its name is the metric's, its docstring's first line the summary.

    Args:
        group: Heading in reports.
        unit: What is counted.
        direction: Which way is better.
        unavoidable: What no assignor can avoid.
    """

    def make(figure: Callable[[V], float | None]) -> Definition[V]:
        name = getattr(figure, "__name__", "")
        summary = (inspect.getdoc(figure) or "").partition("\n")[0]
        return Definition(figure, name, group, unit, direction, summary, unavoidable)

    return make


def plugins_of(
    definitions: Iterable[Definition[V]],
    view: Callable[..., V],
    kind: Literal["streams", "streams-group"],
    is_told: Callable[[V], bool] | None = None,
) -> tuple[MetricPlugin, ...]:
    """The definitions as metrics of a kind of group, in their order.

    Args:
        definitions: What is measured.
        view: Makes the placement that they read of what a metric of that kind takes.
        kind: The kind.
        is_told: Whether the state of a placement tells what all of them need; where not, each figure is ``None``.
    """
    return tuple(_plugin(definition, OfView(definition.figure, view, is_told), kind) for definition in definitions)


class OfView(Generic[V]):
    """What computes a metric: a figure of a view of what was asked and answered.

    Who computes many metrics of one answer may make the view once, and ask ``figure`` of it.

    Args:
        figure: The figure for one view, or ``None``.
        view: Makes the view.
        is_told: Whether there can be a figure of a view; ``None``: only the figure itself says so.
    """

    def __init__(
        self, figure: Callable[[V], float | None], view: Callable[..., V], is_told: Callable[[V], bool] | None = None
    ) -> None:
        self.figure = figure
        self.view = view
        self.is_told = is_told
        self.__doc__ = figure.__doc__

    def __call__(self, *asked: Any) -> float | None:
        """The figure for what was asked and answered."""
        return self.figure(self.view(*asked))


def _plugin(definition: Definition[V], compute: OfView[V], kind: Literal["streams", "streams-group"]) -> MetricPlugin:
    return MetricPlugin(
        definition.name,
        definition.unit,
        definition.direction,
        definition.summary,
        compute,
        definition.group,
        definition.unavoidable,
        kind=kind,
    )


class _Remembering(Protocol):
    """A view of a state or an answer that keeps what was derived of it."""

    @property
    def memory(self) -> dict[Any, Any]:
        """What was derived of it, by who derived it."""


R = TypeVar("R", bound=_Remembering)


def derived(derive: Callable[[R], T]) -> Callable[[R], T]:
    """Has what ``derive`` makes of a view made once for each view, however many metrics ask; nobody may change it."""

    @wraps(derive)
    def remembered(view: R) -> T:
        memory = view.memory
        try:
            known: T = memory[derive]
        except KeyError:
            known = memory[derive] = derive(view)
        return known

    return remembered
