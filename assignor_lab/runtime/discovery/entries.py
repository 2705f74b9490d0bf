"""Entries of plugins that another process has imported: every call goes to that process.

An assignor works as any isolated one (:mod:`assignor_lab.runtime.isolation.plugins`), also through its factory.
Metrics, families and observers of one entry point share a process. An exception there is raised here under the same
name, so that equal faults give equal rows in every process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import count
from time import monotonic
from typing import Any, NoReturn

import attrs

from assignment_api import ApplicationMetadata, AssignorLabError, TaskAssignment, TaskAssignor
from assignment_api.connect import ConnectAssignment, ConnectAssignor, Rebalance
from assignment_api.consumer import (
    ConsumerGroupPartitionAssignor,
    ConsumerGroupState,
    ConsumerPartitionAssignor,
    PartitionAssignment,
    ShareGroupPartitionAssignor,
    SubscribedGroup,
)
from assignment_api.group import GroupAssignment, GroupSpec, TopologyDescriber
from assignment_api.group import TaskAssignor as GroupTaskAssignor
from assignment_api.plugins import (
    ConnectAssignorPlugin,
    ConnectorPlugin,
    GroupAssignorPlugin,
    MetricPlugin,
    PartitionAssignorPlugin,
    PluginLoadError,
    ScenarioFamily,
    Setting,
    TaskAssignorPlugin,
)
from assignment_api.plugins.discovery import OBSERVING_HOOKS, ask_here
from assignment_api.plugins.reserved import PARTITION_ASSIGNORS
from assignor_lab.runtime.assignor_calls import AssignorCalls, CalledAssignor
from assignor_lab.runtime.discovery.descriptions import EntryPointDescription, Offered
from assignor_lab.runtime.discovery.passing import Packer
from assignor_lab.runtime.invocation import CallFailure
from assignor_lab.runtime.isolation.errors import (
    AnswerFormatError,
    DeadlineExceededError,
    ExcludedError,
    IsolationError,
)
from assignor_lab.runtime.isolation.exclusion import MAX_LOSSES
from assignor_lab.runtime.isolation.origin import AssignorOrigin, PluginOrigin
from assignor_lab.runtime.isolation.plugins import Isolation, failure_in
from assignor_lab.runtime.isolation.process import Question
from assignor_lab.runtime.isolation.worker import named

__all__ = ["DiscoveredAssignor", "RaisedApartError", "assignor_entry", "entry_of", "is_apart", "raised"]

HANDLERS = "assignor_lab.runtime.discovery.handlers"
#: Longest document of a family, in bytes.
MAX_DOCUMENT_BYTES = 32 * 2**20

#: Seconds for all sizes of a family together, besides the deadline of each: sizes are only estimates for the schedule.
SIZES_SECONDS = 10.0
PROMPT_SECONDS = 0.01

#: Kind to the place of its ``AssignorCalls``, which is imported with the first call.
ASKING_PLACES = {
    "task-assignor": "assignor_lab.groups.streams.assignor_calls:ASKING",
    "connect-assignor": "assignor_lab.groups.connect.assignor_calls:ASKING",
    "group-assignor": "assignor_lab.groups.streams_group.assignor_calls:ASKING",
    "consumer-assignor": "assignor_lab.groups.consumer.assignor_calls:CONSUMER_CALLS",
    "consumer-group-assignor": "assignor_lab.groups.consumer.assignor_calls:CONSUMER_GROUP_CALLS",
    "share-group-assignor": "assignor_lab.groups.consumer.assignor_calls:SHARE_GROUP_CALLS",
}
_numbers = count(1)


class RaisedApartError(AssignorLabError):
    """An error of a plugin in its own process; subclasses have the name of the plugin's error."""

    raised_at: str = ""


def raised(failure: CallFailure) -> RaisedApartError:
    name = failure.type if failure.type.isidentifier() else "RaisedApartError"
    made: type[RaisedApartError] = type(name, (RaisedApartError,), {"java_type": failure.java_type})
    error = made(failure.message)
    error.raised_at = failure.traceback
    return error


def entry_of(description: EntryPointDescription, offered: Offered, isolation: Isolation) -> Any:
    """The entry for a described offer.

    Raises:
        PluginDefinitionError: if its fields are not those of an entry.
    """
    kind, fields, origin = offered.kind, dict(offered.fields), description.origin
    if kind in ASKING_PLACES:
        return assignor_entry(
            kind, fields, DiscoveredAssignor(kind, offered.name, origin.distribution, origin, isolation)
        )
    if kind in OBSERVING_HOOKS.values():
        return _Observer(kind, offered.name, origin, isolation)
    if kind == "connector":
        return ConnectorPlugin(load=_ConnectorHere(offered.name, origin), **fields)
    if kind == "metric":
        return MetricPlugin(compute=_Metric(offered.name, origin, isolation), **fields)
    has_size = fields.pop("has_size")
    family = _Family(offered.name, origin, isolation)
    return ScenarioFamily(history=family.history, size=family.size if has_size else None, **fields)


