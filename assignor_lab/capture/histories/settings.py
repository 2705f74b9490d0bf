"""Settings of a group over its decisions, and of a configuration file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from assignment_api.input_files import read_input
from assignment_api.plugins.keys import TOPOLOGY_OPTIMIZATION, read_value
from assignment_api.plugins.layers import ConfigLayer
from assignment_api.plugins.properties import PropertiesSyntaxError, decode_properties, parse_properties
from assignor_lab.capture.edges.moments import DecisionMoment
from assignor_lab.capture.histories.presence import expired, left_by_request
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.files import read_document
from assignor_lab.documents.shapes import any_value
from assignor_lab.documents.toml_text import parse_toml

__all__ = ["longest_session_ms", "optimization_in", "settings_of_decisions"]

#: Brokers' default of ``group.min.session.timeout.ms``.
_LEAST_SESSION_MS = 6_000
_MAX_BYTES = 4 * 1024 * 1024


def settings_of_decisions(decisions: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """The most frequent values of the decisions' settings, and a sentence for each setting that changed."""
    values: dict[str, Counter[Any]] = {}
    for settings in decisions:
        for key, value in settings.items():
            values.setdefault(key, Counter())[value] += 1
    found = {key: counts.most_common(1)[0][0] for key, counts in values.items()}
    return found, {
        key: f"{key} changed within the history ({', '.join(map(str, counts))}): {found[key]}, which most decisions "
        "have, counts for all"
        for key, counts in values.items()
        if len(counts) > 1
    }


def longest_session_ms(moments: Sequence[DecisionMoment], *, only_expired: bool = False) -> int | None:
    """Upper bound of a classic group's session timeout.

    The coordinator removes a silent member one session timeout after its last heartbeat, and each member of a
    generation sent one in it. Below the brokers' minimum, the member left by request.

    Args:
        only_expired: Only members whose session end the coordinator's log reports.
    """
    found = [
        moment.time_ms - earlier.time_ms
        for earlier, moment in pairwise(moments)
        for process, each in earlier.participants.items()
        if process not in moment.participants
        and (expired(each, moment) if only_expired else not left_by_request(each, moment))
    ]
    return min((each for each in found if each >= _LEAST_SESSION_MS), default=None)


def optimization_in(file: Path | None, layers: Iterable[ConfigLayer] = ()) -> str | None:
    given = [layer.entries[TOPOLOGY_OPTIMIZATION] for layer in layers if TOPOLOGY_OPTIMIZATION in layer.entries]
    if given:
        return str(read_value(TOPOLOGY_OPTIMIZATION, given[-1].value))
    if file is None or file.suffix.lower() not in (".properties", ".toml"):
        return None
    return _pairs(file).get(TOPOLOGY_OPTIMIZATION)


def _pairs(file: Path) -> Mapping[str, str]:
    if file.suffix.lower() == ".toml":
        table = read_document(file, parse_toml, any_value, max_bytes=_MAX_BYTES, subject="a configuration")
        tool = table.get("tool") if isinstance(table, dict) else None
        ours = tool.get("assignor") if isinstance(tool, dict) else None
        return dict(_flat(ours if isinstance(ours, dict) else table, ""))
    try:
        content = read_input(file)
        return {entry.key: entry.value for entry in parse_properties(decode_properties(content))}
    except OSError as error:
        raise DocumentFormatError(str(file), None, "", f"cannot be read: {error.strerror or error}") from error
    except PropertiesSyntaxError as error:
        raise DocumentFormatError(str(file), error.line, "", str(error)) from error


def _flat(table: object, prefix: str) -> list[tuple[str, str]]:
    if not isinstance(table, dict):
        return [(prefix, str(table))]
    return [pair for key, value in table.items() for pair in _flat(value, f"{prefix}.{key}" if prefix else str(key))]
