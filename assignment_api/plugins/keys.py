"""Configuration keys that concern assignment; others are ignored unread.

Kept are Kafka's keys (``StreamsConfig``), ``client.tag.<key>``, ``assignor.plugins.*``, plugins' settings
``assignor.<plugin name>.<key>``, and :data:`GROUP_KEYS` for simulations.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assignment_api.connect import CONNECT_PROTOCOL, MAX_DELAY_KEY, ConnectProtocol
from assignment_api.errors import ConfigError
from assignment_api.plugins.policy import ISOLATION, Pin
from assignment_api.plugins.settings import SETTING_PREFIX, is_setting, text_list
from assignment_api.releases import RELEASE_KEY, release_named
from assignment_api.streams.configs import ASSIGNMENT_KEYS, AssignmentConfigs

__all__ = [
    "ALLOW",
    "BLOCK",
    "CALL_TIMEOUT_MS",
    "CLIENT_TAG_PREFIX",
    "CONNECT_ASSIGNOR_CLASS",
    "DEFAULTS",
    "ENVIRONMENT",
    "GROUP_KEYS",
    "INSTANCE_KEYS",
    "INTERNAL_TASK_ASSIGNOR_CLASS",
    "ISOLATE",
    "KAFKA_KEYS",
    "MEMORY_MB",
    "OUTPUT_KB",
    "PIN",
    "POLICY_KEYS",
    "RACK_TAGS_OF_GROUP",
    "SETTING_PREFIX",
    "SHOW",
    "START_TIMEOUT_MS",
    "TASK_ASSIGNOR_CLASS",
    "TOPOLOGY_OPTIMIZATION",
    "TRUST",
    "is_kept",
    "is_policy_key",
    "is_setting",
    "meant_key",
    "own_key",
    "read_value",
    "text_list",
]

TASK_ASSIGNOR_CLASS = "task.assignor.class"
INTERNAL_TASK_ASSIGNOR_CLASS = "internal.task.assignor.class"
CLIENT_TAG_PREFIX = "client.tag."
#: Decides where tables are logged.
TOPOLOGY_OPTIMIZATION = "topology.optimization"
#: Read by no released assignor (Kafka 4.4).
RACK_TAGS_OF_GROUP = "streams.rack.aware.assignment.tags"
#: Our own: in Kafka ``connect.protocol`` decides.
CONNECT_ASSIGNOR_CLASS = "connect.assignor.class"

ALLOW = "assignor.plugins.allow"
BLOCK = "assignor.plugins.block"
PIN = "assignor.plugins.pin"
#: Plugins in the lab's process.
TRUST = "assignor.plugins.trust"
ISOLATE = "assignor.plugins.isolate"
CALL_TIMEOUT_MS = "assignor.plugins.call.timeout.ms"
START_TIMEOUT_MS = "assignor.plugins.start.timeout.ms"
MEMORY_MB = "assignor.plugins.memory.mb"
OUTPUT_KB = "assignor.plugins.output.kb"
ENVIRONMENT = "assignor.plugins.environment"
#: Plugins, or their keys, with visible settings in results.
SHOW = "assignor.plugins.show"
POLICY_KEYS = (
    ALLOW,
    BLOCK,
    PIN,
    TRUST,
    ISOLATE,
    CALL_TIMEOUT_MS,
    START_TIMEOUT_MS,
    MEMORY_MB,
    OUTPUT_KB,
    ENVIRONMENT,
    SHOW,
)

#: Kafka passes such keys to a client inside the application; ignored.
_KAFKA_PREFIXES = (
    "consumer.",
    "main.consumer.",
    "restore.consumer.",
    "global.consumer.",
    "producer.",
    "admin.",
    "topic.",
)
_HOST_AND_PORT = re.compile(r"\A(?:[0-9a-zA-Z\-%._]*://)?\[?[0-9a-zA-Z\-%._:]*]?:[0-9]+")
_MAX_TAG_KEY, _MAX_TAG_VALUE = 20, 30
_INT_MAX = 2**31 - 1


def _class_name(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(
            f"Invalid value {value} for configuration {key}: expected the name of an assignor or of a class"
        )
    return value.strip()


def _threads(key: str, value: object) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not re.match(r"\+?[0-9]{1,9}\Z", text) or int(text) < 1:
        raise ConfigError(f"Invalid value {value} for configuration {key}: expected a number from 1")
    return int(text)


def _milliseconds(key: str, value: object) -> int:
    text = str(value).strip()
    least = 0 if key.endswith(("delay.ms", "assignment.interval.ms", "commit.interval.ms")) else 1
    if isinstance(value, bool) or not re.match(r"[0-9]{1,12}\Z", text) or int(text) < least:
        raise ConfigError(
            f"Invalid value {value} for configuration {key}: expected a number of milliseconds from {least}"
        )
    return int(text)


def _guarantee(key: str, value: object) -> str:
    known = ("at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2")
    if not isinstance(value, str) or value.strip() not in known:
        raise ConfigError(f"Invalid value {value} for configuration {key}: String must be one of: {', '.join(known)}")
    return value.strip()


def _optimization(key: str, value: object) -> str:
    """Kafka: ``StreamsConfig#verifyTopologyOptimizationConfigs``."""
    known = ("all", "none", "reuse.ktable.source.topics", "merge.repartition.topics", "single.store.self.join")
    listed = text_list(key, value)
    if not listed or not set(listed) <= set(known) or (len(listed) > 1 and {"all", "none"} & set(listed)):
        raise ConfigError(
            f"Invalid value {value} for configuration {key}: it must be all, none, or a list of: {', '.join(known[2:])}"
        )
    return ",".join(listed)


