"""Descriptions of what an entry point offers: plain data that comes from a plugin's process, and travels to executors.

What comes from there is read as hostile: sizes, types and numbers are checked here, names and the like by the classes
of :mod:`assignment_api.plugins.entries`, which are made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.plugins.discovery import OBSERVING_HOOKS, Reply, Source, one_line
from assignor_lab.runtime.isolation.errors import AnswerFormatError
from assignor_lab.runtime.isolation.origin import PluginOrigin

__all__ = ["MAX_OFFERS", "Description", "Offered", "description_in", "document_of", "fields_in", "fields_of"]

#: Offers of one entry point, names of one offer, and characters of a text and of a name that are read.
MAX_OFFERS = 1_000
MAX_NAMES = 100
MAX_TEXT = 4_000
MAX_NAME = 500

#: Kind to the fields that are texts.
_TEXTS = {
    "task-assignor": ("name", "summary"),
    "connect-assignor": ("name", "summary"),
    "connector": ("name", "summary"),
    "group-assignor": ("name", "summary"),
    "metric": ("name", "summary", "unit", "direction", "group", "unavoidable", "kind"),
    "scenario-family": ("name", "summary", "kind"),
    **dict.fromkeys(OBSERVING_HOOKS.values(), ("name",)),
}
#: Kind to the fields that are lists of names.
_NAMES = {
    "task-assignor": ("aliases", "java_classes"),
    "connect-assignor": ("aliases", "protocols"),
    "connector": ("java_classes",),
    "group-assignor": ("aliases",),
}
_LONG = ("summary", "unavoidable")


@attrs.frozen
class Offered:
    """Something that an entry point offers.

    Args:
        kind: As in listings.
        fields: The fields of its description that are plain data; ``has_size`` of a family stands for its function.
    """

    kind: str
    fields: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.fields["name"])


@attrs.frozen
class Description:
    """What came of importing an entry point.

    Args:
        origin: The entry point.
        offered: What it offers, in the order of discovery.
        problems: Why something in it cannot be used, a sentence each.
    """

    origin: PluginOrigin
    offered: tuple[Offered, ...] = ()
    problems: tuple[str, ...] = ()


def document_of(reply: Reply) -> dict[str, Any]:
    """What an entry point offers, as JSON; in the plugin's process."""
    offers = reply.offers[: MAX_OFFERS + 1]
    return {
        "offers": [[offer.kind, fields_of(offer.kind, offer.entry, offer.name)] for offer in offers],
        "problems": [row.reason for row in reply.problems[: MAX_OFFERS + 1]],
    }


def fields_of(kind: str, entry: Any, name: str) -> dict[str, Any]:
    """The plain data of an entry."""
    if kind in OBSERVING_HOOKS.values():
        return {"name": name}
    fields = {field: getattr(entry, field) for field in _TEXTS[kind]}
    fields |= {field: list(getattr(entry, field)) for field in _NAMES.get(kind, ())}
    if kind == "scenario-family":
        fields |= {"rounds": entry.rounds, "has_size": entry.size is not None}
    return fields


def description_in(document: Mapping[str, Any], source: Source) -> Description:
    """The description in ``document``, which a plugin may have forged.

    Raises:
        AnswerFormatError: if it is none.
    """
    offers, problems = document.get("offers"), document.get("problems")
    if type(offers) is not list or type(problems) is not list:
        raise AnswerFormatError("no list of offers")
    origin = PluginOrigin.of(source)
    found = tuple(_offered(item, source) for item in offers[:MAX_OFFERS])
    reasons = [one_line(_text(reason, MAX_TEXT)) for reason in problems[:MAX_OFFERS]]
    if max(len(offers), len(problems)) > MAX_OFFERS:
        # Whoever offers so much has gone wrong: a listing of the first thousand would help nobody.
        return Description(origin, (), (f"it offers more than {MAX_OFFERS:,} things: offer fewer",))
    return Description(origin, found, tuple(reasons))


def _offered(item: object, source: Source) -> Offered:
    if type(item) is not list or len(item) != 2 or type(item[0]) is not str or item[0] not in _TEXTS:
        raise AnswerFormatError("an offer that is none")
    kind, fields = item
    checked = fields_in(kind, fields)
    if kind in OBSERVING_HOOKS.values():
        # The name of an observer is that of its entry point, whatever its process says.
        checked = {"name": source.entry_point.name}
    return Offered(kind, checked)


def fields_in(kind: str, fields: object) -> dict[str, Any]:
    """The plain data of an entry, its types and sizes checked.

    Raises:
        AnswerFormatError: if it is none.
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
    if kind == "scenario-family":
        rounds, has_size = fields.get("rounds"), fields.get("has_size")
        if type(rounds) is not int or type(has_size) is not bool or not 0 < rounds < 1 << 31:
            raise AnswerFormatError("a number of rounds that is none")
        checked |= {"rounds": rounds, "has_size": has_size}
    return checked


def _text(value: object, most: int) -> str:
    if type(value) is not str:
        raise AnswerFormatError("something else than a text")
    return value if len(value) <= most else value[: most - 1] + "…"
