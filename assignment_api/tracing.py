"""Steps of a decision, for explanations.

An assignor's optional method ``traced`` takes the arguments of ``assign`` and returns the same answer with its steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import attrs

__all__ = ["RuleStep", "Traced"]

A = TypeVar("A")


@attrs.frozen
class RuleStep:
    """One step for one task.

    Args:
        rule: Lower-case words with dashes; a heading in the assignor's documentation.
        task: Task or job.
        text: Effect and reason: a sentence without full stop. ``{0}``, ``{1}``, ... stand for clients; other braces
            have no meaning.
        clients: Ids of processes, members or workers.
    """

    rule: str
    task: str
    text: str
    clients: tuple[str, ...] = ()

    def words(self, name: Callable[[str], str] = str) -> str:
        """The sentence; ``name`` maps a client to its name."""
        # Untrusted text: in str.format() "{0:>999999999}" would use that much memory.
        return _CLIENT.sub(lambda found: self._named(found, name), self.text)

    def _named(self, found: re.Match[str], name: Callable[[str], str]) -> str:
        place = int(found[1])
        return name(self.clients[place]) if place < len(self.clients) else found[0]


_CLIENT = re.compile(r"\{([0-9]{1,3})\}")


@attrs.frozen
class Traced(Generic[A]):
    """An answer with its steps.

    Args:
        answer: As of ``assign``.
        rules: Rule to its explanation, one or two sentences; may be incomplete.
    """

    answer: A
    steps: Sequence[RuleStep]
    rules: Mapping[str, str] = attrs.field(factory=dict)
