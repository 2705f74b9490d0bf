"""Discovery of the lab: our own and trusted plugins are imported here, all others in their own processes.

Each entry point has one process, so a plugin that hangs, dies or forks affects no other plugin, not even of the same
distribution. The processes run in parallel. Without untrusted plugins no process is started.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import Distribution
from typing import Any

import attrs

from assignment_api.plugins import PluginDefinitionError, Policy, Registry, discover
from assignment_api.plugins.discovery import (
    DiscoveryReply,
    Offer,
    PluginSource,
    ask_here,
    describe_error,
    one_line,
    problem,
)
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION, canonical_name
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.runtime.discovery.code import CodeUnseen, IsolatedCode
from assignor_lab.runtime.discovery.descriptions import EntryPointDescription, description_in
from assignor_lab.runtime.discovery.entries import HANDLERS, entry_of
from assignor_lab.runtime.discovery.kept_descriptions import KeptDescriptions, cache_folder
from assignor_lab.runtime.isolation.errors import AnswerFormatError, IsolationError
from assignor_lab.runtime.isolation.launching import Launcher, launcher_of, search_path
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.origin import PluginOrigin
from assignor_lab.runtime.isolation.plugins import Isolation, failure_in
from assignor_lab.runtime.isolation.process import PluginProcess
from assignor_lab.runtime.java.settings import JavaSettings

__all__ = ["Plugins", "discovered"]

SIDE_BY_SIDE = 64


@attrs.frozen(eq=False)
class Plugins:
    """All installed plugins that the policy allows.

    Args:
        described: Their descriptions, for other processes with the same plugins.
    """

    registry: Registry
    isolation: Isolation
    described: tuple[EntryPointDescription, ...]


def discovered(
    config: EffectiveConfig | None = None,
    installed: Iterable[Distribution] | None = None,
    described: Sequence[EntryPointDescription] | None = None,
    *,
    imports_code: bool = True,
) -> Plugins:
    """Finds the installed plugins.

    Args:
        installed: Distributions to search; ``None``: all that Python finds.
        described: Descriptions from another process with the same plugins: these plugins are not imported again, and
            plugins without a description are left out. ``None``: all are imported.
        imports_code: False only checks ``module:attribute`` and Java assignors without importing them.

    Raises:
        ConfigError: if a value of ``config`` is out of its range.
    """
    policy = Policy() if config is None else config.policy()
    isolation = Isolation(Limits() if config is None else Limits.of(config), policy)
    asking = _Asking(isolation, described)
    java = JavaSettings() if config is None else JavaSettings.of(config)
    apart = IsolatedCode(isolation, java, is_checked=described is not None)
    registry = discover(policy, installed, asking.ask, apart if imports_code else CodeUnseen(isolation, java))
    return Plugins(registry, isolation, tuple(asking.described))


class _Asking:
    def __init__(self, isolation: Isolation, known: Sequence[EntryPointDescription] | None) -> None:
        self._isolation = isolation
        self._known: Mapping[PluginOrigin, EntryPointDescription] | None = (
            None if known is None else {description.origin: description for description in known}
        )
        self.described: list[EntryPointDescription] = []

    def ask(self, sources: Sequence[PluginSource]) -> list[DiscoveryReply]:
        apart = [source for source in sources if self._is_apart(source)]
        replies = dict(zip(map(id, apart), self._asked_apart(apart), strict=True))
        return [replies[id(source)] if id(source) in replies else ask_here([source])[0] for source in sources]

    def _is_apart(self, source: PluginSource) -> bool:
        is_own = canonical_name(source.name) == BUILTIN_DISTRIBUTION
        return not is_own and self._isolates(source, source.entry_point.name)

    def _isolates(self, source: PluginSource, name: str) -> bool:
        """True if the offer ``name`` of a source is isolated; a name that two sources share trusts neither."""
        policy = self._isolation.policy
        is_doubtful = source.is_doubled and policy.isolate == "untrusted"
        return is_doubtful or policy.isolates_offer(source.name, name)

    def _asked_apart(self, sources: Sequence[PluginSource]) -> list[DiscoveryReply]:
        if self._known is None:
            self.described = _descriptions(sources, self._isolation.limits)
        else:
            unknown = {origin: EntryPointDescription(origin) for origin in map(PluginOrigin.of, sources)}
            known = {**unknown, **self._known}
            self.described = [known[PluginOrigin.of(source)] for source in sources]
        return [self._reply(*pair) for pair in zip(sources, self.described, strict=True)]

    def _reply(self, source: PluginSource, description: EntryPointDescription) -> DiscoveryReply:
        problems = [problem(source, "broken", reason) for reason in description.problems]
        offers: list[Offer] = []
        here: Mapping[tuple[str, str], Offer] | None = None
        for offered in description.offered:
            if not self._isolates(source, offered.name):
                if here is None:
                    reply = ask_here([source])[0]
                    here = {(offer.kind, offer.name): offer for offer in reply.offers}
                offers += [here[key] for key in [(offered.kind, offered.name)] if key in here]
                continue
            try:
                entry: Any = entry_of(description, offered, self._isolation)
            except PluginDefinitionError as error:
                problems.append(problem(source, "broken", describe_error(error)))
            else:
                offers.append(Offer(offered.kind, offered.name, entry, source.name, source.version))
        return DiscoveryReply(tuple(offers), tuple(problems))


def _descriptions(sources: Sequence[PluginSource], limits: Limits) -> list[EntryPointDescription]:
    """The offers of each source: kept ones, and the others from parallel processes that end afterwards."""
    if not sources:
        return []
    path = search_path()
    surroundings = repr((path, [(name, os.environ.get(name)) for name in limits.environment]))
    kept = KeptDescriptions(cache_folder(), surroundings)
    known = {id(source): _kept(source, kept) for source in sources}
    unknown = [source for source in sources if known[id(source)] is None]
    found = dict(zip(map(id, unknown), _from_processes(unknown, path, limits, kept), strict=True))
    return [known[id(source)] or found[id(source)] for source in sources]


def _kept(source: PluginSource, kept: KeptDescriptions) -> EntryPointDescription | None:
    document = kept.document(source)
    with contextlib.suppress(AnswerFormatError):
        return None if document is None else description_in(document, source)
    return None


def _from_processes(
    sources: Sequence[PluginSource], path: list[str], limits: Limits, kept: KeptDescriptions
) -> list[EntryPointDescription]:
    if not sources:
        return []
    # Most commands find kept descriptions.
    from concurrent.futures import ThreadPoolExecutor

    launcher = launcher_of(limits.environment)
    processes = [_process_of(source, path, limits, launcher) for source in sources]
    with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(sources)), thread_name_prefix="assignor-discovery") as pool:
        try:
            return list(pool.map(_described, sources, processes, [kept] * len(sources)))
        except BaseException:
            # After Ctrl-C the missing answers are not awaited.
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.interrupt()
            raise


def _process_of(source: PluginSource, path: list[str], limits: Limits, launcher: Launcher) -> PluginProcess:
    origin = PluginOrigin.of(source)
    subject = f"plugin {origin.name} of {origin.distribution}"
    return PluginProcess(subject, limits, launcher, lambda: (f"{HANDLERS}:describe", (path, origin)), (HANDLERS,))


def _described(source: PluginSource, process: PluginProcess, kept: KeptDescriptions) -> EntryPointDescription:
    try:
        document = process.started()
        if "failure" in document:
            failure = failure_in(document)
            return _broken(source, f"import failed: {failure.type}{failure.message and ': '}{failure.message}")
        description = description_in(document, source)
        kept.keep(source, document)
        return description
    except AnswerFormatError as error:
        return _broken(source, f"import failed: its process sent no valid answer ({error})")
    except IsolationError as error:
        return _broken(source, f"import failed: {error}")
    finally:
        process.close()
        process.end_line()


def _broken(source: PluginSource, reason: str) -> EntryPointDescription:
    return EntryPointDescription(PluginOrigin.of(source), (), (one_line(reason),))
