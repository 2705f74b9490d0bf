"""Steps of a decision: which rule of an assignor did what with a task, for who explains an answer to people.

An assignor of any kind may have a method ``traced`` beside ``assign``, with the same arguments: it answers the same,
and tells its steps as well. Nobody has to have one, and ``assign`` need not know of it.
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
    """One step with one task.

    Args:
        rule: Id of the rule: lower-case words with dashes, which the assignor's documentation has a heading for.
        task: The task or job, as a text.
        text: What the rule did and why, one sentence without its full stop; ``{0}``, ``{1}``, ... stand for clients,
            and nothing else in it means anything.
        clients: Ids of those clients, as texts: of processes, members or workers.
    """

    rule: str
    task: str
    text: str
    clients: tuple[str, ...] = ()

    def words(self, name: Callable[[str], str] = str) -> str:
        """The sentence with names of clients in it.

        Args:
            name: Client to its name.
        """
        # Not str.format(): a text may come from anywhere, and "{0:>999999999}" would be as long as it says.
        return _CLIENT.sub(lambda found: self._named(found, name), self.text)

    def _named(self, found: re.Match[str], name: Callable[[str], str]) -> str:
        place = int(found[1])
        return name(self.clients[place]) if place < len(self.clients) else found[0]


_CLIENT = re.compile(r"\{([0-9]{1,3})\}")


@attrs.frozen
class Traced(Generic[A]):
    """An answer with the steps that led to it.

    Args:
        answer: What ``assign`` answers to the same.
        steps: The steps, in the order in which they were taken.
        rules: Id of a rule to what it says, in a sentence or two, for those who do not know it; rules may be left out.
    """

    answer: A
    steps: Sequence[RuleStep]
    rules: Mapping[str, str] = attrs.field(factory=dict)
