"""Registry of found plugins. It holds modules: other processes run their own discovery."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import Distribution
from typing import Any, TypeVar

import attrs

from assignment_api.connect import ConnectAssignment, Rebalance
from assignment_api.consumer import ConsumerGroupState, PartitionAssignment, SubscribedGroup
from assignment_api.group import GroupAssignment, GroupSpec, TopologyDescriber
from assignment_api.plugins.discovery import Ask, Offer, PluginRow, ask_here, collect, describe_error
from assignment_api.plugins.entries import (
    ConnectorPlugin,
    GroupAssignorPlugin,
    MetricPlugin,
    PartitionAssignorPlugin,
    ScenarioFamily,
)
from assignment_api.plugins.errors import (
    AmbiguousPluginError,
    PluginLoadError,
    UnknownPluginError,
    UntrustedCodeError,
)
from assignment_api.plugins.found import Found, FoundConnectAssignor, FoundTaskAssignor
from assignment_api.plugins.named_code import HERE, NamedCode
from assignment_api.plugins.naming import names_of, settle
from assignment_api.plugins.near import did_you_mean
from assignment_api.plugins.policy import Policy
from assignment_api.plugins.releases import at_release, name_and_release
from assignment_api.plugins.reserved import (
    BUILTIN_DISTRIBUTION,
    KAFKA_CONNECT_ASSIGNORS,
    KAFKA_TASK_ASSIGNORS,
    canonical_name,
)
from assignment_api.releases import release_named
from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import AssignmentError, TaskAssignment

__all__ = ["Registry", "discover"]

P = TypeVar("P")

_NOUNS = {
    "task-assignor": "assignor",
    "connect-assignor": "Connect assignor",
    "connector": "connector",
    "group-assignor": "group assignor",
    "consumer-assignor": "consumer assignor",
    "consumer-group-assignor": "consumer-group assignor",
    "share-group-assignor": "share-group assignor",
    "metric": "metric",
    "scenario-family": "scenario family",
}
_PURPOSES = {
    "task-assignor": "task assignor for Streams applications",
    "connect-assignor": "Connect assignor",
    "group-assignor": "broker-side assignor for Streams groups",
    "consumer-assignor": "client-side assignor for consumer groups",
    "consumer-group-assignor": "broker-side assignor for consumer groups",
    "share-group-assignor": "broker-side assignor for share groups",
}
_ASSIGNORS = tuple(_PURPOSES)
#: ``NAME@RELEASE`` selects one of these.
_WITH_RELEASES = ("task-assignor", "connect-assignor", "group-assignor")

_AN = {
    "task-assignor": "an assignor",
    "connect-assignor": "a Connect assignor",
    "group-assignor": "a group assignor",
    "consumer-assignor": "a consumer assignor",
    "consumer-group-assignor": "a consumer-group assignor",
    "share-group-assignor": "a share-group assignor",
}


def discover(
    policy: Policy | None = None,
    installed: Iterable[Distribution] | None = None,
    ask: Ask = ask_here,
    code: NamedCode = HERE,
) -> Registry:
    """Import the allowed plugins.

    Unusable plugins raise nothing: they are rows of :meth:`Registry.listing`. By default plugins run in this process,
    with full access to it; ``ask`` and ``code`` may use other processes.

    Args:
        policy: ``None``: all installed plugins.
        installed: Distributions to search; ``None``: all.
    """
    chosen = policy or Policy()
    offers, problems = collect(chosen, installed, ask)
    return Registry(chosen, offers, problems, code)


class Registry:
    """All offers of plugins.

    Order: this project's own distribution, then by distribution and entry point, then as the hook returned them.

    Args:
        policy: Applies to ``module:attribute``, too.
        problems: Rows of unusable plugins.
    """

    __slots__ = ("_code", "_names", "_named_code", "_of_kind", "_policy", "_problems")

    def __init__(
        self, policy: Policy, offers: Iterable[Offer], problems: Iterable[PluginRow], code: NamedCode = HERE
    ) -> None:
        self._policy = policy
        self._code = code
        #: ``module:attribute`` by kind and text: its distribution takes a scan of all.
        self._named_code: dict[tuple[str, str], Any] = {}
        self._names = settle(offers)
        self._of_kind: dict[str, list[Offer]] = {}
        for offer in self._names.offers:
            self._of_kind.setdefault(offer.kind, []).append(offer)
        self._problems = tuple(problems)

    # --- task assignors ---------------------------------------------------------------------------

    def task_assignor(self, selector: str, *, may_run_code: bool = False) -> FoundTaskAssignor:
        """The selected task assignor.

        Args:
            selector: Name or alias, ``distribution:name``, replaced Java class, each also with ``@RELEASE`` of Kafka,
                or ``module:attribute``.
            may_run_code: Import ``module:attribute``: only if the selector is from the command line or a file named
                there.

        Raises:
            UnknownPluginError: if no plugin has this name.
            AmbiguousPluginError: if two distributions offer it.
            PluginLoadError: if it is blocked, broken or refused.
            UntrustedCodeError: if ``module:attribute`` may not be imported.
            UnknownReleaseError: if the release is unknown, or has no such assignor.
        """
        text = selector.strip()
        name, release = name_and_release(text)
        if release is not None:
            return at_release(self.task_assignor(name, may_run_code=may_run_code), release, self.task_assignors())
        offer = self._named("task-assignor", self._name_for(text, "task-assignor", KAFKA_TASK_ASSIGNORS))
        if offer is not None:
            return self._found(offer)
        self._check_trusted("task-assignor", text, may_run_code=may_run_code)
        return self._from_code("task-assignor", text, self._code.task_assignor)

    def task_assignors(self) -> tuple[FoundTaskAssignor, ...]:
        """Usable ones; those with equal names as ``distribution:name``."""
        return tuple(self._found(offer) for offer in self._names.offers if offer.kind == "task-assignor")

    # --- assignors for Connect --------------------------------------------------------------------

    def connect_assignor(self, selector: str, *, may_run_code: bool = False) -> FoundConnectAssignor:
        """The selected assignor for Kafka Connect, as :meth:`task_assignor`."""
        text = selector.strip()
        name, release = name_and_release(text)
        if release is not None:
            return at_release(self.connect_assignor(name, may_run_code=may_run_code), release, ())
        offer = self._named("connect-assignor", self._name_for(text, "connect-assignor", KAFKA_CONNECT_ASSIGNORS))
        if offer is not None:
            return self._found_connect(offer)
        self._check_trusted("connect-assignor", text, may_run_code=may_run_code)
        return self._from_code("connect-assignor", text, self._code.connect_assignor)

    def connect_assignors(self) -> tuple[FoundConnectAssignor, ...]:
        """Usable ones, as :meth:`task_assignors`."""
        return tuple(self._found_connect(offer) for offer in self._names.offers if offer.kind == "connect-assignor")

    # --- assignors of the brokers -----------------------------------------------------------------

    def group_assignor(self, selector: str, *, may_run_code: bool = False) -> Found[GroupAssignorPlugin]:
        """The selected broker-side assignor, as :meth:`task_assignor`."""
        text = selector.strip()
        name, release = name_and_release(text)
        if release is not None:
            return at_release(self.group_assignor(name, may_run_code=may_run_code), release, self.group_assignors())
        offer = self._named("group-assignor", text)
        if offer is not None:
            return Found(self._names.label(offer), offer.entry, offer.distribution, offer.version)
        self._check_trusted("group-assignor", text, may_run_code=may_run_code)
        return self._from_code("group-assignor", text, self._code.group_assignor)

    def group_assignors(self) -> tuple[Found[GroupAssignorPlugin], ...]:
        """Usable ones, as :meth:`task_assignors`."""
        return self._all("group-assignor", GroupAssignorPlugin)

    # --- assignors of consumer groups and share groups --------------------------------------------

    def partition_assignor(
        self, kind: str, selector: str, *, may_run_code: bool = False
    ) -> Found[PartitionAssignorPlugin]:
        """The selected assignor of a kind, as :meth:`task_assignor`.

        Args:
            kind: ``consumer-assignor``, ``consumer-group-assignor`` or ``share-group-assignor``.
        """
        text = selector.strip()
        name, release = name_and_release(text)
        if release is not None:
            # 4.3.1 and 4.4.0 decide alike (56,412 answers).
            release_named(release)
            return self.partition_assignor(kind, name, may_run_code=may_run_code)
        offer = self._named(kind, text)
        if offer is not None:
            return Found(self._names.label(offer), offer.entry, offer.distribution, offer.version)
        self._check_trusted(kind, text, may_run_code=may_run_code)
        return self._from_code(kind, text, lambda named, policy: self._code.partition_assignor(kind, named, policy))

    def partition_assignors(self, kind: str) -> tuple[Found[PartitionAssignorPlugin], ...]:
        """Usable ones of a kind, as :meth:`task_assignors`."""
        return self._all(kind, PartitionAssignorPlugin)

    def _from_code(self, kind: str, text: str, ask: Callable[[str, Policy], P]) -> P:
        if (kind, text) not in self._named_code:
            code: Any = ask(text, self._policy)
            if not text.startswith("java:"):
                code = attrs.evolve(code, installed=frozenset(row.name for row in self.listing()))
            self._named_code[kind, text] = code
        found: P = self._named_code[kind, text]
        return found

    # --- the other kinds --------------------------------------------------------------------------

    def metrics(self) -> tuple[Found[MetricPlugin], ...]:
        """Usable ones."""
        return self._all("metric", MetricPlugin)

    def metric(self, selector: str) -> Found[MetricPlugin]:
        """By name or ``distribution:name``; raises as :meth:`task_assignor`."""
        return self._selected("metric", selector, MetricPlugin)

    def families(self) -> tuple[Found[ScenarioFamily], ...]:
        """Usable ones."""
        return self._all("scenario-family", ScenarioFamily)

    def family(self, selector: str) -> Found[ScenarioFamily]:
        """By name or ``distribution:name``; raises as :meth:`task_assignor`."""
        return self._selected("scenario-family", selector, ScenarioFamily)

    def connectors(self) -> tuple[Found[ConnectorPlugin], ...]:
        """Usable ones."""
        return self._all("connector", ConnectorPlugin)

    def assignor_kinds(self, selector: str, *, may_run_code: bool = False) -> tuple[str, ...]:
        """Kinds of the usable assignors for ``selector``; arguments as :meth:`task_assignor`.

        Returns:
            Of ``task-assignor``, ``connect-assignor``, ``group-assignor``, ``consumer-assignor``,
            ``consumer-group-assignor``, ``share-group-assignor``, in this order; none for Kafka's Java classes of
            Streams, no plugin, or code that may not run.

        Raises:
            PluginLoadError: if ``module:attribute`` cannot be imported.
        """
        text, release = name_and_release(selector.strip())
        selector = KAFKA_CONNECT_ASSIGNORS.get(text, text)
        first, separator, second = selector.partition(":")
        name = canonical_name(second if separator else first)
        kinds = tuple(
            kind
            for kind in (_ASSIGNORS if release is None else _WITH_RELEASES)
            for offers in [self._names.by_name.get((kind, name), ())]
            if any(not separator or canonical_name(offer.distribution) == canonical_name(first) for offer in offers)
        )
        if kinds or not separator or not may_run_code:
            return kinds
        self._raise_if_known_problem("task-assignor", second, first)
        return self._code.kinds(selector, self._policy)

    def listing(self) -> tuple[PluginRow, ...]:
        """Every found item; unusable ones with a reason."""
        return (*self._names.rows, *self._problems)

    def notify_assignment_computed(
        self,
        assignor: str,
        application: ApplicationMetadata,
        assignment: TaskAssignment | None,
        error: AssignmentError | None = None,
        failure: str | None = None,
    ) -> tuple[PluginRow, ...]:
        """Call observers as hook ``assignor_lab_assignment_computed``.

        Returns:
            A row for each that raised; the others were still called.
        """
        return self._notify(
            "observer",
            lambda entry: entry(
                assignor=assignor,
                application=application.for_next_assignor(),
                assignment=assignment,
                error=error,
                failure=failure,
            ),
        )

    def notify_connect_assignment_computed(
        self, assignor: str, rebalance: Rebalance, assignment: ConnectAssignment | None, failure: str | None = None
    ) -> tuple[PluginRow, ...]:
        """As for hook ``assignor_lab_connect_assignment_computed``."""
        return self._notify(
            "connect-observer",
            lambda entry: entry(assignor=assignor, rebalance=rebalance, assignment=assignment, failure=failure),
        )

    def notify_group_assignment_computed(
        self,
        assignor: str,
        group: GroupSpec,
        topology: TopologyDescriber,
        assignment: GroupAssignment | None,
        failure: str | None = None,
    ) -> tuple[PluginRow, ...]:
        """As for hook ``assignor_lab_group_assignment_computed``."""
        return self._notify(
            "group-observer",
            lambda entry: entry(
                assignor=assignor, group=group, topology=topology, assignment=assignment, failure=failure
            ),
        )

    def notify_partition_assignment_computed(
        self,
        assignor: str,
        group: ConsumerGroupState | SubscribedGroup,
        assignment: PartitionAssignment | None,
        failure: str | None = None,
    ) -> tuple[PluginRow, ...]:
        """As for hook ``assignor_lab_partition_assignment_computed``."""
        return self._notify(
            "partition-observer",
            lambda entry: entry(assignor=assignor, group=group, assignment=assignment, failure=failure),
        )

    def _notify(self, kind: str, notify: Callable[[Any], object]) -> tuple[PluginRow, ...]:
        problems = []
        for offer in self._of_kind.get(kind, ()):
            try:
                notify(offer.entry)
            except KeyboardInterrupt:
                raise
            except BaseException as raised:  # noqa: BLE001 - an observer changes nothing, whatever it raises
                problems.append(
                    PluginRow(offer.name, kind, offer.distribution, offer.version, "broken", describe_error(raised))
                )
        return tuple(problems)

    # --- selection --------------------------------------------------------------------------------

    def _found(self, offer: Offer) -> FoundTaskAssignor:
        return FoundTaskAssignor(self._names.label(offer), offer.entry, offer.distribution, offer.version)

    def _found_connect(self, offer: Offer) -> FoundConnectAssignor:
        return FoundConnectAssignor(self._names.label(offer), offer.entry, offer.distribution, offer.version)

    def _named(self, kind: str, text: str) -> Offer | None:
        if ":" not in text:
            return self._one(kind, text)
        first, _, second = text.partition(":")
        offer = self._of_distribution(kind, first, second)
        if offer is None:
            self._raise_if_known_problem(kind, second, first)
        return offer

    def _check_trusted(self, kind: str, text: str, *, may_run_code: bool) -> None:
        if not may_run_code:
            first, _, second = text.partition(":")
            raise UntrustedCodeError(
                f"no distribution {first!r} offers {_AN[kind]} {second!r}; if {text!r} is meant as "
                "module:attribute, it is code to run, which only the command line (-c) or an explicit --config file "
                "may name"
            )

    def _all(self, kind: str, _: type[P]) -> tuple[Found[P], ...]:
        return tuple(
            Found(self._names.label(offer), offer.entry, offer.distribution, offer.version)
            for offer in self._names.offers
            if offer.kind == kind
        )

    def _selected(self, kind: str, selector: str, _: type[P]) -> Found[P]:
        first, separator, second = selector.strip().partition(":")
        if separator:
            offer = self._of_distribution(kind, first, second)
            if offer is None:
                self._raise_if_known_problem(kind, second, first)
                raise UnknownPluginError(f"no distribution {first!r} offers a {_NOUNS[kind]} {second!r}")
        else:
            offer = self._one(kind, first)
        return Found(self._names.label(offer), offer.entry, offer.distribution, offer.version)

    def _name_for(self, selector: str, kind: str, kafka: Mapping[str, str]) -> str:
        name = kafka.get(selector)
        if name is None:
            return selector
        if (kind, canonical_name(name)) not in self._names.by_name:
            self._raise_if_known_problem(kind, name, None)
            raise UnknownPluginError(
                f"{selector} is Kafka's class for {name!r}, which is not installed or was blocked; "
                "`assignor plugins` lists the installed ones"
            )
        return name

    def _of_distribution(self, kind: str, distribution: str, name: str) -> Offer | None:
        for offer in self._names.by_name.get((kind, canonical_name(name)), ()):
            if canonical_name(offer.distribution) == canonical_name(distribution):
                return offer
        return None

    def _one(self, kind: str, name: str) -> Offer:
        users = self._names.by_name.get((kind, canonical_name(name)), ())
        if len(users) == 1:
            return users[0]
        if users:
            choices = " or ".join(f"{offer.distribution}:{offer.name}" for offer in users)
            raise AmbiguousPluginError(
                f"{_NOUNS[kind]} {name!r} is offered by {' and '.join(offer.distribution for offer in users)}: "
                f"select {choices}"
            )
        self._raise_if_known_problem(kind, name, None)
        raise UnknownPluginError(self._unknown(kind, name))

    def _unknown(self, kind: str, name: str) -> str:
        usable = [item for offer in self._names.offers if offer.kind == kind for item in names_of(offer)]
        plain = [item for item in usable if "." not in item]
        if kind == "task-assignor" and "." in name:
            kafka = (item for item in KAFKA_TASK_ASSIGNORS if "." in item)
            classes = list(dict.fromkeys((*kafka, *(item for item in usable if "." in item))))
            return (
                f"no assignor stands for the Java class {name!r}{did_you_mean(name, classes)} "
                f"Known classes: {', '.join(classes)}. For a class of your own, install a Python port that names it in "
                "java_classes, or choose one of: " + (", ".join(plain) or "none, nothing is installed")
            )
        other = next((other for other in _ASSIGNORS if (other, canonical_name(name)) in self._names.by_name), None)
        if kind in _ASSIGNORS and other is not None:
            return (
                f"{name!r} is a {_PURPOSES[other]}, not a {_PURPOSES[kind]}{did_you_mean(name, plain)} "
                f"Those are: {', '.join(plain) or 'none'}"
            )
        broken = sum(row.status == "broken" for row in self._problems)
        hint = f"; {broken} could not be loaded, `assignor plugins` shows why" if broken else ""
        near = did_you_mean(name, plain)
        if near == "." and kind in _ASSIGNORS:
            assignors = (offer for offer in self._names.offers if offer.kind in _ASSIGNORS)
            near = did_you_mean(name, [item for offer in assignors for item in names_of(offer) if "." not in item])
        return (
            f"unknown {_NOUNS[kind]} {name!r}{near} "
            f"Installed: {', '.join(plain) or 'none'} (from {BUILTIN_DISTRIBUTION} and plugins){hint}"
        )

    def _raise_if_known_problem(self, kind: str, name: str, distribution: str | None) -> None:
        for row in self.listing():
            if row.status in ("available", "ambiguous", "unused") or row.kind not in (kind, "plugin"):
                continue
            if distribution is not None and canonical_name(row.distribution) != canonical_name(distribution):
                continue
            if canonical_name(name) in map(canonical_name, (row.name, *row.aliases)):
                raise PluginLoadError(
                    f"{_NOUNS[kind]} {name!r} of {row.distribution} {row.version} is {row.status}: {row.reason}"
                )