def _protocol(key: str, value: object) -> str:
    if not isinstance(value, str) or value.lower() not in ("classic", "streams"):
        raise ConfigError(f"Invalid value {value} for configuration {key}: String must be one of: classic, streams")
    return value


def _server(key: str, value: object) -> str:
    if not isinstance(value, str) or (value and not _HOST_AND_PORT.match(value)):
        raise ConfigError(f"Invalid value {value} for configuration {key}: expected host:port")
    return value


def _release(_key: str, value: object) -> str:
    return str(release_named(str(value)))


def _flag(key: str, value: object) -> bool:
    text = str(value).strip().lower()
    if text not in ("true", "false"):
        raise ConfigError(f"Invalid value {value} for configuration {key}: Expected value to be either true or false")
    return text == "true"


def _bytes(key: str, value: object) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not re.match(r"(-1|[0-9]{1,18})\Z", text):
        raise ConfigError(f"Invalid value {value} for configuration {key}: expected a number of bytes, or -1")
    return int(text)


def _tag_keys(key: str, value: object) -> str:
    return ",".join(text_list(key, value))


def _connect_protocol(_key: str, value: object) -> str:
    return ConnectProtocol.from_config(value).value


def _delay(key: str, value: object) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not re.match(r"[+-]?[0-9]{1,11}\Z", text) or int(text) > _INT_MAX:
        raise ConfigError(f"Invalid value {value} for configuration {key}: Not a number of type INT")
    if int(text) < 0:
        raise ConfigError(f"Invalid value {value} for configuration {key}: Value must be at least 0")
    return int(text)


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"Invalid value {value} for configuration {key}: expected a text")
    return value


def _tag(key: str, value: object) -> str:
    tag = key.removeprefix(CLIENT_TAG_PREFIX)
    if not isinstance(value, str) or not value or len(value) > _MAX_TAG_VALUE:
        raise ConfigError(f"Invalid value {value} for configuration {key}: expected 1 to {_MAX_TAG_VALUE} characters")
    if not tag or len(tag) > _MAX_TAG_KEY:
        raise ConfigError(f"Invalid configuration {key}: the tag's key must have 1 to {_MAX_TAG_KEY} characters")
    return value


def _pins(key: str, value: object) -> tuple[str, ...]:
    pins = text_list(key, value)
    for pin in pins:
        Pin.parse(pin)
    return pins


def _isolate(key: str, value: object) -> str:
    if not isinstance(value, str) or value not in ISOLATION:
        raise ConfigError(
            f"Invalid value {value} for configuration {key}: String must be one of: {', '.join(ISOLATION)}"
        )
    return value


def _number_from(minimum: int) -> Callable[[str, object], int]:
    def read(key: str, value: object) -> int:
        text = str(value).strip()
        if isinstance(value, bool) or not re.match(r"[0-9]{1,9}\Z", text) or int(text) < minimum:
            raise ConfigError(f"Invalid value {value} for configuration {key}: expected a number from {minimum}")
        return int(text)

    return read


def _variables(key: str, value: object) -> tuple[str, ...]:
    names = text_list(key, value)
    for name in names:
        if not re.match(r"\A[A-Za-z_][A-Za-z0-9_]*\Z", name):
            raise ConfigError(f"Invalid value {value} for configuration {key}: expected names of variables")
    return names


Reader = Callable[[str, Any], Any]

#: Keys of one instance: a scenario's clients have their own.
INSTANCE_KEYS: Mapping[str, Reader] = {
    "num.stream.threads": _threads,
    "application.server": _server,
    "client.rack": _text,
}
#: Key to the check of its values.
KAFKA_KEYS: Mapping[str, Reader] = {
    TASK_ASSIGNOR_CLASS: _class_name,
    INTERNAL_TASK_ASSIGNOR_CLASS: _class_name,
    **{key: read for key, (_, read) in ASSIGNMENT_KEYS.items()},
    "group.protocol": _protocol,
    "upgrade.from": _text,
    CONNECT_ASSIGNOR_CLASS: _class_name,
    CONNECT_PROTOCOL: _connect_protocol,
    MAX_DELAY_KEY: _delay,
    RELEASE_KEY: _release,
    **INSTANCE_KEYS,
}

