"""Descriptions of an entry point's offers: plain data from a plugin's process, which also travels to executors.

The data is hostile: this module checks sizes, types and numbers, and the classes of
:mod:`assignment_api.plugins.entries` check names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.plugins.discovery import OBSERVING_HOOKS, DiscoveryReply, PluginSource, one_line
from assignment_api.plugins.reserved import PARTITION_ASSIGNORS
from assignor_lab.runtime.isolation.errors import AnswerFormatError
from assignor_lab.runtime.isolation.origin import PluginOrigin

__all__ = ["MAX_OFFERS", "EntryPointDescription", "Offered", "description_in", "document_of", "fields_in", "fields_of"]

#: Most offers of one entry point, most names of one offer, and longest text and name in characters.
MAX_OFFERS = 1_000
MAX_NAMES = 100
MAX_TEXT = 4_000
MAX_NAME = 500

_TEXTS = {
    "task-assignor": ("name", "summary"),
    "connect-assignor": ("name", "summary"),
    "connector": ("name", "summary"),
    "group-assignor": ("name", "summary"),
    **dict.fromkeys(PARTITION_ASSIGNORS, ("name", "summary")),
    "metric": ("name", "summary", "unit", "direction", "group", "unavoidable", "kind"),
    "scenario-family": ("name", "summary", "kind"),
    **dict.fromkeys(OBSERVING_HOOKS.values(), ("name",)),
}
_NAMES = {
    "task-assignor": ("aliases", "java_classes"),
    "connect-assignor": ("aliases", "protocols"),
    "connector": ("java_classes",),
    "group-assignor": ("aliases",),
    **dict.fromkeys(PARTITION_ASSIGNORS, ("aliases", "java_classes", "protocols")),
}
_WITH_SETTINGS = ("task-assignor", "connect-assignor", "group-assignor", *PARTITION_ASSIGNORS)
_LONG = ("summary", "unavoidable")


@attrs.frozen
class Offered:
    """One offer of an entry point."""

    kind: str
    fields: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.fields["name"])


@attrs.frozen
class EntryPointDescription:
    """The result of importing an entry point."""

    origin: PluginOrigin
    offered: tuple[Offered, ...] = ()
    problems: tuple[str, ...] = ()


def document_of(reply: DiscoveryReply) -> dict[str, Any]:
    offers = reply.offers[: MAX_OFFERS + 1]
    return {
        "offers": [[offer.kind, fields_of(offer.kind, offer.entry, offer.name)] for offer in offers],
        "problems": [row.reason for row in reply.problems[: MAX_OFFERS + 1]],
    }


def fields_of(kind: str, entry: Any, name: str) -> dict[str, Any]:
    if kind in OBSERVING_HOOKS.values():
        return {"name": name}
    fields = {field: getattr(entry, field) for field in _TEXTS[kind]}
    fields |= {field: list(getattr(entry, field)) for field in _NAMES.get(kind, ())}
    if kind in _WITH_SETTINGS:
        fields["settings"] = [attrs.astuple(held, recurse=False) for held in entry.settings]
    if kind == "scenario-family":
        fields |= {"rounds": entry.rounds, "has_size": entry.size is not None}
    return fields


def description_in(document: Mapping[str, Any], source: PluginSource) -> EntryPointDescription:
    """The description in ``document``, which a plugin may have forged.

    Raises:
        AnswerFormatError: if it is malformed.
    """
    offers, problems = document.get("offers"), document.get("problems")
    if type(offers) is not list or type(problems) is not list:
        raise AnswerFormatError("no list of offers")
    origin = PluginOrigin.of(source)
    found = tuple(_offered(item, source) for item in offers[:MAX_OFFERS])
    reasons = [one_line(_text(reason, MAX_TEXT)) for reason in problems[:MAX_OFFERS]]
    if max(len(offers), len(problems)) > MAX_OFFERS:
        # So many offers are an error: a list of the first thousand would help no user.
        return EntryPointDescription(origin, (), (f"it offers more than {MAX_OFFERS:,} things: offer fewer",))
    return EntryPointDescription(origin, found, tuple(reasons))


def _offered(item: object, source: PluginSource) -> Offered:
    if type(item) is not list or len(item) != 2 or type(item[0]) is not str or item[0] not in _TEXTS:
        raise AnswerFormatError("an entry that is no offer")
    kind, fields = item
    checked = fields_in(kind, fields)
    if kind in OBSERVING_HOOKS.values():
        checked = {"name": source.entry_point.name}
    return Offered(kind, checked)


def fields_in(kind: str, fields: object) -> dict[str, Any]:
    """The plain data of an entry, with checked types and sizes.

    Raises:
        AnswerFormatError: if it is malformed.
    """
    if type(fields) is not dict:
        raise AnswerFormatError("an offer without fields")
    checked: dict[str, Any] = {
        field: _text(fields.get(field), MAX_TEXT if field in _LONG else MAX_NAME) for field in _TEXTS[kind]
    }
    for field in _NAMES.get(kind, ()):
        names = fields.get(field)
        if type(names) is not list or len(names) > MAX_NAMES:
            raise AnswerFormatError("names that are none")
        checked[field] = tuple(_text(name, MAX_NAME) for name in names)
    if kind in _WITH_SETTINGS:
        checked["settings"] = _settings(fields.get("settings"))
    if kind == "scenario-family":
        rounds, has_size = fields.get("rounds"), fields.get("has_size")
        if type(rounds) is not int or type(has_size) is not bool or not 0 < rounds < 1 << 31:
            raise AnswerFormatError("a number of rounds that is none")
        checked |= {"rounds": rounds, "has_size": has_size}
    return checked


def _settings(value: object) -> tuple[tuple[Any, ...], ...]:
    """Arguments of :class:`~assignment_api.plugins.Setting`, which checks them further."""
    if type(value) is not list or len(value) > MAX_NAMES:
        raise AnswerFormatError("settings that are none")
    checked: list[tuple[Any, ...]] = []
    for item in value:
        if type(item) is not list or len(item) != 5:
            raise AnswerFormatError("a setting that is none")
        key, type_, default, summary, least = item
        if type(default) is list and len(default) <= MAX_NAMES:
            default = tuple(_text(each, MAX_NAME) for each in default)
        elif type(default) is str:
            default = _text(default, MAX_NAME)
        elif not (default is None or type(default) in (bool, int, float)):
            raise AnswerFormatError("a default that is none")
        checked.append((_text(key, MAX_NAME), _text(type_, MAX_NAME), default, _text(summary, MAX_TEXT), least))
    return tuple(checked)


def _text(value: object, most: int) -> str:
    if type(value) is not str:
        raise AnswerFormatError("something else than a text")
    return value if len(value) <= most else value[: most - 1] + "…"
