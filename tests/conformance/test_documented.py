"""The page on conformance matches the code in levels, rules and Kafka's own violations."""

from __future__ import annotations

from pathlib import Path

from assignment_api.conformance import KIT_VERSION, LEVELS, RULES
from assignor_lab.conformance.known_kafka_behaviour import KNOWN_BEHAVIOURS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "conformance.md").read_text(encoding="utf-8")


def test_each_level_is_there_with_its_reason_and_source() -> None:
    for level, text in LEVELS.items():
        assert f"| *{level.value}* | {text.asks} | {text.reason} | {text.source} |" in PAGE
    assert f"levels and rules is {KIT_VERSION};" in PAGE


def test_each_rule_is_there() -> None:
    for name, rule in RULES.items():
        assert f"| `{name}` | *{rule.level.value}* | {rule.expected} |" in PAGE


def test_everything_of_kafkas_own_is_there() -> None:
    own = PAGE.split("## Kafka's own")[1]
    for assignor, rules in KNOWN_BEHAVIOURS.items():
        for rule in rules:
            assert any(f"`{assignor}`" in line and f"`{rule}`" in line for line in own.splitlines()), (assignor, rule)
