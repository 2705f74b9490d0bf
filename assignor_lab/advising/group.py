"""The group that an advice is for: the differences of Streams and Connect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from assignor_lab.advising.configurations import Configuration
from assignor_lab.advising.days import Day
from assignor_lab.advising.figures import DayCost
from assignor_lab.advising.forms import Forms
from assignor_lab.advising.mix import Mix

__all__ = ["AdvisedGroup"]


class AdvisedGroup(Protocol):
    """A group under its present configuration, playable under others."""

    @property
    def instances(self) -> int: ...

    @property
    def sessions(self) -> Mapping[str, int]:
        """Setting of a session timeout to its present milliseconds."""

    @property
    def restarts_ms(self) -> tuple[int, int] | None:
        """Bounds of 90 % of the restarts, from the close of an instance to its first join; ``None``: not static."""

    def session_ms(self, configuration: Configuration) -> int:
        """Session timeout of its members under a configuration."""

    @property
    def judges(self) -> bool:
        """True if the second part of the past judges the advice, too."""

    def played(self, day: Day, mix: Mix, configuration: Configuration, present: Configuration, seed: str) -> DayCost:
        """Plays a day; the seed is the same for all configurations.

        Raises:
            AssignorLabError: a subclass, if the configuration does not allow a play.
        """

    def replayed(self, configuration: Configuration, present: Configuration, seed: int) -> DayCost: ...

    def forms(self, changes: Mapping[str, str]) -> Forms: ...
