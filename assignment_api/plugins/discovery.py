"""Finds and imports plugins, each separately, in a fixed order; failures become reasons.

pluggy's loader neither survives a failing import nor detects two plugins of one name.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import Distribution, EntryPoint, EntryPoints, distributions
from typing import Any, TypeVar

import attrs
import pluggy

from assignment_api.plugins import hookspecs
from assignment_api.plugins.entries import (
    ConnectAssignorPlugin,
    ConnectorPlugin,
    GroupAssignorPlugin,
    MetricPlugin,
    PartitionAssignorPlugin,
    ScenarioFamily,
    TaskAssignorPlugin,
)
from assignment_api.plugins.installed import UNNAMED, name_and_version, name_of_folder, reason_against_metadata
from assignment_api.plugins.near import did_you_mean
from assignment_api.plugins.policy import Policy
from assignment_api.plugins.required_lab import unmet_requirement
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION, OWN_PACKAGES, canonical_name

__all__ = [
    "Ask",
    "Offer",
    "PluginRow",
    "DiscoveryReply",
    "PluginSource",
    "ask_here",
    "collect",
    "describe_error",
    "one_line",
    "problem",
]

T = TypeVar("T")

_REASON_LIMIT = 500
MAX_ITEMS = 1_000
#: Most entry points of a distribution: each may become a process.
MAX_ENTRY_POINTS = 50
_MAX_NAME = 200

#: Hook to (kind in listings, class of items), in order.
OFFERING_HOOKS: dict[str, tuple[str, type]] = {
    "assignor_lab_task_assignors": ("task-assignor", TaskAssignorPlugin),
    "assignor_lab_connect_assignors": ("connect-assignor", ConnectAssignorPlugin),
    "assignor_lab_connectors": ("connector", ConnectorPlugin),
    "assignor_lab_group_assignors": ("group-assignor", GroupAssignorPlugin),
    "assignor_lab_consumer_assignors": ("consumer-assignor", PartitionAssignorPlugin),
    "assignor_lab_consumer_group_assignors": ("consumer-group-assignor", PartitionAssignorPlugin),
    "assignor_lab_share_group_assignors": ("share-group-assignor", PartitionAssignorPlugin),
    "assignor_lab_metrics": ("metric", MetricPlugin),
    "assignor_lab_scenario_families": ("scenario-family", ScenarioFamily),
}
OBSERVING_HOOKS = {
    "assignor_lab_assignment_computed": "observer",
    "assignor_lab_connect_assignment_computed": "connect-observer",
    "assignor_lab_group_assignment_computed": "group-observer",
    "assignor_lab_partition_assignment_computed": "partition-observer",
}


@attrs.frozen
class PluginRow:
    """One line of ``assignor plugins``.

    Args:
        name: Of the offer; of the entry point if nothing more is known.
        kind: ``task-assignor``, ``connect-assignor``, ``connector``, ``group-assignor``, ``consumer-assignor``,
            ``consumer-group-assignor``, ``share-group-assignor``, ``metric``, ``scenario-family``, ``observer``,
            ``connect-observer``, ``group-observer``, ``partition-observer``, ``plugin`` (whole entry point), ``policy``
            (item of the policy).
        distribution: Empty for ``policy``.
        status: ``available``, ``ambiguous``, ``refused``, ``blocked``, ``broken``, or ``unused`` for ``policy``.
    """

    name: str
    kind: str
    distribution: str
    version: str
    status: str
    reason: str = ""
    aliases: tuple[str, ...] = ()
    summary: str = ""


@attrs.frozen
class Offer:
    """An offered item with its source; an observer's ``entry`` calls the hook."""

    kind: str
    name: str
    entry: Any
    distribution: str
    version: str


@attrs.frozen
class PluginSource:
    """An entry point before its import.

    Args:
        name: Of its distribution.
        distribution: ``None`` if unavailable.
        is_doubled: A namesake distribution has other entry points.
    """

    name: str
    version: str
    entry_point: EntryPoint
    distribution: Distribution | None = None
    is_doubled: bool = False


@attrs.frozen
class DiscoveryReply:
    """Offers of a source, and rows of unusable parts."""

    offers: tuple[Offer, ...] = ()
    problems: tuple[PluginRow, ...] = ()


#: Imports sources in any process: one reply for each, in order.
Ask = Callable[[Sequence[PluginSource]], Sequence[DiscoveryReply]]