def is_apart(entry: Any) -> bool:
    """True if a metric or family is in another process."""
    made = getattr(entry, "compute", None) or getattr(getattr(entry, "history", None), "__self__", None)
    return isinstance(made, _Part)


def assignor_entry(kind: str, fields: Mapping[str, Any], factory: DiscoveredAssignor) -> Any:
    """The entry of an assignor of a kind; raises as :func:`entry_of`."""
    entries: Mapping[str, Callable[..., Any]] = {
        "task-assignor": TaskAssignorPlugin,
        "connect-assignor": ConnectAssignorPlugin,
        "group-assignor": GroupAssignorPlugin,
        **dict.fromkeys(PARTITION_ASSIGNORS, PartitionAssignorPlugin),
    }
    settings = tuple(Setting(*each) for each in fields["settings"])
    return entries[kind](factory=factory, **{**fields, "settings": settings})


# --- assignors ------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class DiscoveredAssignor:
    """The factory of an assignor in its own process; its objects call that process.

    Args:
        kind: Kind of the assignor, as in listings.
        digest: SHA-256 (hex) of the file of ``module:attribute`` or of other named code, or ``None``.
    """

    kind: str
    name: str
    distribution: str | None
    origin: AssignorOrigin | None
    isolation: Isolation
    digest: str | None = None

    def __call__(self) -> Any:
        made: Mapping[str, Callable[[DiscoveredAssignor], Any]] = {
            "task-assignor": _TaskAssignor,
            "connect-assignor": _ConnectAssignor,
            "group-assignor": _GroupAssignor,
            "consumer-assignor": _ConsumerAssignor,
            "consumer-group-assignor": _ConsumerGroupAssignor,
            "share-group-assignor": _ShareGroupAssignor,
        }
        return made[self.kind](self)

    @property
    def plugin(self) -> Any:
        return attrs.make_class("_Entry", {"factory": attrs.field(default=self)}, frozen=True)()

    def asked(self, configs: Mapping[str, object]) -> CalledAssignor[Any, Any]:
        asking: AssignorCalls[Any, Any] = named(ASKING_PLACES[self.kind])
        return self.isolation.assignor(asking, self, configs)

    def state(self, *parts: Any) -> Any:
        """The state for an assignor of this kind, from the arguments of its ``assign``."""
        if self.kind != "group-assignor":
            return parts[0]
        return named("assignor_lab.groups.streams_group.assignor_calls:StreamsGroupState")(*parts)


class _LateConfigured:
    def __init__(self, apart: DiscoveredAssignor, called: CalledAssignor[Any, Any] | None = None) -> None:
        self._apart = apart
        self._asked = called

    def configure(self, configs: Mapping[str, object]) -> None:
        self._asked = self._apart.asked(configs)

    def _answer(self, *parts: Any) -> Any:
        called = self._asked or self._apart.asked({})
        self._asked = called
        outcome = called.ask(self._apart.state(*parts))
        if outcome.loss is not None:
            raise outcome.loss
        if isinstance(outcome.result, CallFailure):
            raise raised(outcome.result)
        return outcome.result

    def __deepcopy__(self, _memo: object) -> Any:
        return type(self)(self._apart, None if self._asked is None else self._asked.copied())


