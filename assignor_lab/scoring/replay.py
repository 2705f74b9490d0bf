"""The command that shows one state of a run again, and nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import attrs

__all__ = ["Replay"]


@attrs.frozen
class Replay:
    """What of a command line decides its states.

    A history is made again from family and seed, so that its command does not depend on what else was scored. A
    scenario is found by its number among all that the sources hold.

    Args:
        sources: Sources as they were named.
        config: Words that give the configuration, such as ``-c key=value``.
        out: Folder that the command writes to.
        variants: Name to text of those who compete with settings of their own.
    """

    sources: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    out: str = "replay"
    variants: Mapping[str, str] = attrs.field(factory=dict)

    def command(self, item: int, number: int, family: str | None, seed: int | None, assignors: Sequence[str]) -> str:
        """The command, quoted for a POSIX shell.

        Args:
            item: Number of the history or scenario in the run.
            number: The round.
            family: What made the history, or ``None``.
            seed: Its seed, or ``None``.
            assignors: Who is asked.
        """
        if family is not None:
            state = ["--families", family, "--seed", str(seed or 0), "--count", "1", "--only-round", str(number)]
        else:
            state = [*self.sources, "--only-item", str(item), *(["--only-round", str(number)] if number else [])]
        names = [
            word
            for name in assignors
            for word in (("--variant", self.variants[name]) if name in self.variants else ("--assignor", name))
        ]
        return shlex.join(["assignor", "score", *state, *names, *self.config, "--out", self.out])