class _Failed(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def ask_here(sources: Sequence[PluginSource]) -> list[DiscoveryReply]:
    """Import sources in this process, with full access to it, and call their hooks.

    Only ``KeyboardInterrupt`` passes.
    """
    return [_asked(source) for source in sources]


def collect(
    policy: Policy, installed: Iterable[Distribution] | None = None, ask: Ask = ask_here
) -> tuple[tuple[Offer, ...], tuple[PluginRow, ...]]:
    """Import the allowed plugins and collect their offers.

    Args:
        installed: Distributions to search; ``None``: all.
        ask: Imports the plugins; default: here.

    Returns:
        Offers, the built-ins' first, then by distribution and entry point; and rows of unusable plugins.
    """
    offers: list[Offer] = []
    problems: list[PluginRow] = []
    sources = _sources(distributions() if installed is None else installed, problems)
    seen = [(source.name, source.entry_point.name) for source in sources]
    reasons = [_reason_against(policy, source) for source in sources]
    replies = iter(ask([source for source, reason in zip(sources, reasons, strict=True) if reason is None]))
    for source, reason in zip(sources, reasons, strict=True):
        if reason is not None:
            problems.append(problem(source, "blocked", reason))
            continue
        reply = next(replies)
        problems += reply.problems
        for offer in reply.offers:
            seen.append((offer.distribution, offer.name))
            blocked = policy.reason_against_name(offer.distribution, offer.name)
            if blocked is None:
                offers.append(offer)
            else:
                problems.append(
                    PluginRow(offer.name, offer.kind, offer.distribution, offer.version, "blocked", blocked)
                )
    for key, item in policy.unused_items(seen):
        problems.append(PluginRow(item, "policy", "", "", "unused", policy.reason_unused(key, item, seen)))
    return tuple(offers), tuple(problems)


def _reason_against(policy: Policy, source: PluginSource) -> str | None:
    if source.distribution is None:
        return None
    try:
        return policy.reason_against(source.distribution, source.name, source.version, source.entry_point.name)
    except Exception as error:  # noqa: BLE001 - foreign metadata can contain anything
        return f"it cannot be checked: {describe_error(error)}"


def _sources(installed: Iterable[Distribution], problems: list[PluginRow]) -> list[PluginSource]:
    """In a fixed order; of two distributions of one name Python uses the first."""
    found: list[PluginSource] = []
    known: dict[str, tuple[EntryPoints, str]] = {}
    doubled: set[str] = set()
    for distribution in installed:
        where = str(getattr(distribution, "_path", "place unknown"))
        try:
            unread = reason_against_metadata(distribution)
            if unread is not None:
                raise _Failed(unread)
            points = distribution.entry_points.select(group=hookspecs.PROJECT_NAME)
            if len(points) > MAX_ENTRY_POINTS:
                raise _Failed(f"{len(points):,} entry points: at most {MAX_ENTRY_POINTS} are taken")
        except _Failed as failed:
            problems.append(PluginRow(UNNAMED, "plugin", one_line(where), "?", "broken", failed.reason))
            continue
        except Exception as error:  # noqa: BLE001 - broken foreign metadata must not affect other plugins
            reason = f"its entry points cannot be read: {describe_error(error)}"
            problems.append(PluginRow(UNNAMED, "plugin", *name_and_version(distribution), "broken", reason))
            continue
        # Parsing the metadata of all distributions takes a fifth of a command.
        plain = None if points else name_of_folder(distribution)
        name, version = name_and_version(distribution) if plain is None else (plain, UNNAMED)
        refused: str | None = None
        if name == UNNAMED:
            # Without a name it could not be blocked, pinned or selected.
            refused = one_line(f"its metadata has no name that can be used ({where}): reinstall it")
        elif canonical_name(name) == BUILTIN_DISTRIBUTION and not all(map(_is_ours, points)):
            refused = one_line(f"calls itself {name} and is not ({where}): remove it")
        odd = [point for point in points if not _is_name(point.name)]
        points = EntryPoints(point for point in points if _is_name(point.name))
        reason = f"the name of its entry point is not a printable one of at most {_MAX_NAME} signs: change it"
        problems += [PluginRow(one_line(point.name)[:80], "plugin", name, version, "broken", reason) for point in odd]
        if refused is not None:
            problems += [PluginRow(point.name, "plugin", name, version, "broken", refused) for point in points]
        elif (key := canonical_name(name)) not in known:
            known[key] = (points, where)
            found += [PluginSource(name, version, point, distribution) for point in points]
        elif _pairs(points) != _pairs(known[key][0]):
            first = known[key][1]
            name, version = name_and_version(distribution)
            reason = f"two distributions have this name ({first} and {where}): the first one counts, and is not trusted"
            problems.append(PluginRow(UNNAMED, "plugin", name, version, "broken", one_line(reason)))
            doubled.add(key)
    marked = (attrs.evolve(source, is_doubled=canonical_name(source.name) in doubled) for source in found)
    return sorted(marked, key=_order)


def _is_name(name: str) -> bool:
    return 0 < len(name) <= _MAX_NAME and name.isprintable()


def _pairs(points: EntryPoints) -> set[tuple[str, str]]:
    return {(point.name, point.value) for point in points}


def _is_ours(point: EntryPoint) -> bool:
    return point.module.partition(".")[0] in OWN_PACKAGES


def _order(source: PluginSource) -> tuple[bool, str, str, str]:
    name = canonical_name(source.name)
    return (name != BUILTIN_DISTRIBUTION, name, source.entry_point.name, source.entry_point.value)


def _asked(source: PluginSource) -> DiscoveryReply:
    offers: list[Offer] = []
    problems: list[PluginRow] = []
    try:
        manager = _guarded("import failed", lambda: _registered(source.entry_point))
    except _Failed as failed:
        # An import that fails under another release of the lab names the release: the error follows from it.
        reason = unmet_requirement(source.name, source.distribution) or failed.reason
        return DiscoveryReply((), (problem(source, "broken", reason),))
    for hook, (kind, expected) in OFFERING_HOOKS.items():
        if not getattr(manager.hook, hook).get_hookimpls():
            continue
        try:
            items = _guarded(f"hook {hook} failed", lambda hook=hook: _items(manager, hook))  # type: ignore[misc]
        except _Failed as failed:
            reason = unmet_requirement(source.name, source.distribution) or failed.reason
            problems.append(problem(source, "broken", reason))
            continue
        for number, item in enumerate(items, start=1):
            if type(item) is expected:
                name: str = item.name  # type: ignore[attr-defined]
                offers.append(Offer(kind, name, item, source.name, source.version))
            else:
                reason = f"hook {hook} returned {type(item).__name__} as item {number}, expected {expected.__name__}"
                problems.append(problem(source, "broken", one_line(reason)))
    for hook, kind in OBSERVING_HOOKS.items():
        observe = getattr(manager.hook, hook)
        if observe.get_hookimpls():
            offers.append(Offer(kind, source.entry_point.name, observe, source.name, source.version))
    return DiscoveryReply(tuple(offers), tuple(problems))


def _registered(entry_point: EntryPoint) -> pluggy.PluginManager:
    """In a plugin manager of its own, apart from other plugins' hooks."""
    if entry_point.pattern.match(entry_point.value) is None:
        raise _Failed(one_line(f"its entry point names {entry_point.value!r:.100}, which is no module:object"))
    plugin = entry_point.load()
    manager = pluggy.PluginManager(hookspecs.PROJECT_NAME)
    manager.add_hookspecs(hookspecs)
    manager.register(plugin, name=entry_point.name)
    for caller in manager.get_hookcallers(plugin) or ():
        if not caller.has_spec() and not all(each.optionalhook for each in caller.get_hookimpls()):
            known = (*OFFERING_HOOKS, *OBSERVING_HOOKS)
            raise _Failed(one_line(f"unknown hook {caller.name!r:.80}{did_you_mean(caller.name, known)}"))
    if not manager.get_hookcallers(plugin):
        raise _Failed("it implements no hook: mark its functions with assignment_api.plugins.hookimpl")
    return manager


def _items(manager: pluggy.PluginManager, hook: str) -> list[object]:
    answers = getattr(manager.hook, hook)()
    if not isinstance(answers, list) or not answers:
        # pluggy drops None.
        raise _Failed(f"hook {hook} returned None, expected a list or tuple")
    items: list[object] = []
    for answer in answers:
        if isinstance(answer, (list, tuple)) and len(answer) > MAX_ITEMS:
            raise _Failed(f"hook {hook} returned {len(answer):,} items: at most {MAX_ITEMS:,} are taken")
        if not isinstance(answer, (list, tuple)):
            raise _Failed(one_line(f"hook {hook} returned {type(answer).__name__}, expected a list or tuple"))
        items += answer
    return items


def _guarded(subject: str, step: Callable[[], T]) -> T:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return step()
    except (_Failed, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _Failed(f"{subject}: {describe_error(error)}") from error


def problem(source: PluginSource, status: str, reason: str) -> PluginRow:
    """Row of a ``blocked`` or ``broken`` source."""
    return PluginRow(source.entry_point.name, "plugin", source.name, source.version, status, reason)


def describe_error(error: BaseException) -> str:
    """Type and message in a bounded line, even if the message fails."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the message is made by a plugin's code
        message = "(its message cannot be made)"
    return one_line(f"{type(error).__name__}: {message}" if message else type(error).__name__)


def one_line(text: str) -> str:
    """``text`` without extra white space, at most 500 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _REASON_LIMIT else line[: _REASON_LIMIT - 1] + "…"
