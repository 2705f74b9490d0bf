"""The answer of ``assignor check`` in words: terminal, Markdown, JUnit entries, JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from assignor_lab.documents.wording import moment, plain, plural
from assignor_lab.model.comparisons import Verdict
from assignor_lab.model.history import number_noun
from assignor_lab.watching.findings import RULES, Unusual
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.rebalances import WatchedGroup

__all__ = ["CheckedGroup", "finding_columns", "document_of", "gates_of", "markdown_of", "rows_of", "sentence_of"]

_NO_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|!~&])")


@attrs.frozen(eq=False)
class CheckedGroup:
    """A group with its findings."""

    watched: WatchedGroup
    checked: int
    findings: Sequence[Unusual]
    accepted: Sequence[str] = ()

    @property
    def is_ordinary(self) -> bool:
        return all(each.known in self.accepted for each in self.findings)


def sentence_of(group: CheckedGroup) -> str:
    name = group.watched.group or "a group"
    if not group.checked and not group.findings:
        return f"{name}: no rebalance in this part of the past."
    count = plural(group.checked, "rebalance")
    if not group.findings:
        return f"{name}: {count}, none out of the ordinary."
    return f"{name}: {count}, {plural(len(group.findings), 'finding')}."


def finding_columns(group: CheckedGroup) -> tuple[str, ...]:
    return ("TIME", number_noun(group.watched.protocol).upper(), "RULE", "FINDING", "KNOWN AS")


def rows_of(group: CheckedGroup) -> Iterator[tuple[object, ...]]:
    for each in group.findings:
        number = "" if each.generation is None else each.generation
        known = "" if each.known is None else f"{each.known}: {each.remedy}"
        yield moment(each.time_ms), number, each.rule, each.sentence, known


def markdown_of(groups: Iterable[CheckedGroup]) -> str:
    """Names from outside cannot add markup."""
    lines = ["## Rebalances", ""]
    for group in groups:
        lines += [f"{'✅' if group.is_ordinary else '❌'} {_escaped(sentence_of(group))}", ""]
        if group.findings:
            columns = finding_columns(group)
            lines += [f"| {' | '.join(name.capitalize() for name in columns)} |", "|---" * len(columns) + "|"]
            lines += [f"| {' | '.join(_escaped(str(cell)) for cell in row)} |" for row in rows_of(group)]
            lines.append("")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return _NO_MARKUP.sub(r"\\\1", plain(text))


def gates_of(groups: Iterable[CheckedGroup]) -> Iterator[Verdict]:
    for group in groups:
        for rule in RULES:
            own = [each for each in group.findings if each.rule == rule]
            failed = any(each.known not in group.accepted for each in own)
            reason = "; ".join(f"{moment(each.time_ms)} {each.sentence}" for each in own) or "none"
            yield Verdict(
                expression=rule,
                assignor=group.watched.group or "a group",
                status="failed" if failed else "passed",
                states=group.checked,
                reason=reason,
            )


def document_of(groups: Iterable[CheckedGroup], limits: WatchLimits) -> dict[str, Any]:
    return {
        "limits": {**attrs.asdict(limits), "accepted": list(limits.accepted)},
        "groups": [
            {
                "group": each.watched.group,
                "protocol": each.watched.protocol,
                "rebalances": each.checked,
                "is_ordinary": each.is_ordinary,
                "findings": [finding.document() for finding in each.findings],
            }
            for each in groups
        ],
    }
