"""A running Kafka behind kafka-python, with read-only requests.

Needs the extra ``kafka``.

kafka-python's public calls decode members' bytes as text or fetch more than needed. So this module sends its requests
by the connection manager, which is not public. The release is pinned below 4, and tests against a real broker check it.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import attrs

from assignment_api.releases import KafkaRelease
from assignor_lab.capture.live.access import BrokerAccess
from assignor_lab.capture.live.diagnosis import is_any_tls, offered_mechanisms, takes_connections, why_unreachable
from assignor_lab.capture.live.errors import (
    LiveClusterError,
    NotAuthorizedError,
    TooOldBrokerError,
    UnreachableBrokersError,
)
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, TopicPartition, cluster_answer
from assignor_lab.capture.recorded.consumer_group_answers import (
    DescribedPartitionGroup,
    consumer_group_answers,
    consumer_group_messages,
    share_group_messages,
)
from assignor_lab.capture.recorded.streams_group_answers import (
    DescribedStreamsGroup,
    streams_group_answers,
    streams_group_messages,
)
from assignor_lab.kafka.broker_release import release_of_broker

__all__ = [
    "DESCRIBE_STREAMS_GROUP",
    "ConnectedCluster",
    "Exchange",
    "ListedGroup",
    "client_settings",
    "connected",
    "translated",
]

T = TypeVar("T")
Exchange = Mapping[str, Any]

#: Responses hold every subscription.
_AT_ONCE = 100
#: Coordinator: loading, unavailable, moved.
_MOVING = (14, 15, 16)
DESCRIBE_STREAMS_GROUP = 89
#: Its first version with the topologies that members pushed (KIP-1331).
_WITH_TOPOLOGIES = 1
_DESCRIBE_GROUPS, _METADATA = 15, 3
_DESCRIBE_CONSUMER_GROUP, _DESCRIBE_SHARE_GROUP = 69, 77


@attrs.frozen
class ListedGroup:
    """A group as brokers list it.

    Args:
        protocol_type: ``consumer``, ``connect``, ``streams``, ``share`` or empty.
        type: ``classic``, ``consumer``, ``streams``, ``share``; ``None`` before 4.0.
        state: ``None`` before 2.6.
    """

    id: str
    protocol_type: str
    type: str | None
    state: str | None


@contextmanager
def connected(
    access: BrokerAccess, on_exchange: Callable[[Exchange], None] | None = None
) -> Iterator[ConnectedCluster]:
    """A connection to a cluster; ``on_exchange`` receives each response about groups and topics."""
    # At DEBUG kafka-python logs SASL passwords.
    logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
    if access.tls is not None and not is_any_tls(access):
        raise UnreachableBrokersError(f"no broker answers: {why_unreachable(access)}")
    with translated(access):
        admin = _admin(access)
    try:
        yield ConnectedCluster(admin, access, on_exchange)
    finally:
        admin.close()


def _admin(access: BrokerAccess) -> Any:
    """If a broker is slow to refuse, one more attempt gets twice the time."""
    from kafka.errors import KafkaTimeoutError

    try:
        return _admitted(access)
    except KafkaTimeoutError:
        if access.mechanism is None or not takes_connections(access):
            raise
    return _admitted(access)


def _admitted(access: BrokerAccess) -> Any:
    from kafka import KafkaAdminClient
    from kafka.errors import KafkaConnectionError, SaslAuthenticationFailedError, UnsupportedSaslMechanismError

    try:
        with _refusals_raised(logs_in=access.mechanism is not None):
            return KafkaAdminClient(**client_settings(access))
    except KafkaConnectionError as error:
        taken = offered_mechanisms(access)
        if taken and access.mechanism not in taken:
            raise UnsupportedSaslMechanismError from error
        raise SaslAuthenticationFailedError("the connection was closed during the login") from error


@contextmanager
def _refusals_raised(*, logs_in: bool) -> Iterator[None]:
    """Raises the first refusal: kafka-python retries until its timeout, and failed logins can lock an account."""
    refusals = _Refusals(logs_in=logs_in)
    loggers = [(logging.getLogger(name), level) for name, level in _WATCHED.items()]
    before = [(logger, logger.level, logger.propagate) for logger, _ in loggers]
    for logger, level in loggers:
        logger.addHandler(refusals)
        logger.setLevel(level)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, level, propagates in before:
            logger.removeHandler(refusals)
            logger.setLevel(level)
            logger.propagate = propagates


#: Levels of refusals and of the start of a login.
_WATCHED = {"kafka.net.manager": logging.WARNING, "kafka.net.connection": logging.INFO}
_LOGIN_NEXT = "Broker version identified"


class _Refusals(logging.Handler):
    """Raises the first logged refusal, inside the loop that logs it; writes nothing."""

    def __init__(self, *, logs_in: bool) -> None:
        super().__init__()
        self._logs_in = logs_in
        self._login_began = False
        self._is_raised = False

    def emit(self, record: logging.LogRecord) -> None:
        from kafka.errors import (
            AuthorizationError,
            IllegalSaslStateError,
            KafkaConnectionError,
            SaslAuthenticationFailedError,
            UnsupportedSaslMechanismError,
        )

        if record.name != "kafka.net.manager":
            self._login_began = self._login_began or (self._logs_in and _LOGIN_NEXT in str(record.msg))
            return
        final: tuple[type[Exception], ...] = (
            AuthorizationError,
            IllegalSaslStateError,
            SaslAuthenticationFailedError,
            UnsupportedSaslMechanismError,
        )
        if self._login_began:
            # A broker refuses and closes; kafka-python may see the closed connection first.
            final = (*final, KafkaConnectionError)
        named = record.args if isinstance(record.args, tuple) else ()
        for each in named:
            if isinstance(each, final) and not self._is_raised:
                self._is_raised = True
                raise each


def client_settings(access: BrokerAccess) -> dict[str, Any]:
    settings = {
        "bootstrap_servers": list(access.servers),
        "client_id": "assignor-lab",
        "security_protocol": access.protocol,
        "request_timeout_ms": access.request_timeout_ms,
        "bootstrap_timeout_ms": access.connect_timeout_ms,
        "reconnect_backoff_max_ms": 1_000,
        **access.settings,
    }
    if access.tls is not None:
        settings["ssl_context"] = access.tls
    return settings


class ConnectedCluster:
    """A cluster while it is connected; see :func:`connected`."""

    def __init__(self, admin: Any, access: BrokerAccess, on_exchange: Callable[[Exchange], None] | None) -> None:
        self._admin = admin
        self._access = access
        self._on_exchange = on_exchange

    def groups(self) -> list[ListedGroup]:
        listed = self._run(self._admin.list_groups)
        found = [
            ListedGroup(each["group_id"], each["protocol_type"], each.get("group_type"), each.get("group_state"))
            for each in listed
        ]
        return sorted(found, key=lambda group: group.id)

    def classic_groups(self, names: Sequence[str]) -> list[Any]:
        """Unordered; includes groups with an error other than a moved coordinator."""
        from kafka.protocol.admin.groups import DescribeGroupsRequest

        def request(of: list[str]) -> Any:
            return DescribeGroupsRequest(groups=of, include_authorized_operations=False)

        return self._described(names, request, _DESCRIBE_GROUPS, lambda message: list(message.groups))

    def streams_groups(self, names: Sequence[str]) -> list[DescribedStreamsGroup]:
        """Unordered; includes groups with an error."""
        wanted, _ = streams_group_messages()
        has_topologies = (self.latest_version(DESCRIBE_STREAMS_GROUP) or 0) >= _WITH_TOPOLOGIES

        def request(of: list[str]) -> Any:
            if not has_topologies:
                return wanted(group_ids=of, include_authorized_operations=False)
            return wanted(group_ids=of, include_authorized_operations=False, include_topology_description=True)

        return self._described(names, request, DESCRIBE_STREAMS_GROUP, streams_group_answers)

    def consumer_groups(self, names: Sequence[str]) -> list[DescribedPartitionGroup]:
        """Groups of KIP-848, unordered; includes groups with an error."""
        wanted, _ = consumer_group_messages()

        def request(of: list[str]) -> Any:
            return wanted(group_ids=of, include_authorized_operations=False)

        return self._described(names, request, _DESCRIBE_CONSUMER_GROUP, consumer_group_answers)

    def share_groups(self, names: Sequence[str]) -> list[DescribedPartitionGroup]:
        """Share groups (KIP-932), unordered; includes groups with an error."""
        wanted, _ = share_group_messages()

        def request(of: list[str]) -> Any:
            return wanted(group_ids=of, include_authorized_operations=False)

        return self._described(names, request, _DESCRIBE_SHARE_GROUP, consumer_group_answers)

    def topics(self, names: Sequence[str] | None = None) -> ClusterAnswer:
        """``None``: all topics."""
        message = self._metadata(names)
        self._keep(_METADATA, message)
        return cluster_answer(message)

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        from kafka import TopicPartition as Partition

        wanted = {Partition(*each): -1 for each in partitions}
        if not wanted:
            return {}
        visible = cluster_answer(self._metadata({each.topic for each in wanted})).topics
        if hidden := sorted({each.topic for each in wanted if each.partition not in visible.get(each.topic, ())}):
            # kafka-python takes a forbidden topic for a late one, and retries.
            raise NotAuthorizedError(f"topic {hidden[0]} is not visible: DESCRIBE on the group's topics is needed")
        found = self._run(lambda: self._admin.list_partition_offsets(wanted))
        return {(each.topic, each.partition): answer.offset for each, answer in found.items()}

    def log_sizes(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The largest replica each, in bytes. Invisible partitions are missing."""
        wanted: dict[str, list[int]] = {}
        for topic, partition in partitions:
            wanted.setdefault(topic, []).append(partition)
        if not wanted:
            return {}
        sizes: dict[TopicPartition, int] = {}
        for broker in self._run(lambda: self._admin.describe_log_dirs(wanted)):
            for folder in broker["log_dirs"]:
                for topic in folder["topics"]:
                    for each in topic["partitions"]:
                        key = (topic["name"], each["partition_index"])
                        if not each["is_future_key"]:
                            sizes[key] = max(sizes.get(key, 0), each["partition_size"])
        return sizes

    def latest_version(self, key: int) -> int | None:
        """``None``: unsupported."""
        versions_of_broker = self._admin._manager.broker_version_data
        versions = None if versions_of_broker is None else (versions_of_broker.api_versions or {}).get(key)
        return None if versions is None else int(versions[1])

    def release(self) -> KafkaRelease | None:
        """The release of the brokers, as far as their API versions show it."""
        return release_of_broker(self.latest_version)

    def group_config(self, group: str) -> dict[str, str]:
        """With defaults; empty if not authorized."""
        return self.group_configs([group]).get(group, {})

    def group_configs(self, groups: Sequence[str]) -> dict[str, dict[str, str]]:
        """With defaults; empty if one group is not authorized."""
        from kafka.admin import ConfigResource

        if not groups:
            return {}
        resources = [ConfigResource("GROUP", group) for group in groups]
        try:
            described = self._run(lambda: self._admin.describe_configs(resources, config_filter="all"))
        except (NotAuthorizedError, TooOldBrokerError, LiveClusterError):
            return {}
        return {group: _flat(configs) for of_kind in described.values() for group, configs in of_kind.items()}

    def committed_metadata(self, groups: Sequence[str]) -> dict[str, list[str]]:
        """Unauthorized groups are missing."""
        found: dict[str, list[str]] = {}
        for start in range(0, len(groups), _AT_ONCE):
            some = groups[start : start + _AT_ONCE]
            try:
                found |= self._committed(some)
            except (NotAuthorizedError, TooOldBrokerError):
                # One unauthorized group fails the whole request; brokers before 3.0 take one at a time.
                for group in some:
                    with contextlib.suppress(NotAuthorizedError, TooOldBrokerError):
                        found |= self._committed([group])
        return found

    def committed_offsets(self, group: str) -> dict[TopicPartition, int]:
        """Without partitions that have no offset; empty if not authorized."""
        try:
            found = self._run(lambda: self._admin.list_group_offsets({group: None}))
        except (NotAuthorizedError, TooOldBrokerError):
            return {}
        return {
            (each.topic, each.partition): int(held.offset)
            for each, held in found.get(group, {}).items()
            if held.offset >= 0
        }

    # --- inside -----------------------------------------------------------------------------------------

    def _committed(self, groups: Sequence[str]) -> dict[str, list[str]]:
        committed = self._run(lambda: self._admin.list_group_offsets(dict.fromkeys(groups)))
        return {group: [each.metadata or "" for each in offsets.values()] for group, offsets in committed.items()}

    def _described(
        self, names: Sequence[str], request: Callable[[list[str]], Any], key: int, values: Callable[[Any], list[T]]
    ) -> list[T]:
        """In batches; a group with a moved coordinator is retried until the timeout."""
        from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_random_exponential

        found: list[T] = []
        left = list(names)

        def ask() -> list[str]:
            moving: list[str] = []
            for coordinator, of in self._by_coordinator(left).items():
                for start in range(0, len(of), _AT_ONCE):
                    message = self._send(partial(request, of[start : start + _AT_ONCE]), coordinator)
                    self._keep(key, message)
                    for raw, value in zip(message.groups, values(message), strict=True):
                        if raw.error_code in _MOVING:
                            moving.append(raw.group_id)
                        else:
                            found.append(value)
            self._forget_coordinators(moving)
            left[:] = moving
            return moving

        again = Retrying(
            retry=retry_if_result(bool),
            wait=wait_random_exponential(0.2, max=2),
            stop=stop_after_delay(self._access.request_timeout_ms / 1_000),
        )
        try:
            again(ask)
        except RetryError:
            raise LiveClusterError(
                f"the coordinator of {_some(left)} is not available: try again when the brokers have settled"
            ) from None
        return found

    def _by_coordinator(self, names: Sequence[str]) -> dict[int, list[str]]:
        grouped: dict[int, list[str]] = {}
        for name, node in self._coordinators(names).items():
            grouped.setdefault(node, []).append(name)
        return grouped

    def _coordinators(self, names: Sequence[str]) -> dict[str, int]:
        """Of several groups, unauthorized ones are left out."""
        manager = self._admin._manager

        def found(of: Sequence[str]) -> dict[str, int]:
            coordinators: dict[str, int] = self._run(lambda: manager.run(self._admin._find_coordinator_ids, list(of)))
            return coordinators

        try:
            return found(names)
        except NotAuthorizedError:
            # One unauthorized group fails the whole request.
            if len(names) == 1:
                raise
            coordinators: dict[str, int] = {}
            for name in names:
                with contextlib.suppress(NotAuthorizedError):
                    coordinators |= found([name])
            return coordinators

    def _forget_coordinators(self, names: Iterable[str]) -> None:
        known = self._admin._manager.cluster._coordinators
        gone = frozenset(names)
        for key in [key for key in known if key[1] in gone]:
            known.pop(key, None)

    def _metadata(self, names: Iterable[str] | None) -> Any:
        from kafka.protocol.metadata import MetadataRequest

        wanted = None if names is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        return self._send(lambda: MetadataRequest(topics=wanted, allow_auto_topic_creation=False), None)

    def _send(self, request: Callable[[], Any], node: int | None) -> Any:
        manager = self._admin._manager
        return self._run(lambda: manager.run(manager.send, request(), node))

    def _run(self, call: Callable[[], T]) -> T:
        """Retries while a broker is unavailable."""
        from kafka.errors import IncompatibleBrokerVersion, KafkaTimeoutError, RetriableError
        from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

        def is_passing(error: BaseException) -> bool:
            refused = (IncompatibleBrokerVersion, KafkaTimeoutError)
            return isinstance(error, RetriableError) and not isinstance(error, refused)

        again = Retrying(
            retry=retry_if_exception(is_passing),
            wait=wait_random_exponential(0.1, max=1),
            stop=stop_after_delay(self._access.request_timeout_ms / 1_000),
            reraise=True,
        )
        with translated(self._access):
            return again(call)

    def _keep(self, key: int, message: Any) -> None:
        if self._on_exchange is None:
            return
        # The original bytes, except for a header without content.
        message.with_header()
        self._on_exchange(
            {
                "t": time.time_ns() // 1_000_000,
                "api_key": key,
                "api_version": message.API_VERSION,
                "response_hex": message.encode(header=True).hex(),
            }
        )


