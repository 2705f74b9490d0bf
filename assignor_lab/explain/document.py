"""Explanations as JSON."""

from __future__ import annotations

from typing import Any

from assignor_lab.explain import words
from assignor_lab.explain.counterfactuals import Counterfactual
from assignor_lab.explain.explanation import Explained, Explanation
from assignor_lab.groups.shown_gaps import gap_documents

__all__ = ["RULES_PAGE", "document_of"]

#: Page of the documentation with a heading for each rule of the built-in assignors.
RULES_PAGE = "docs/reference/rules.md"


def document_of(explained: Explained) -> dict[str, Any]:
    """All explanations; clients by their ids, with their labels beside them."""
    return {
        "scenario": explained.scenario,
        "round": explained.round,
        "assignor": explained.assignor,
        "named": explained.named,
        "tasks": explained.tasks,
        "moved": list(explained.moved),
        "gaps": gap_documents(explained.gaps),
        "tells_rules": explained.tells_rules,
        "labels": dict(explained.labels),
        "idle": {"clients": list(explained.idle), "limits": list(explained.limits)},
        "explanations": [_explanation(explained, each) for each in explained.explanations],
    }


def _explanation(explained: Explained, each: Explanation) -> dict[str, Any]:
    return {
        "task": each.task,
        "before": each.before,
        "after": each.after,
        "sentence": words.headline(explained, each),
        "kafka": None if each.kafka is None else {"owner": each.kafka[0], "equal": each.kafka[0] == each.after},
        "why_not": each.why_not,
        "clients": [
            {"client": row.client, "facts": row.facts, "before": row.before, "after": row.after} for row in each.clients
        ],
        "rules": [
            {"rule": rule, "see": f"{RULES_PAGE}#{rule}", "says": explained.rules.get(rule), "sentence": sentence}
            for rule, sentence in words.step_sentences(explained, each)
        ],
        "wish": each.wish,
        "would": [_counterfactual(explained, each, would) for would in each.would.found],
        "calls": each.would.calls,
        "tried": each.would.tried,
        "stopped": each.would.stopped,
    }


def _counterfactual(explained: Explained, each: Explanation, would: Counterfactual) -> dict[str, Any]:
    change = would.change
    return {
        "what": change.what,
        "sentence": words.counterfactual_sentence(explained, each, would),
        "edits": [
            {"path": list(edit.path), "remove": True} if edit.remove else {"path": list(edit.path), "value": edit.value}
            for edit in change.edits
        ],
        "setting": None if change.setting is None else "=".join(change.setting),
        "owner": would.owner,
        "not_yet_at": would.before_it,
    }
