"""Rules that rewrite parts of documents: a part without a rule is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Rule", "kafkas_class", "list_of", "map_of", "number", "record_of", "text_of", "word"]

Rule = Callable[[Any], Any]
_LEFT_OUT = object()


def record_of(rules: Mapping[str, Rule]) -> Rule:
    def rewritten(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return None
        made = {key: rules[key](each) for key, each in value.items() if key in rules}
        return {key: each for key, each in made.items() if each is not _LEFT_OUT}

    return rewritten


def list_of(rule: Rule) -> Rule:
    """Rewrites each entry of a list; null stays."""
    return lambda value: [rule(each) for each in value] if isinstance(value, (list, tuple)) else None


def map_of(key_rule: Rule, rule: Rule) -> Rule:
    """Rewrites each key and each value of an object; null stays."""
    return lambda value: {key_rule(key): rule(each) for key, each in value.items()} if value is not None else None


def number(value: Any) -> Any:
    """Numbers, truth values and null as they are."""
    return value if value is None or isinstance(value, (int, float)) else _LEFT_OUT


def text_of(rule: Callable[[str], str]) -> Rule:
    """Rewrites a text; null and an empty text stay."""
    return lambda value: rule(str(value)) if value else value


def word(*known: str) -> Rule:
    return lambda value: value if value in known else _LEFT_OUT


def kafkas_class(value: Any) -> Any:
    """Keeps the name of a class of Kafka's own."""
    return value if str(value).startswith("org.apache.kafka.") else _LEFT_OUT