class _TaskAssignor(_LateConfigured, TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        answer: TaskAssignment = self._answer(application)
        return answer


class _ConnectAssignor(_LateConfigured, ConnectAssignor):
    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        answer: ConnectAssignment = self._answer(rebalance)
        return answer


class _GroupAssignor(_LateConfigured, GroupTaskAssignor):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        answer: GroupAssignment = self._answer(group, topology)
        return answer


class _ConsumerAssignor(_LateConfigured, ConsumerPartitionAssignor):
    def assign(self, group: ConsumerGroupState) -> PartitionAssignment:
        answer: PartitionAssignment = self._answer(group)
        return answer


class _ConsumerGroupAssignor(_LateConfigured, ConsumerGroupPartitionAssignor):
    def assign(self, group: SubscribedGroup) -> PartitionAssignment:
        answer: PartitionAssignment = self._answer(group)
        return answer


class _ShareGroupAssignor(_LateConfigured, ShareGroupPartitionAssignor):
    def assign(self, group: SubscribedGroup) -> PartitionAssignment:
        answer: PartitionAssignment = self._answer(group)
        return answer


# --- metrics, families, observers -----------------------------------------------------------------


class _Part:
    _packer = Packer()

    def __init__(self, noun: str, name: str, origin: PluginOrigin, isolation: Isolation) -> None:
        self._noun, self._name, self._origin, self._isolation = noun, name, origin, isolation

    @property
    def _subject(self) -> str:
        return f"{self._noun} {self._name} of {self._origin.distribution}"

    @property
    def _process(self) -> Any:
        return self._isolation.process_at(self._origin, f"{HANDLERS}:load", (HANDLERS,))

    def _asked(self, question: Question | Callable[[int], Question], most_bytes: int | None = None) -> dict[str, Any]:
        limit = {} if most_bytes is None else {"most_bytes": most_bytes}
        document: dict[str, Any] = self._process.ask(question, self._subject, **limit)
        if "failure" not in document:
            return document
        try:
            failure = failure_in(document)
        except AnswerFormatError:
            self._refuse()
        raise raised(failure)

    def _refuse(self) -> NoReturn:
        raise self._process.refuse()

    def _figure(self, document: Mapping[str, Any], *, may_lack: bool) -> float | None:
        figure = document.get("figure")
        if not (figure is None and may_lack) and type(figure) not in (int, float):
            self._refuse()
        return figure


class _Metric(_Part):
    def __init__(self, name: str, origin: PluginOrigin, isolation: Isolation) -> None:
        super().__init__("metric", name, origin, isolation)

    def __call__(self, *shown: Any) -> float | None:
        packed = tuple(self._packer.packed(each) for each in shown)
        return self._figure(self._asked((f"{HANDLERS}:measure", (self._name, packed))), may_lack=True)


class _Family(_Part):
    def __init__(self, name: str, origin: PluginOrigin, isolation: Isolation) -> None:
        super().__init__("scenario family", name, origin, isolation)
        self._no_sizes: IsolationError | None = None
        self._seconds = 0.0

    def history(self, seed: int) -> _History:
        return _History(self, seed)

    def size(self, seed: int) -> float:
        if self._no_sizes is not None:
            raise self._no_sizes
        start = monotonic()
        try:
            figure = self._figure(self._asked((f"{HANDLERS}:size", (self._name, seed))), may_lack=False)
        except IsolationError as error:
            self._no_sizes = error
            raise
        self._seconds += max(monotonic() - start - PROMPT_SECONDS, 0.0)
        if self._seconds > SIZES_SECONDS:
            # Sizes that are each in time may together take longer than the run.
            self._no_sizes = IsolationError(f"{self._subject} takes too long for its sizes")
        assert figure is not None
        return figure

    def round_of(self, seed: int, key: int, number: int, past: list[bytes], start: int) -> tuple[Any, int]:
        """The document of a round, and the start of the process that generated it."""
        process = self._process

        def question(now: int) -> Question:
            known = tuple(past[-1:]) if now == start else tuple(past)
            return (f"{HANDLERS}:next_round", (self._name, seed, key, number, known))

        text = self._asked(question, MAX_DOCUMENT_BYTES).get("document")
        if type(text) is not str:
            self._refuse()
        try:
            return json.loads(text), process.start
        except (ValueError, RecursionError):
            self._refuse()

    def packed(self, value: object) -> bytes:
        return self._packer.packed(value)


class _History:
    def __init__(self, family: _Family, seed: int) -> None:
        self._family, self._seed = family, seed
        self._key = next(_numbers)
        self._past: list[bytes] = []
        self._start = -1

    def round(self, number: int, previous: object) -> Any:
        self._past.append(self._family.packed(previous))
        document, self._start = self._family.round_of(self._seed, self._key, number, self._past, self._start)
        return document


class _Observer(_Part):
    def __init__(self, kind: str, name: str, origin: PluginOrigin, isolation: Isolation) -> None:
        super().__init__("observer", name, origin, isolation)
        self._kind = kind
        self._losses = 0

    def __call__(self, **shown: Any) -> None:
        if self._losses >= MAX_LOSSES:
            raise ExcludedError(f"{self._subject} is no longer called: its process had to be ended too often")
        packed = {key: self._packer.packed(value) for key, value in shown.items()}
        try:
            self._asked((f"{HANDLERS}:tell", (self._kind, self._name, packed)))
        except IsolationError as error:
            self._losses += MAX_LOSSES if isinstance(error, DeadlineExceededError) else 1
            raise


# --- connectors -----------------------------------------------------------------------------------


@attrs.frozen
class _ConnectorHere:
    """Imports a connector here, where it runs; only ``assignor connect serve`` does this."""

    name: str
    origin: PluginOrigin

    def __call__(self) -> Any:
        (reply,) = ask_here([self.origin.source()])
        for offer in reply.offers:
            if (offer.kind, offer.name) == ("connector", self.name):
                return offer.entry.load()
        reasons = "; ".join(row.reason for row in reply.problems) or "it is not offered any more"
        raise PluginLoadError(f"connector {self.name!r} of {self.origin.distribution} cannot be loaded: {reasons}")
