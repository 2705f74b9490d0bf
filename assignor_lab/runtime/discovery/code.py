"""Named code in its own process: untrusted ``module:attribute``, and every Java assignor."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import attrs

from assignment_api.plugins import (
    ConnectAssignorPlugin,
    Found,
    FoundConnectAssignor,
    FoundTaskAssignor,
    GroupAssignorPlugin,
    PartitionAssignorPlugin,
    PluginDefinitionError,
    PluginLoadError,
    Policy,
    TaskAssignorPlugin,
)
from assignment_api.plugins.named_code import HERE, CodeOrigin, code_origin
from assignment_api.plugins.reserved import PARTITION_ASSIGNORS
from assignor_lab.runtime.discovery.descriptions import fields_in
from assignor_lab.runtime.discovery.entries import ASKING_PLACES, HANDLERS, DiscoveredAssignor, assignor_entry
from assignor_lab.runtime.isolation.errors import AnswerFormatError, IsolationError
from assignor_lab.runtime.isolation.launching import launcher_of, search_path
from assignor_lab.runtime.isolation.plugins import Isolation, failure_in
from assignor_lab.runtime.isolation.process import PluginProcess
from assignor_lab.runtime.java.naming import JavaName, java_name
from assignor_lab.runtime.java.settings import JavaSettings

if TYPE_CHECKING:
    from assignor_lab.runtime.java.origin import JavaOrigin

__all__ = ["IsolatedCode", "CodeUnseen"]

_DIGEST = re.compile(r"\A[0-9a-f]{64}\Z")
_MESSAGE_LIMIT = 1_000
#: Kinds with a public interface in Java that the driver calls.
_JAVA_KINDS = ("task-assignor", *PARTITION_ASSIGNORS)


class IsolatedCode:
    """Describes named code, each once; trusted code is imported here.

    Args:
        is_checked: True if another process has already found that Java assignors work.
    """

    def __init__(self, isolation: Isolation, java: JavaSettings, *, is_checked: bool = False) -> None:
        self._isolation = isolation
        self._java, self._is_checked = java, is_checked
        self._described: dict[str, Mapping[str, Any]] = {}

    def task_assignor(self, selector: str, policy: Policy) -> FoundTaskAssignor:
        """As in the protocol, :class:`assignment_api.plugins.named_code.NamedCode`."""
        java = java_name(selector)
        if java is not None:
            factory = self._java_factory("task-assignor", java, policy)
            return FoundTaskAssignor(java.text, TaskAssignorPlugin("java", factory), None, None)
        origin = code_origin(selector, policy)
        if not self._is_apart(selector, origin):
            return HERE.task_assignor(selector, policy)
        entry = self._entry("task-assignor", selector, origin)
        return FoundTaskAssignor(selector, entry, origin.distribution, origin.version)

    def connect_assignor(self, selector: str, policy: Policy) -> FoundConnectAssignor:
        _refuse_java(selector)
        origin = code_origin(selector, policy)
        if not self._is_apart(selector, origin):
            return HERE.connect_assignor(selector, policy)
        entry = self._entry("connect-assignor", selector, origin)
        return FoundConnectAssignor(selector, entry, origin.distribution, origin.version)

    def group_assignor(self, selector: str, policy: Policy) -> Found[GroupAssignorPlugin]:
        _refuse_java(selector)
        origin = code_origin(selector, policy)
        if not self._is_apart(selector, origin):
            return HERE.group_assignor(selector, policy)
        entry = self._entry("group-assignor", selector, origin)
        return Found(selector, entry, origin.distribution, origin.version)

    def partition_assignor(self, kind: str, selector: str, policy: Policy) -> Found[PartitionAssignorPlugin]:
        java = java_name(selector)
        if java is not None:
            factory = self._java_factory(kind, java, policy)
            return Found(java.text, PartitionAssignorPlugin("java", factory), None, None)
        origin = code_origin(selector, policy)
        if not self._is_apart(selector, origin):
            return HERE.partition_assignor(kind, selector, policy)
        return Found(selector, self._entry(kind, selector, origin), origin.distribution, origin.version)

    def kinds(self, selector: str, policy: Policy) -> tuple[str, ...]:
        java = java_name(selector)
        if java is not None:
            return self._java_kinds(java, self._java_origin(java, policy))
        origin = code_origin(selector, policy)
        if not self._is_apart(selector, origin):
            return HERE.kinds(selector, policy)
        return tuple(kind for kind in ASKING_PLACES if kind in self._document(selector)["kinds"])

    def _java_origin(self, name: JavaName, policy: Policy) -> JavaOrigin:
        reason = policy.reason_against_name("java", name.class_name)
        if reason is not None:
            raise PluginLoadError(f"assignor {name.text!r} may not be loaded: {reason}")
        # Most commands name no class of Java.
        from assignor_lab.runtime.java.origin import java_origin

        return java_origin(name, self._java)

    def _java_kinds(self, name: JavaName, origin: JavaOrigin) -> tuple[str, ...]:
        if self._is_checked:
            return _JAVA_KINDS
        if name.text not in self._described:
            from assignor_lab.runtime.java.origin import DESCRIBE

            self._described[name.text] = self._loaded(name.text, DESCRIBE, (origin,))
        kinds = self._described[name.text]["kinds"]
        return tuple(kind for kind in _JAVA_KINDS if kind in kinds)

    def _java_factory(self, kind: str, name: JavaName, policy: Policy) -> DiscoveredAssignor:
        origin = self._java_origin(name, policy)
        kinds = self._java_kinds(name, origin)
        if kind not in kinds:
            raise PluginLoadError(
                f"assignor {name.text!r}: its class is a {' and a '.join(kinds)} and no {kind}, which this group needs"
            )
        return DiscoveredAssignor(
            kind, name.text, None, attrs.evolve(origin, kind=kind), self._isolation, origin.digest()
        )

    def _is_apart(self, selector: str, origin: CodeOrigin) -> bool:
        return self._isolation.policy.isolates(origin.distribution, selector)

    def _entry(self, kind: str, selector: str, origin: CodeOrigin) -> Any:
        document = self._document(selector)
        fields, digest = document[kind], document["digest"]
        if isinstance(fields, str):
            raise PluginLoadError(fields)
        factory = DiscoveredAssignor(kind, selector, origin.distribution, None, self._isolation, digest)
        try:
            return assignor_entry(kind, fields, factory)
        except PluginDefinitionError as error:
            raise PluginLoadError(f"assignor {selector!r}: {error}") from error

    def _document(self, selector: str) -> Mapping[str, Any]:
        if selector not in self._described:
            self._described[selector] = self._asked(selector)
        return self._described[selector]

    def _asked(self, selector: str) -> Mapping[str, Any]:
        path = [*search_path(), str(Path.cwd())]
        return self._loaded(selector, f"{HANDLERS}:describe_code", (path, selector), _checked)

    def _loaded(
        self,
        selector: str,
        load: str,
        given: tuple[Any, ...],
        checked: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda document: document,
    ) -> Mapping[str, Any]:
        """The description of code by the process that loaded it.

        Raises:
            PluginLoadError: if it cannot be loaded.
        """
        limits = self._isolation.limits
        modules = (load.partition(":")[0],)
        launcher = launcher_of(limits.environment)
        process = PluginProcess(f"assignor {selector}", limits, launcher, lambda: (load, given), modules)
        try:
            document = process.started()
            if "failure" in document:
                # The message already names the code.
                raise PluginLoadError(failure_in(document).message)
            return checked(document)
        except AnswerFormatError as error:
            raise PluginLoadError(f"assignor {selector!r} cannot be imported: it answers with {error}") from error
        except IsolationError as error:
            raise PluginLoadError(f"assignor {selector!r} cannot be imported: {error}") from error
        finally:
            process.close()


class CodeUnseen:
    """Checks origin and policy of named code without importing it."""

    def __init__(self, isolation: Isolation, java: JavaSettings) -> None:
        self._java = IsolatedCode(isolation, java, is_checked=True)

    def task_assignor(self, selector: str, policy: Policy) -> FoundTaskAssignor:
        """As in the protocol; the found entry creates no assignor."""
        if java_name(selector) is not None:
            return self._java.task_assignor(selector, policy)
        origin = code_origin(selector, policy)
        plugin = TaskAssignorPlugin("unseen", _not_imported)
        return FoundTaskAssignor(selector, plugin, origin.distribution, origin.version)

    def connect_assignor(self, selector: str, policy: Policy) -> FoundConnectAssignor:
        _refuse_java(selector)
        origin = code_origin(selector, policy)
        plugin = ConnectAssignorPlugin("unseen", _not_imported)
        return FoundConnectAssignor(selector, plugin, origin.distribution, origin.version)

    def group_assignor(self, selector: str, policy: Policy) -> Found[GroupAssignorPlugin]:
        _refuse_java(selector)
        origin = code_origin(selector, policy)
        return Found(selector, GroupAssignorPlugin("unseen", _not_imported), origin.distribution, origin.version)

    def partition_assignor(
        self,
        kind: str,
        selector: str,
        policy: Policy,
    ) -> Found[PartitionAssignorPlugin]:
        if java_name(selector) is not None:
            return self._java.partition_assignor(kind, selector, policy)
        origin = code_origin(selector, policy)
        return Found(selector, PartitionAssignorPlugin("unseen", _not_imported), origin.distribution, origin.version)

    def kinds(self, selector: str, policy: Policy) -> tuple[str, ...]:
        """All kinds, because the code is not imported."""
        if java_name(selector) is not None:
            return self._java.kinds(selector, policy)
        code_origin(selector, policy)
        return tuple(ASKING_PLACES)


def _not_imported() -> NoReturn:
    raise PluginLoadError("the code was not imported")


def _refuse_java(selector: str) -> None:
    if java_name(selector) is not None:
        raise PluginLoadError(
            f"assignor {selector!r}: Java assignors are for Streams applications (KIP-924), "
            "consumer groups and share groups"
        )


def _checked(document: Mapping[str, Any]) -> Mapping[str, Any]:
    kinds, digest = document.get("kinds"), document.get("digest")
    if type(kinds) is not list or not (digest is None or (type(digest) is str and _DIGEST.match(digest))):
        raise AnswerFormatError("no kinds of assignors")
    checked: dict[str, Any] = {"kinds": kinds, "digest": digest}
    for kind in ASKING_PLACES:
        fields = document.get(kind)
        checked[kind] = fields[:_MESSAGE_LIMIT] if isinstance(fields, str) else fields_in(kind, fields)
    return checked
