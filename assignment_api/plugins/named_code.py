"""Assignors named as ``module:attribute``, not installed as plugins."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Protocol

import attrs

from assignment_api.connect import ConnectAssignor
from assignment_api.consumer import (
    ConsumerGroupPartitionAssignor,
    ConsumerPartitionAssignor,
    ShareGroupPartitionAssignor,
)
from assignment_api.group.assignor import TaskAssignor as GroupTaskAssignor
from assignment_api.plugins.discovery import describe_error
from assignment_api.plugins.entries import (
    ConnectAssignorPlugin,
    GroupAssignorPlugin,
    PartitionAssignorPlugin,
    TaskAssignorPlugin,
)
from assignment_api.plugins.errors import PluginDefinitionError, PluginLoadError
from assignment_api.plugins.found import Found, FoundConnectAssignor, FoundTaskAssignor
from assignment_api.plugins.installed import name_and_version, readable_distributions
from assignment_api.plugins.policy import Policy
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION, OWN_PACKAGES, PARTITION_ASSIGNORS, canonical_name
from assignment_api.streams.assignor import TaskAssignor

__all__ = [
    "HERE",
    "PARTITION_INTERFACES",
    "CodeOrigin",
    "NamedCode",
    "connect_assignor_asked_for",
    "code_origin",
    "connect_assignor_from_code",
    "group_assignor_asked_for",
    "group_assignor_from_code",
    "kinds_of_code",
    "partition_assignor_asked_for",
    "partition_assignor_from_code",
    "task_assignor_asked_for",
    "task_assignor_from_code",
]

_SELECTOR = re.compile(r"\A(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<attribute>[^\W\d]\w*(?:\.[^\W\d]\w*)*)\Z")


#: Kind of an assignor for consumer groups or share groups to its interface.
PARTITION_INTERFACES: Mapping[str, type] = dict(
    zip(
        PARTITION_ASSIGNORS,
        (ConsumerPartitionAssignor, ConsumerGroupPartitionAssignor, ShareGroupPartitionAssignor),
        strict=True,
    )
)


class NamedCode(Protocol):
    """Imports ``module:attribute`` in any process; as the functions of this module."""

    def task_assignor(self, selector: str, policy: Policy) -> FoundTaskAssignor:
        """As :func:`task_assignor_from_code`."""

    def connect_assignor(self, selector: str, policy: Policy) -> FoundConnectAssignor:
        """As :func:`connect_assignor_from_code`."""

    def group_assignor(self, selector: str, policy: Policy) -> Found[GroupAssignorPlugin]:
        """As :func:`group_assignor_from_code`."""

    def partition_assignor(self, kind: str, selector: str, policy: Policy) -> Found[PartitionAssignorPlugin]:
        """As :func:`partition_assignor_from_code`."""

    def kinds(self, selector: str, policy: Policy) -> tuple[str, ...]:
        """As :func:`kinds_of_code`."""


class _Here:
    def task_assignor(self, selector: str, policy: Policy) -> FoundTaskAssignor:
        return task_assignor_from_code(selector, policy)

    def connect_assignor(self, selector: str, policy: Policy) -> FoundConnectAssignor:
        return connect_assignor_from_code(selector, policy)

    def group_assignor(self, selector: str, policy: Policy) -> Found[GroupAssignorPlugin]:
        return group_assignor_from_code(selector, policy)

    def partition_assignor(self, kind: str, selector: str, policy: Policy) -> Found[PartitionAssignorPlugin]:
        return partition_assignor_from_code(kind, selector, policy)

    def kinds(self, selector: str, policy: Policy) -> tuple[str, ...]:
        return kinds_of_code(selector, policy)


#: Imports in this process.
HERE: NamedCode = _Here()


@attrs.frozen
class CodeOrigin:
    """Source of ``module:attribute``, before the import.

    Args:
        attribute: With dots if nested.
        distribution: Of the module, or ``None``.
    """

    module: str
    attribute: str
    distribution: str | None
    version: str | None


def code_origin(selector: str, policy: Policy) -> CodeOrigin:
    """Source of ``module:attribute``; imports nothing.

    Raises:
        PluginLoadError: if it is blocked, or not of this form.
    """
    module, attribute = _parts(selector)
    distribution = _distribution_of(module)
    reason = _reason_against(policy, distribution, module, attribute)
    if reason is not None:
        raise PluginLoadError(f"assignor {selector!r} may not be imported: {reason}")
    if distribution is None:
        return CodeOrigin(module, attribute, None, None)
    return CodeOrigin(module, attribute, *name_and_version(distribution))


def task_assignor_from_code(selector: str, policy: Policy) -> FoundTaskAssignor:
    """Import ``module:attribute``: a subclass of ``TaskAssignor``, a factory, or a description.

    The working directory is searched after installed packages.

    Args:
        selector: From a trusted source.
        policy: Only block-list and pins apply.

    Raises:
        PluginLoadError: if it cannot be imported, is blocked, or is something else.
    """
    code = _code(selector, policy)
    return FoundTaskAssignor(selector, _task_description(code), code.distribution, code.version)


def task_assignor_asked_for(selector: str) -> FoundTaskAssignor:
    """:func:`task_assignor_from_code` after the check of the policy."""
    return FoundTaskAssignor(selector, _task_description(_allowed_code(selector)), None, None)


def connect_assignor_asked_for(selector: str) -> FoundConnectAssignor:
    """:func:`connect_assignor_from_code` after the check of the policy."""
    return FoundConnectAssignor(selector, _connect_description(_allowed_code(selector)), None, None)


def connect_assignor_from_code(selector: str, policy: Policy) -> FoundConnectAssignor:
    """As :func:`task_assignor_from_code`, for a ``ConnectAssignor``."""
    code = _code(selector, policy)
    return FoundConnectAssignor(selector, _connect_description(code), code.distribution, code.version)


def group_assignor_asked_for(selector: str) -> Found[GroupAssignorPlugin]:
    """:func:`group_assignor_from_code` after the check of the policy."""
    return Found(selector, _group_description(_allowed_code(selector)), None, None)


def group_assignor_from_code(selector: str, policy: Policy) -> Found[GroupAssignorPlugin]:
    """As :func:`task_assignor_from_code`, for a ``group.TaskAssignor``."""
    code = _code(selector, policy)
    return Found(selector, _group_description(code), code.distribution, code.version)


def partition_assignor_asked_for(kind: str, selector: str) -> Found[PartitionAssignorPlugin]:
    """:func:`partition_assignor_from_code` after the check of the policy."""
    return Found(selector, _partition_description(kind, _allowed_code(selector)), None, None)


def partition_assignor_from_code(kind: str, selector: str, policy: Policy) -> Found[PartitionAssignorPlugin]:
    """As :func:`task_assignor_from_code`, for an assignor of consumer groups or share groups of ``kind``."""
    code = _code(selector, policy)
    return Found(selector, _partition_description(kind, code), code.distribution, code.version)


def kinds_of_code(selector: str, policy: Policy) -> tuple[str, ...]:
    """Possible kinds of ``module:attribute``; all for a function.

    Raises:
        PluginLoadError: as :func:`task_assignor_from_code`.
    """
    found = _code(selector, policy).found
    if isinstance(found, ConnectAssignorPlugin) or (isinstance(found, type) and issubclass(found, ConnectAssignor)):
        return ("connect-assignor",)
    if isinstance(found, GroupAssignorPlugin) or (isinstance(found, type) and issubclass(found, GroupTaskAssignor)):
        return ("group-assignor",)
    for kind, expected in PARTITION_INTERFACES.items():
        if isinstance(found, type) and issubclass(found, expected):
            return (kind,)
    if isinstance(found, PartitionAssignorPlugin):
        return PARTITION_ASSIGNORS
    if isinstance(found, (TaskAssignorPlugin, type)) or not callable(found):
        return ("task-assignor",)
    return ("task-assignor", "connect-assignor", "group-assignor", *PARTITION_ASSIGNORS)


@attrs.frozen
class _Code:
    selector: str
    found: object
    distribution: str | None
    version: str | None

    @property
    def plugin_name(self) -> str:
        return self.selector.rpartition(":")[2].rpartition(".")[2].strip("_") or "assignor"


def _code(selector: str, policy: Policy) -> _Code:
    origin = code_origin(selector, policy)
    found = _imported(selector, origin.module, origin.attribute)
    return _Code(selector, found, origin.distribution, origin.version)


def _allowed_code(selector: str) -> _Code:
    return _Code(selector, _imported(selector, *_parts(selector)), None, None)


def _parts(selector: str) -> tuple[str, str]:
    match = _SELECTOR.match(selector)
    if match is None:
        raise PluginLoadError(f"{selector!r:.200} is neither distribution:name nor module:attribute")
    return match["module"], match["attribute"]


def _distribution_of(module: str) -> metadata.Distribution | None:
    package = module.partition(".")[0]
    for distribution in readable_distributions():
        try:
            if canonical_name(distribution.name) == BUILTIN_DISTRIBUTION and package not in OWN_PACKAGES:
                continue
            if package in _packages_of(distribution):
                return distribution
        except Exception:  # noqa: BLE001, S112 - broken foreign metadata must not hide the module's distribution
            continue
    return None


def _packages_of(distribution: metadata.Distribution) -> set[str]:
    declared = distribution.read_text("top_level.txt")
    if declared:
        return set(declared.split())
    modules = (path for path in distribution.files or () if path.suffix in {".py", ".so", ".pyd"})
    return {path.parts[0].partition(".")[0] for path in modules}


def _reason_against(
    policy: Policy, distribution: metadata.Distribution | None, module: str, attribute: str
) -> str | None:
    if distribution is None:
        return policy.reason_against_name(module, attribute)
    # Explicit code needs no allow-list; block-list and pins apply.
    strict = attrs.evolve(policy, allow=None)
    return strict.reason_against(distribution, *name_and_version(distribution), attribute)


def _imported(selector: str, module: str, attribute: str) -> object:
    try:
        _look_in_working_directory(module.partition(".")[0])
        with contextlib.redirect_stdout(sys.stderr):
            found: object = importlib.import_module(module)
            for name in attribute.split("."):
                found = getattr(found, name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginLoadError(f"assignor {selector!r} cannot be imported: {describe_error(error)}") from error
    return found


def _look_in_working_directory(package: str) -> None:
    """After all other places, and only if needed."""
    here = str(Path.cwd())
    if importlib.util.find_spec(package) is None and here not in sys.path:
        sys.path.append(here)


def _task_description(code: _Code) -> TaskAssignorPlugin:
    found = code.found
    if isinstance(found, TaskAssignorPlugin):
        return found
    if isinstance(found, TaskAssignor) or not callable(found):
        raise PluginLoadError(
            f"assignor {code.selector!r} is {type(found).__name__}, expected a subclass of "
            "assignment_api.TaskAssignor, a function that makes one, or a TaskAssignorPlugin"
        )
    try:
        return TaskAssignorPlugin(code.plugin_name, found)
    except PluginDefinitionError as error:
        raise PluginLoadError(f"assignor {code.selector!r}: {error}") from error


def _connect_description(code: _Code) -> ConnectAssignorPlugin:
    found = code.found
    if isinstance(found, ConnectAssignorPlugin):
        return found
    if isinstance(found, ConnectAssignor) or not callable(found):
        raise PluginLoadError(
            f"assignor {code.selector!r} is {type(found).__name__}, expected a subclass of "
            "assignment_api.connect.ConnectAssignor, a function that makes one, or a ConnectAssignorPlugin"
        )
    try:
        return ConnectAssignorPlugin(code.plugin_name, found)
    except PluginDefinitionError as error:
        raise PluginLoadError(f"assignor {code.selector!r}: {error}") from error


def _group_description(code: _Code) -> GroupAssignorPlugin:
    found = code.found
    if isinstance(found, GroupAssignorPlugin):
        return found
    if isinstance(found, GroupTaskAssignor) or not callable(found):
        raise PluginLoadError(
            f"assignor {code.selector!r} is {type(found).__name__}, expected a subclass of "
            "assignment_api.group.TaskAssignor, a function that makes one, or a GroupAssignorPlugin"
        )
    try:
        return GroupAssignorPlugin(code.plugin_name, found)
    except PluginDefinitionError as error:
        raise PluginLoadError(f"assignor {code.selector!r}: {error}") from error


def _partition_description(kind: str, code: _Code) -> PartitionAssignorPlugin:
    found, expected = code.found, PARTITION_INTERFACES[kind]
    if isinstance(found, PartitionAssignorPlugin):
        return found
    if isinstance(found, expected) or not callable(found):
        raise PluginLoadError(
            f"assignor {code.selector!r} is {type(found).__name__}, expected a subclass of "
            f"assignment_api.consumer.{expected.__name__}, a function that makes one, or a PartitionAssignorPlugin"
        )
    try:
        return PartitionAssignorPlugin(code.plugin_name, found)
    except PluginDefinitionError as error:
        raise PluginLoadError(f"assignor {code.selector!r}: {error}") from error
