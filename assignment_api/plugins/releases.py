"""Assignors at a release of Kafka: ``NAME@RELEASE``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol, TypeVar

import attrs

from assignment_api.releases import KafkaRelease, UnknownReleaseError, assignor_range, release_named

__all__ = ["at_release", "name_and_release"]


class _FoundAssignor(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def plugin(self) -> Any: ...


F = TypeVar("F", bound=_FoundAssignor)


def name_and_release(selector: str) -> tuple[str, str | None]:
    """A selector without its release, and the text of that. Java assignors have a Kafka of their own behind ``@``."""
    name, separator, release = selector.rpartition("@")
    if not separator or selector.startswith("java:"):
        return selector, None
    return name.strip(), release.strip()


def at_release(found: F, text: str, others: Iterable[F]) -> F:
    """The assignor as a release of Kafka answers: one of ``others`` if that has a name of its own.

    Raises:
        UnknownReleaseError: if the release is unknown, or has no such assignor, or the assignor is none of Kafka.
    """
    release = release_named(text)
    plugin_name: str = found.plugin.name
    answers = assignor_range(plugin_name, release)
    if answers is None:
        raise UnknownReleaseError(
            f"{found.name}@{text}: {found.name} is no assignor of Kafka, so its answers belong to no release: leave "
            f"@{text} out"
        )
    fixed: Callable[[KafkaRelease], object] | None = found.plugin.at_release if answers.of else None
    if fixed is None:
        return found
    for other in others:
        if other.plugin.name == answers.key != plugin_name:
            return other
    plugin = attrs.evolve(found.plugin, factory=partial(fixed, release))
    evolved: F = attrs.evolve(found, name=f"{found.name}@{release.line}", plugin=plugin)  # type: ignore[misc]
    return evolved
