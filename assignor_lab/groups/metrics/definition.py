"""The definition of a metric: a function of a placement with its unit, direction and wording."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Generic, Literal, Protocol, TypeVar

import attrs

from assignment_api.plugins import MetricPlugin

__all__ = ["MetricDefinition", "Direction", "OfView", "derived", "metric", "plugins_of"]

Direction = Literal["lower", "higher", "none"]

V = TypeVar("V")
#: A figure of any group's placement is a figure of each kind's, too.
V_contra = TypeVar("V_contra", contravariant=True)
T = TypeVar("T")


@attrs.frozen
class MetricDefinition(Generic[V_contra]):
    """A metric before it belongs to a kind of group.

    Args:
        unavoidable: The part that no assignor can avoid.
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
) -> Callable[[Callable[[V], float | None]], MetricDefinition[V]]:
    """Turns the decorated function into a definition: its name is the metric's, its docstring's first line the summary.

    Arguments are those of :class:`MetricDefinition`.
    """

    def make(figure: Callable[[V], float | None]) -> MetricDefinition[V]:
        name = getattr(figure, "__name__", "")
        summary = (inspect.getdoc(figure) or "").partition("\n")[0]
        return MetricDefinition(figure, name, group, unit, direction, summary, unavoidable)

    return make


def plugins_of(
    definitions: Iterable[MetricDefinition[V]],
    view: Callable[..., V],
    kind: Literal["streams", "streams-group", "consumer", "consumer-group", "share-group"],
    is_known: Callable[[V], bool] | None = None,
) -> tuple[MetricPlugin, ...]:
    """The definitions as metrics of a kind of group, in their order.

    ``view`` returns the placement for the arguments of a metric of that kind.
    """
    return tuple(_plugin(definition, OfView(definition.figure, view, is_known), kind) for definition in definitions)


class OfView(Generic[V]):
    """Computes a metric: a figure of a view of state and answer.

    A caller with many metrics of one answer may create the view once, and call ``figure`` with it.

    Args:
        is_known: True if a view can have a figure; ``None``: only the figure itself decides.
    """

    def __init__(
        self, figure: Callable[[V], float | None], view: Callable[..., V], is_known: Callable[[V], bool] | None = None
    ) -> None:
        self.figure = figure
        self.view = view
        self.is_known = is_known
        self.__doc__ = figure.__doc__

    def __call__(self, *arguments: Any) -> float | None:
        return self.figure(self.view(*arguments))


def _plugin(
    definition: MetricDefinition[V],
    compute: OfView[V],
    kind: Literal["streams", "streams-group", "consumer", "consumer-group", "share-group"],
) -> MetricPlugin:
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
    """A view of a state or an answer with a cache of derived values."""

    @property
    def memory(self) -> dict[Any, Any]: ...


R = TypeVar("R", bound=_Remembering)


def derived(derive: Callable[[R], T]) -> Callable[[R], T]:
    """Calls ``derive`` once for each view, and caches its value for all metrics; the value must not be changed."""

    @wraps(derive)
    def remembered(view: R) -> T:
        memory = view.memory
        try:
            known: T = memory[derive]
        except KeyError:
            known = memory[derive] = derive(view)
        return known

    return remembered
