"""Discovery of the lab: our own plugins and trusted ones are imported here, all others in processes of their own.

Each entry point has one, so that one which hangs, dies or forks harms nobody, not even its neighbours of the same
distribution; they are asked side by side. Where nothing untrusted is installed, no process is started.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import Distribution
from typing import Any

import attrs

from assignment_api.plugins import PluginDefinitionError, Policy, Registry, discover
from assignment_api.plugins.discovery import Offer, Reply, Source, ask_here, describe_error, one_line, problem
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION, canonical_name
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.runtime.discovery.code import CodeApart, CodeUnseen
from assignor_lab.runtime.discovery.descriptions import Description, description_in
from assignor_lab.runtime.discovery.entries import HANDLERS, entry_of
from assignor_lab.runtime.isolation.errors import AnswerFormatError, IsolationError
from assignor_lab.runtime.isolation.launching import Launcher, launcher_of, search_path
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.origin import PluginOrigin
from assignor_lab.runtime.isolation.plugins import Isolation, failure_in
from assignor_lab.runtime.isolation.process import PluginProcess
from assignor_lab.runtime.java.settings import JavaSettings

__all__ = ["Plugins", "discovered"]

#: Entry points that are asked at a time.
SIDE_BY_SIDE = 64


@attrs.frozen(eq=False)
class Plugins:
    """Everything that is installed, as far as the policy allows it.

    Args:
        registry: What can be used; entries of it may stand for what another process has.
        isolation: Those processes.
        described: What was described there, for processes elsewhere that have the same plugins.
    """

    registry: Registry
    isolation: Isolation
    described: tuple[Description, ...]


def discovered(
    config: EffectiveConfig | None = None,
    installed: Iterable[Distribution] | None = None,
    described: Sequence[Description] | None = None,
    *,
    imports_code: bool = True,
) -> Plugins:
    """Finds the installed plugins.

    Args:
        config: Says what may be imported, who is trusted, and what the others may use; ``None``: the defaults.
        installed: Distributions to look at; ``None``: all that Python finds.
        described: What another process was told by plugins that are installed here, too: they are not asked again,
            and those that it does not name are left alone. ``None``: all are asked.
        imports_code: False where ``module:attribute`` and Java assignors are only looked up.

    Raises:
        ConfigError: if a value of ``config`` is out of its range.
    """
    policy = Policy() if config is None else config.policy()
    isolation = Isolation(Limits() if config is None else Limits.of(config), policy)
    asking = _Asking(isolation, described)
    java = JavaSettings() if config is None else JavaSettings.of(config)
    apart = CodeApart(isolation, java, is_told=described is not None)
    registry = discover(policy, installed, asking.ask, apart if imports_code else CodeUnseen(isolation, java))
    return Plugins(registry, isolation, tuple(asking.described))


class _Asking:
    """Imports each source where it belongs."""

    def __init__(self, isolation: Isolation, known: Sequence[Description] | None) -> None:
        self._isolation = isolation
        self._known: Mapping[PluginOrigin, Description] | None = (
            None if known is None else {description.origin: description for description in known}
        )
        self.described: list[Description] = []

    def ask(self, sources: Sequence[Source]) -> list[Reply]:
        """A reply for each source, in their order."""
        apart = [source for source in sources if self._is_apart(source)]
        replies = dict(zip(map(id, apart), self._asked_apart(apart), strict=True))
        return [replies[id(source)] if id(source) in replies else ask_here([source])[0] for source in sources]

    def _is_apart(self, source: Source) -> bool:
        is_own = canonical_name(source.name) == BUILTIN_DISTRIBUTION
        return not is_own and self._isolates(source, source.entry_point.name)

    def _isolates(self, source: Source, name: str) -> bool:
        """Whether what a source calls ``name`` runs apart; nobody can mean one of two that have the same name."""
        policy = self._isolation.policy
        is_doubtful = source.is_doubled and policy.isolate == "untrusted"
        return is_doubtful or policy.isolates_offer(source.name, name)

    def _asked_apart(self, sources: Sequence[Source]) -> list[Reply]:
        if self._known is None:
            self.described = _descriptions(sources, self._isolation.limits)
        else:
            unknown = {origin: Description(origin) for origin in map(PluginOrigin.of, sources)}
            known = {**unknown, **self._known}
            self.described = [known[PluginOrigin.of(source)] for source in sources]
        return [self._reply(*pair) for pair in zip(sources, self.described, strict=True)]

    def _reply(self, source: Source, description: Description) -> Reply:
        """What was described, as entries that ask where it was; what is trusted by its name is imported here."""
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
        return Reply(tuple(offers), tuple(problems))


def _descriptions(sources: Sequence[Source], limits: Limits) -> list[Description]:
    """What each source offers, asked side by side in processes that end with it."""
    if not sources:
        return []
    launcher = launcher_of(limits.environment)
    path = search_path()
    processes = [_process_of(source, path, limits, launcher) for source in sources]
    with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(sources)), thread_name_prefix="assignor-discovery") as pool:
        try:
            return list(pool.map(_described, sources, processes))
        except BaseException:
            # Ctrl-C: nobody waits for those who have not answered.
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.interrupt()
            raise


def _process_of(source: Source, path: list[str], limits: Limits, launcher: Launcher) -> PluginProcess:
    origin = PluginOrigin.of(source)
    subject = f"plugin {origin.name} of {origin.distribution}"
    return PluginProcess(subject, limits, launcher, lambda: (f"{HANDLERS}:describe", (path, origin)), (HANDLERS,))


def _described(source: Source, process: PluginProcess) -> Description:
    try:
        document = process.started()
        if "failure" in document:
            failure = failure_in(document)
            return _broken(source, f"import failed: {failure.type}{failure.message and ': '}{failure.message}")
        return description_in(document, source)
    except AnswerFormatError as error:
        return _broken(source, f"import failed: what came from its process is no answer ({error})")
    except IsolationError as error:
        return _broken(source, f"import failed: {error}")
    finally:
        process.close()
        process.end_line()


def _broken(source: Source, reason: str) -> Description:
    return Description(PluginOrigin.of(source), (), (one_line(reason),))