def _flat(configs: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(each["value"] if isinstance(each, Mapping) else each) for key, each in configs.items()}


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"group {name}" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


@contextmanager
def translated(access: BrokerAccess) -> Iterator[None]:
    from kafka.errors import (
        AuthorizationError,
        CoordinatorLoadInProgressError,
        CoordinatorNotAvailableError,
        CorruptRecordError,
        GroupAuthorizationFailedError,
        IllegalSaslStateError,
        IncompatibleBrokerVersion,
        KafkaConfigurationError,
        KafkaError,
        NotCoordinatorError,
        SaslAuthenticationFailedError,
        UnsupportedCodecError,
        UnsupportedSaslMechanismError,
        UnsupportedVersionError,
    )

    try:
        yield
    except SaslAuthenticationFailedError as error:
        raise NotAuthorizedError(
            f"the brokers refuse the login ({access.mechanism}): check name and password or token in --command-config"
        ) from error
    except UnsupportedSaslMechanismError as error:
        taken = ", ".join(offered_mechanisms(access)) or "others"
        raise NotAuthorizedError(
            f"this port does not take sasl.mechanism={access.mechanism}: it takes {taken}; set one in --command-config"
        ) from error
    except IllegalSaslStateError as error:
        wanted = "SSL" if access.tls is not None else "PLAINTEXT"
        raise UnreachableBrokersError(
            f"this port takes no login (SASL): set security.protocol={wanted} in --command-config, or use a SASL port"
        ) from error
    except GroupAuthorizationFailedError as error:
        raise NotAuthorizedError("may not be described: DESCRIBE on the group is needed") from error
    except AuthorizationError as error:
        raise NotAuthorizedError(
            f"the brokers do not permit this ({type(error).__name__}): see the table of rights in the docs, "
            "'Read a group from your cluster'"
        ) from error
    except (IncompatibleBrokerVersion, UnsupportedVersionError) as error:
        raise TooOldBrokerError(
            "the brokers are too old: groups of the streams protocol need Kafka 4.1 or later"
        ) from error
    except (CoordinatorNotAvailableError, CoordinatorLoadInProgressError, NotCoordinatorError) as error:
        raise LiveClusterError(
            "the brokers name no coordinator of the group: try again when they have settled (topic "
            "__consumer_offsets needs a leader for each partition)"
        ) from error
    except UnsupportedCodecError as error:
        raise LiveClusterError(
            f"the topic's records are compressed by a codec that kafka-python has no library for ({error}): install "
            "lz4, zstandard or python-snappy, or read copies of its log segments with --segments"
        ) from error
    except CorruptRecordError as error:
        raise LiveClusterError(
            f"the topic has a batch that cannot be read ({error}): read copies of its log segments with --segments, "
            "which passes over it"
        ) from error
    except KafkaConfigurationError as error:
        raise LiveClusterError(f"kafka-python refuses the settings: {error}") from error
    except KafkaError as error:
        raise UnreachableBrokersError(f"no broker answers: {why_unreachable(access)}") from error
