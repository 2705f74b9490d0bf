"""Task assignors that are named as ``module:attribute``, without being installed as plugins."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from importlib import metadata
from pathlib import Path

from assignment_api.plugins.discovery import describe_error
from assignment_api.plugins.entries import TaskAssignorPlugin
from assignment_api.plugins.errors import PluginDefinitionError, PluginLoadError
from assignment_api.plugins.found import FoundTaskAssignor
from assignment_api.plugins.policy import Policy
from assignment_api.streams.assignor import TaskAssignor

__all__ = ["task_assignor_from_code"]

_SELECTOR = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<attribute>[^\W\d]\w*(?:\.[^\W\d]\w*)*)\Z")


def task_assignor_from_code(selector: str, policy: Policy) -> FoundTaskAssignor:
    """Imports ``module:attribute``: a subclass of ``TaskAssignor``, a function that makes one, or a description.

    A module that is not installed is looked for in the working directory, after everything that is installed.

    Args:
        selector: The text ``module:attribute``; it must come from a trusted source.
        policy: Its block-list holds here, too, for modules that came with a distribution.

    Raises:
        PluginLoadError: if it cannot be imported, is blocked, or is something else.
    """
    match = _SELECTOR.match(selector)
    if match is None:
        raise PluginLoadError(f"{selector!r:.200} is neither distribution:name nor module:attribute")
    module, attribute = match["module"], match["attribute"]
    distribution = _distribution_of(module)
    blocked = policy.reason_against_name(distribution or module, attribute)
    if blocked is not None:
        raise PluginLoadError(f"assignor {selector!r} is {blocked}")
    found = _imported(selector, module, attribute)
    version = metadata.version(distribution) if distribution else None
    return FoundTaskAssignor(selector, _description(selector, attribute, found), distribution, version)


def _distribution_of(module: str) -> str | None:
    names = metadata.packages_distributions().get(module.partition(".")[0], [])
    return names[0] if names else None


def _imported(selector: str, module: str, attribute: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found: object = importlib.import_module(module)
            for name in attribute.split("."):
                found = getattr(found, name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginLoadError(f"assignor {selector!r} cannot be imported: {describe_error(error)}") from error
    return found


def _description(selector: str, attribute: str, found: object) -> TaskAssignorPlugin:
    if isinstance(found, TaskAssignorPlugin):
        return found
    if isinstance(found, TaskAssignor) or not callable(found):
        raise PluginLoadError(
            f"assignor {selector!r} is {type(found).__name__}, expected a subclass of assignment_api.TaskAssignor, "
            "a function that makes one, or a TaskAssignorPlugin"
        )
    name = attribute.rpartition(".")[2].strip("_") or "assignor"
    try:
        return TaskAssignorPlugin(name, found)
    except PluginDefinitionError as error:
        raise PluginLoadError(f"assignor {selector!r}: {error}") from error