#: Keys of time, membership and topology, for simulations; assignors do not receive them.
GROUP_KEYS: Mapping[str, Reader] = {
    "session.timeout.ms": _milliseconds,
    "heartbeat.interval.ms": _milliseconds,
    "max.poll.interval.ms": _milliseconds,
    "metadata.max.age.ms": _milliseconds,
    "group.initial.rebalance.delay.ms": _milliseconds,
    "group.consumer.heartbeat.interval.ms": _milliseconds,
    "group.consumer.session.timeout.ms": _milliseconds,
    "group.consumer.assignment.interval.ms": _milliseconds,
    "commit.interval.ms": _milliseconds,
    "state.cleanup.delay.ms": _milliseconds,
    "processing.guarantee": _guarantee,
    "dsl.store.suppliers.class": _class_name,
    "streams.session.timeout.ms": _milliseconds,
    "streams.heartbeat.interval.ms": _milliseconds,
    "streams.initial.rebalance.delay.ms": _milliseconds,
    "streams.assignment.interval.ms": _milliseconds,
    "streams.task.offset.interval.ms": _milliseconds,
    # New in Kafka 4.4.
    "enable.transactional.statestores": _flag,
    "statestore.uncommitted.max.bytes": _bytes,
    "streams.assignor.name": _class_name,
    RACK_TAGS_OF_GROUP: _tag_keys,
    TOPOLOGY_OPTIMIZATION: _optimization,
}
#: Prefixes of these keys in files of an application and a broker; a higher rank wins.
_OTHER_NAMES: Mapping[str, tuple[str, int]] = {
    **{
        f"{prefix}{key}": (key, rank)
        for key in ("session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms")
        for prefix, rank in (("consumer.", 1), ("main.consumer.", 2))
    },
    **{f"group.{key}": (key, -1) for key in GROUP_KEYS if key.startswith("streams.")},
}
_POLICY_READERS: Mapping[str, Reader] = {
    ALLOW: text_list,
    BLOCK: text_list,
    PIN: _pins,
    TRUST: text_list,
    ISOLATE: _isolate,
    CALL_TIMEOUT_MS: _number_from(1),
    START_TIMEOUT_MS: _number_from(1),
    MEMORY_MB: _number_from(64),
    OUTPUT_KB: _number_from(0),
    ENVIRONMENT: _variables,
    SHOW: text_list,
}

_DEFAULT_CONFIGS = AssignmentConfigs()
_KAFKA_DEFAULT = "org.apache.kafka.streams.processor.internals.assignment.HighAvailabilityTaskAssignor"
#: Kafka's defaults.
DEFAULTS: Mapping[str, Any] = {
    TASK_ASSIGNOR_CLASS: None,
    INTERNAL_TASK_ASSIGNOR_CLASS: _KAFKA_DEFAULT,
    **{key: getattr(_DEFAULT_CONFIGS, name) for key, (name, _) in ASSIGNMENT_KEYS.items()},
}


def is_policy_key(key: str) -> bool:
    """True if ``key`` decides which plugins may be imported."""
    return key in _POLICY_READERS


def is_kept(key: str) -> bool:
    """True if ``key`` concerns assignment, time or membership."""
    return (
        key in KAFKA_KEYS
        or own_key(key)[0] in GROUP_KEYS
        or is_policy_key(key)
        or is_setting(key)
        or key.startswith(CLIENT_TAG_PREFIX)
    )


def own_key(key: str) -> tuple[str, int]:
    """The stored key of a setting, and its rank.

    The consumer's ``consumer.session.timeout.ms`` ranks above ``session.timeout.ms``, a broker's
    ``group.streams.session.timeout.ms`` below the group's ``streams.session.timeout.ms``.
    """
    return _OTHER_NAMES.get(key, (key, 0))


def read_value(key: str, value: object) -> Any:
    """``value`` in the type of ``key``; plugins' settings and ``None`` unchanged.

    Raises:
        ConfigError: with Kafka's message, if the type or range is wrong.
    """
    if value is None:
        return None
    if key.startswith(CLIENT_TAG_PREFIX):
        return _tag(key, value)
    reader = KAFKA_KEYS.get(key) or GROUP_KEYS.get(key) or _POLICY_READERS.get(key)
    return value if reader is None else reader(key, value)


def meant_key(key: str) -> str | None:
    """Our key that ``key`` nearly matches, or ``None``.

    Near: other separators, capitals, a few wrong letters, or a framework's prefix, but none of Kafka's.
    """
    if is_kept(key) or key.startswith(_KAFKA_PREFIXES) or key in _OTHER_KAFKA_KEYS:
        return None
    plain = _plain(key)
    known: Sequence[str] = (*KAFKA_KEYS, *POLICY_KEYS)
    for candidate in (*known, *GROUP_KEYS):
        if _plain(candidate) == plain or key.endswith("." + candidate):
            return candidate
    near = difflib.get_close_matches(plain[:120], [_plain(candidate) for candidate in known], n=1, cutoff=0.87)
    return next((candidate for candidate in known if _plain(candidate) in near), None)


def _plain(key: str) -> str:
    return re.sub(r"[-_.]+", ".", key).lower()


_OTHER_KAFKA_KEYS = frozenset(
    {
        "auto.commit.interval.ms",
        "group.protocol.type",
        "metadata.recovery.rebootstrap.trigger.ms",
        "task.timeout.ms",
        "max.task.idle.ms",
    }
)
