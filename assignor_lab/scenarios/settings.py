"""Settings of time and membership of a state's source: ``settings`` of a scenario (scenario format, 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from assignment_api.plugins.keys import GROUP_KEYS, TOPOLOGY_OPTIMIZATION, read_value
from assignment_api.plugins.layers import ConfigLayer
from assignment_api.releases import RELEASE_KEY, KafkaRelease, read_release
from assignor_lab.documents.shapes import LONG_MAX, Check, Mismatch, boolean, one_of, record, text, whole

__all__ = [
    "CLASSIC_KEYS", "NUMBERS", "SettingValue", "Settings", "check_settings", "given_settings", "group_settings",
    "is_exactly_once", "most_frequent", "with_brokers_release", "with_given", "with_release", "without_effect",
]  # fmt: skip

T = TypeVar("T")

#: Value of a setting, in the type of its key.
SettingValue = int | str | bool
#: Kafka's keys to known values.
Settings = Mapping[str, SettingValue]

_GROUP_TEXTS = ("streams.assignor.name", "streams.rack.aware.assignment.tags")
_TEXTS = ("dsl.store.suppliers.class", "processing.guarantee", *_GROUP_TEXTS)
_TRANSACTIONAL, _UNCOMMITTED = "enable.transactional.statestores", "statestore.uncommitted.max.bytes"
NUMBERS = (
    *(key for key in GROUP_KEYS if key not in (*_TEXTS, _TRANSACTIONAL, _UNCOMMITTED, TOPOLOGY_OPTIMIZATION)),
    "rebalance.timeout.ms",
    "streams.num.standby.replicas",
    "streams.num.warmup.replicas",
    "streams.acceptable.recovery.lag",
)
_SETTINGS = (frozenset(GROUP_KEYS) | {RELEASE_KEY}) - {TOPOLOGY_OPTIMIZATION}

#: Keys that have no effect in the streams protocol, and the group's own key in their place.
CLASSIC_KEYS: Mapping[str, str] = {
    "session.timeout.ms": "streams.session.timeout.ms",
    "heartbeat.interval.ms": "streams.heartbeat.interval.ms",
}


def _release(value: object) -> str:
    """A release, known to the lab or not."""
    found = text(value)
    if read_release(found) is None:
        raise Mismatch(f"expected a release of Kafka such as 4.4.0, found {found!r:.40}")
    return found


#: Checks the object: every key is optional, and a missing one is unknown, not a default. Other keys are refused.
check_settings: Check[dict[str, SettingValue]] = record(
    {},
    {
        **dict.fromkeys(NUMBERS, whole(0, LONG_MAX)),
        **dict.fromkeys(_TEXTS, text),
        _TRANSACTIONAL: boolean,
        _UNCOMMITTED: whole(-1, LONG_MAX),
        "group.protocol": one_of("classic", "streams"),
        RELEASE_KEY: _release,
    },
)


def with_release(config: Mapping[str, T], settings: Mapping[str, T]) -> Mapping[str, T]:
    """A state's configuration with the release of its source, if ``settings`` show one."""
    shown = settings.get(RELEASE_KEY)
    return config if shown is None else {**config, RELEASE_KEY: shown}


def given_settings(layers: Iterable[ConfigLayer]) -> dict[str, SettingValue]:
    """The settings of ``--config`` and ``-c``, the lowest layer first, in their types, without that of the topology."""
    found: dict[str, SettingValue] = {}
    for layer in layers:
        found |= {key: read_value(key, held.value) for key, held in layer.entries.items() if key in _SETTINGS}
    return found


def group_settings(settings_text: Mapping[str, str]) -> dict[str, SettingValue]:
    """Settings of a streams group, as the broker returns them, with or without the prefix ``streams.``.

    Keys that are not allowed are left out.
    """
    found: dict[str, SettingValue] = {}
    for name, value in settings_text.items():
        key = name if name.startswith("streams.") else f"streams.{name}"
        if key in NUMBERS and value.isdecimal():
            found[key] = int(value)
        elif key in _GROUP_TEXTS and value:
            found[key] = value
    return found


def with_given(document: dict[str, Any], found: Settings, layers: Iterable[ConfigLayer]) -> dict[str, Any]:
    """The document with its ``settings``: those of its source, below those of ``--config`` and ``-c``.

    It is unchanged if nothing is known.
    """
    given = given_settings(layers)
    settings = {**document.get("settings", {}), **found, **given}
    if not settings:
        return document
    if document.get("kind") == "streams-group" and (ineffective := without_effect(given)):
        document = {**document, "assumptions": [*document.get("assumptions", ()), *ineffective]}
    made: dict[str, Any] = {}
    for key, value in document.items():
        if key != "settings":
            made[key] = value
        if key == "config":
            made["settings"] = dict(sorted(settings.items()))
    return made


def with_brokers_release(document: dict[str, object], release: KafkaRelease | None) -> dict[str, object]:
    """The document with the brokers' release, if nothing better is known.

    Brokers decide in the streams protocol. In the classic protocol a client decides, whose release no broker shows.
    """
    settings, assumptions = document.get("settings", {}), document.get("assumptions", ())
    assert isinstance(settings, Mapping)
    assert isinstance(assumptions, Iterable)
    if release is None or RELEASE_KEY in settings:
        return document
    made = with_given(document, {RELEASE_KEY: str(release)}, ())
    if document.get("kind") == "streams-group":
        return made
    sentence = (
        f"the clients' release is unknown: taken as {release}, that of the brokers (give it with --release, or "
        "import a log)"
    )
    return {**made, "assumptions": [*assumptions, sentence]}


def most_frequent(members: Iterable[Settings], assumptions: list[str]) -> dict[str, SettingValue]:
    """The settings of a group: for each key the most frequent value of its members.

    ``assumptions`` gets a sentence for each key in which members differ.
    """
    values: dict[str, Counter[SettingValue]] = {}
    for settings in members:
        for key, value in settings.items():
            values.setdefault(key, Counter())[value] += 1
    for key, counts in values.items():
        if len(counts) > 1:
            shown = ", ".join(map(str, sorted(counts)))
            assumptions.append(f"members differ in {key} ({shown}): the most frequent one counts for all")
    return {key: counts.most_common(1)[0][0] for key, counts in values.items()}


def without_effect(settings: Iterable[str]) -> list[str]:
    """A sentence for each given key that has no effect in the streams protocol."""
    return [
        f"{key} has no effect in the streams protocol: the group's own key is {CLASSIC_KEYS[key]} (give it with "
        "--config or -c)"
        for key in settings
        if key in CLASSIC_KEYS
    ]


def is_exactly_once(settings: Settings) -> bool | None:
    """True if the application processes exactly once; ``None`` if unknown."""
    guarantee = settings.get("processing.guarantee")
    return None if guarantee is None else str(guarantee).startswith("exactly_once")
