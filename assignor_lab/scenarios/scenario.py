"""One scenario: an assignor's whole input, and its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.connect import CONNECT_PROTOCOL, MAX_DELAY_KEY
from assignment_api.consumer import ConsumerGroupState
from assignment_api.group import AssignmentConfigs as GroupConfigs
from assignment_api.group import GroupMember, GroupSpec, Subtopology, TopologyDescriber
from assignment_api.notebook import paragraph
from assignment_api.streams import (
    ApplicationMetadata,
    AssignmentConfigs,
    ProcessID,
    StreamsClientState,
    TaskInfo,
    Workload,
)
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS, RACK_AWARE_ASSIGNMENT_TAGS
from assignment_api.streams.task_table import TaskTable
from assignor_lab.documents.errors import Place
from assignor_lab.documents.wording import moment
from assignor_lab.scenarios.connect_history import ConnectHistory
from assignor_lab.scenarios.errors import ScenarioKindError
from assignor_lab.scenarios.settings import with_release
from assignor_lab.scenarios.shown import application_html, events_html, history_html

#: Value of a key of Kafka in the configuration of a state.
ConfigValue = int | str | bool | Sequence[str] | None

__all__ = ["ConfigValue", "EpisodeContent", "GroupContent", "Scenario", "StreamsContent"]


@attrs.frozen(eq=False)
class StreamsContent:
    """Content of a scenario of kind ``streams``, as values of the SPI.

    Args:
        tasks: All tasks, in the order of the document; a table if other states share it.
        clients: All clients, likewise.
        time_ms: Moment of the rebalance in epoch milliseconds; 0 if the document lacks it.
        workload: Weights of the tasks; ``None`` if the document lacks them.
    """

    config: Mapping[str, ConfigValue]
    tasks: tuple[TaskInfo, ...] | TaskTable
    clients: tuple[StreamsClientState, ...]
    time_ms: int
    workload: Workload | None = None


@attrs.frozen(eq=False)
class EpisodeContent:
    """The part of a scenario of kind ``streams-episode`` that is read with the document.

    Args:
        initial: The application at the start of the episode.
    """

    initial: StreamsContent


@attrs.frozen(eq=False)
class GroupContent:
    """Content of a scenario of kind ``streams-group``, as values of the SPI.

    Args:
        members: Member id to member, in the order of the document.
        subtopologies: In the order of the document; of several with one id the last one counts.
    """

    config: Mapping[str, ConfigValue]
    members: Mapping[str, GroupMember]
    subtopologies: tuple[Subtopology, ...]


@attrs.frozen(eq=False)
class Scenario:
    """A scenario of any kind.

    Args:
        kind: ``streams``, ``connect``, ``streams-group``, ``streams-episode``, ``connect-episode``, ``consumer``,
            ``consumer-group``, ``share-group``, or a further one.
        content: Its value, of its format: :class:`StreamsContent`, :class:`GroupContent`, :class:`EpisodeContent`,
            :class:`~assignor_lab.scenarios.connect_history.ConnectHistory`,
            :class:`~assignment_api.consumer.ConsumerGroupState`, :class:`~assignment_api.consumer.SubscribedGroup`,
            or a value of a further kind's own; ``None`` for kinds that are not read in full.
    """

    id: str
    kind: str
    document: Mapping[str, Any] = attrs.field(repr=False)
    place: Place
    content: Any = attrs.field(default=None, repr=False)
    #: The application under the scenario's own config, after the first request.
    _own_application: list[ApplicationMetadata] = attrs.field(factory=list, init=False, repr=False)

    @property
    def application(self) -> ApplicationMetadata:
        """The application under the scenario's own config; each access returns one without computed lags.

        The leader is unknown, and the time is that of ``source``, else 0.

        Raises:
            ScenarioKindError: if the scenario is of another kind.
            ConfigError: if Kafka would refuse the config.
            IllegalAssignmentStateError: if only some tasks belong to named topologies.
        """
        if not self._own_application:
            self._own_application.append(self.application_with({}))
        return self._own_application[0].for_next_assignor()

    def application_with(self, config: Mapping[str, object]) -> ApplicationMetadata:
        """The application with entries of ``config`` in place of the scenario's own.

        Args:
            config: Kafka's keys to values, for example the effective configuration of a command. Keys that do not
                concern assignment are ignored.

        Raises:
            ScenarioKindError, ConfigError, IllegalAssignmentStateError: as ``application``.
        """
        streams = self._streams_content()
        return ApplicationMetadata(
            _assignment_configs(streams.config, config),
            streams.tasks,
            streams.clients,
            streams.time_ms,
            workload=streams.workload,
        )

    @property
    def tasks(self) -> tuple[TaskInfo, ...]:
        """The tasks, in the order of the document.

        Raises:
            ScenarioKindError: if the scenario is of another kind than ``streams``.
        """
        return tuple(self._streams_content().tasks)

    @property
    def clients(self) -> tuple[StreamsClientState, ...]:
        """The clients, in the order of the document, for callers that need no lags.

        Raises:
            ScenarioKindError: if the scenario is of another kind than ``streams``.
        """
        return self._streams_content().clients

    @property
    def process_ids(self) -> tuple[ProcessID, ...]:
        """The clients, in the order of the document.

        Raises:
            ScenarioKindError: if the scenario is of another kind.
        """
        return tuple(client.process_id for client in self._streams_content().clients)

    @property
    def config(self) -> Mapping[str, ConfigValue]:
        """The scenario's own configuration, with the release of its source; empty for kinds without one."""
        if isinstance(self.content, ConnectHistory):
            return {CONNECT_PROTOCOL: self.content.protocol.value, MAX_DELAY_KEY: self.content.max_delay_ms}
        settings = self.document.get("settings", {})
        if isinstance(self.content, StreamsContent):
            return with_release(self.content.config, settings)
        if isinstance(self.content, EpisodeContent):
            settings = {**self.document["initial"].get("settings", {}), **settings}
            return with_release(self.content.initial.config, settings)
        return with_release(self.document.get("config", {}), settings)

    @property
    def observed(self) -> Mapping[str, Any] | None:
        """Kafka's own decision in this state (``assignment``, ``followup``, ``threads``), or ``None``."""
        return self.document.get("observed")

    @property
    def assumptions(self) -> Sequence[str]:
        """Sentences about facts that the source of the state lacks."""
        return self.document.get("assumptions", ())  # type: ignore[no-any-return]

    @property
    def source(self) -> Mapping[str, Any] | None:
        """Origin of a captured state (``file``, ``line``, ``time_ms``, ``group``, ``generation``), or ``None``."""
        return self.document.get("source")

    @property
    def group_spec(self) -> GroupSpec:
        """The group under the scenario's own config.

        Raises:
            ScenarioKindError: if the scenario is of another kind than ``streams-group``.
            GroupConfigError: if the number of standbys is none that Kafka could parse.
        """
        return self.group_spec_with({})

    def group_spec_with(self, config: Mapping[str, object]) -> GroupSpec:
        """The group with entries of ``config`` in place of the scenario's own; other keys are ignored.

        Raises:
            ScenarioKindError, GroupConfigError: as ``group_spec``.
        """
        group = self._group_content()
        known = {key: config[key] for key in (NUM_STANDBY_REPLICAS, RACK_AWARE_ASSIGNMENT_TAGS) if key in config}
        # Kafka's map has the number of standbys unless it is empty.
        standbys = {NUM_STANDBY_REPLICAS: 0} if known and not group.config else {}
        return GroupSpec(group.members, GroupConfigs.from_mapping({**standbys, **group.config, **known}))

    @property
    def topology(self) -> TopologyDescriber:
        """The topology of a group.

        Raises:
            ScenarioKindError: if the scenario is of another kind than ``streams-group``.
        """
        return TopologyDescriber(self._group_content().subtopologies)

    @property
    def member_ids(self) -> tuple[str, ...]:
        """The members of a group, in the order of the document.

        Raises:
            ScenarioKindError: if the scenario is of another kind than ``streams-group``.
        """
        return tuple(self._group_content().members)

    @property
    def connect_history(self) -> ConnectHistory:
        """A Connect group over its rebalances.

        Raises:
            ScenarioKindError: if the scenario is of another kind than ``connect``.
        """
        if not isinstance(self.content, ConnectHistory):
            raise self._other_kind("history of a Connect group")
        return self.content

    def _repr_html_(self) -> str:
        """Tables for notebooks: the origin, the clients and their tasks."""
        caption = f"Scenario {self.id}, kind {self.kind}, read at {self.place}"
        time_ms = (self.source or {}).get("time_ms")
        parts = [paragraph(caption if time_ms is None else f"{caption}, decided {moment(time_ms)}")]
        if isinstance(self.content, StreamsContent):
            parts.append(application_html(self.content.tasks, self.content.clients))
        elif isinstance(self.content, EpisodeContent):
            parts.append(application_html(self.content.initial.tasks, self.content.initial.clients))
            parts.append(events_html(self.document.get("events", ())))
        elif isinstance(self.content, GroupContent):
            parts.append(GroupSpec(self.content.members)._repr_html_())
        elif isinstance(self.content, ConnectHistory):
            parts.append(history_html(self.content))
        elif isinstance(self.content, ConsumerGroupState):
            parts.append(self.content._repr_html_())
        parts += [paragraph(f"Assumed: {sentence}") for sentence in self.assumptions[:3]]
        return f"<div>{''.join(parts)}</div>"

    def _streams_content(self) -> StreamsContent:
        if not isinstance(self.content, StreamsContent):
            raise self._other_kind("Streams application")
        return self.content

    def _group_content(self) -> GroupContent:
        if not isinstance(self.content, GroupContent):
            raise self._other_kind("group of the broker-side protocol")
        return self.content

    def _other_kind(self, missing: str) -> ScenarioKindError:
        return ScenarioKindError(
            f"{self.place}: scenario {self.id!r} is of kind {self.kind!r} and has no {missing}; "
            "give it to an assignor of its own kind"
        )


_latest_configs: tuple[Mapping[str, object], Mapping[str, object], AssignmentConfigs] | None = None


def _assignment_configs(own: Mapping[str, object], replaced: Mapping[str, object]) -> AssignmentConfigs:
    global _latest_configs  # noqa: PLW0603 - a memory of one: the rounds of a history share their configuration
    known = _latest_configs
    if known is not None and known[0] is own and known[1] is replaced:
        return known[2]
    configs = AssignmentConfigs.from_mapping({**own, **replaced})
    if isinstance(own, MappingProxyType) and isinstance(replaced, MappingProxyType):
        _latest_configs = own, replaced, configs
    return configs
