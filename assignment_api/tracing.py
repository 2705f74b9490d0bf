"""Steps of a decision: the effect of each rule on a task, for explanations to people.

An assignor of any kind may have a method ``traced`` in addition to ``assign``, with the same arguments. It returns the
same answer with its steps. The method is optional, and ``assign`` need not use it.
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
        rule: Id of the rule: lower-case words with dashes, and a heading in the assignor's documentation.
        task: The task or job, as a text.
        text: Effect and reason, one sentence without its full stop. ``{0}``, ``{1}``, ... stand for clients; other
            braces have no meaning.
        clients: Ids of those clients, as texts: of processes, members or workers.
    """

    rule: str
    task: str
    text: str
    clients: tuple[str, ...] = ()

    def words(self, name: Callable[[str], str] = str) -> str:
        """The sentence with names of clients.

        Args:
            name: Client to its name.
        """
        # Not str.format(): the text is untrusted, and "{0:>999999999}" would use that much memory.
        return _CLIENT.sub(lambda found: self._named(found, name), self.text)

    def _named(self, found: re.Match[str], name: Callable[[str], str]) -> str:
        place = int(found[1])
        return name(self.clients[place]) if place < len(self.clients) else found[0]


_CLIENT = re.compile(r"\{([0-9]{1,3})\}")


@attrs.frozen
class Traced(Generic[A]):
    """An answer with its steps.

    Args:
        answer: The answer of ``assign`` to the same input.
        steps: The steps, in order.
        rules: Id of a rule to its explanation, one or two sentences; rules may be left out.
    """

    answer: A
    steps: Sequence[RuleStep]
    rules: Mapping[str, str] = attrs.field(factory=dict)
