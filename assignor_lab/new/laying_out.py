"""Creation of the distribution of an assignor or another plugin, and updates to a later template, by Copier."""

from __future__ import annotations

import keyword
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from assignment_api import AssignorLabError
from assignment_api.plugins.reserved import canonical_name, is_reserved
from assignor_lab.new.template_repository import TemplateError, template_repository

__all__ = ["KINDS_OF_NEW", "NameRefusedError", "TemplateError", "laid_out", "module_of", "steps_of", "updated"]

#: Kind of a new distribution to its content.
KINDS_OF_NEW: Mapping[str, str] = {
    "streams": "an assignor for an application of Kafka Streams (KIP-924)",
    "group": "an assignor for a Kafka Streams group that brokers assign (KIP-1071)",
    "connect": "an assignor for a Kafka Connect group",
    "consumer": "an assignor for plain consumer groups, called by the leading member",
    "metric": "a metric of Kafka Streams assignments",
    "family": "a family of generated Kafka Streams groups",
    "observer": "an observer of Kafka Streams assignments",
    "connector": "a connector for `assignor connect serve`",
}
_LAST = {
    "metric": "assignor plugins --kind metric",
    "family": "assignor score --families {module} --count 20 --assignor sticky --out scores",
    "observer": "assignor plugins --kind observer",
    "connector": "assignor plugins --kind connector",
}
_NAME = re.compile(r"\A[a-z][a-z0-9]*([._-][a-z0-9]+)*\Z")


class NameRefusedError(AssignorLabError):
    """A name that is impossible for an assignor's distribution."""


def laid_out(name: str, kind: str, folder: Path) -> Path:
    """Creates a distribution called ``name`` in ``folder / name``.

    Args:
        name: Name of the distribution and, with ``_``, of its package and its assignor.

    Returns:
        The folder.

    Raises:
        NameRefusedError: if the name is invalid or taken.
        TemplateError: if that folder is not empty, or the template cannot be read.
    """
    import copier

    _check(name)
    target = folder / name
    if target.exists() and any(target.iterdir() if target.is_dir() else [target]):
        raise TemplateError(f"{target} exists and is not empty: choose another name, or another folder")
    data = {"name": name, "kind": kind, "lab": _version()}
    source = template_repository()
    try:
        copier.run_copy(source, target, data=data, defaults=True, quiet=True)
    except copier.errors.CopierError as error:
        raise TemplateError(f"{target} cannot be laid out: {error}") from error
    return target


def steps_of(name: str, kind: str, target: Path) -> tuple[str, ...]:
    """The commands with which an author begins in a new distribution."""
    last = _LAST.get(kind, "assignor conformance {module}").format(module=module_of(name))
    return f"cd {target}", "pip install -e '.[test]'", "pytest", last


def module_of(name: str) -> str:
    """The module of a distribution, which is the name of its assignor or other part."""
    return canonical_name(name).replace("-", "_")


def updated(folder: Path) -> None:
    """Updates a distribution to the newest template, and keeps its author's changes.

    Args:
        folder: The distribution: the top of a git repository without uncommitted changes.

    Raises:
        TemplateError: if it was not created here, is not in git, or has uncommitted changes.
    """
    import copier

    if not (folder / ".copier-answers.yml").is_file():
        raise TemplateError(f"{folder} was not laid out by `assignor new`: there is no .copier-answers.yml in it")
    # Its original template is needed, too, to find the author's changes.
    template_repository()
    try:
        copier.run_update(folder, defaults=True, overwrite=True, quiet=True)
    except copier.errors.CopierError as error:
        raise TemplateError(f"{folder} cannot be updated: {error}") from error
    except subprocess.CalledProcessError as error:
        raise TemplateError(f"{folder} cannot be updated: git ended with {error.returncode}") from error


def _check(name: str) -> None:
    module = module_of(name)
    if not _NAME.match(name):
        raise NameRefusedError(
            f"{name!r:.80} is no name: a small letter, then small letters and digits, with '-' between"
        )
    if is_reserved(module):
        raise NameRefusedError(f"{name!r} is a name of the built-ins or of Kafka: choose another")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names:
        raise NameRefusedError(f"{name!r} is a word or a module of Python itself: choose another")


def _version() -> str:
    found: Any = metadata.version("assignor-lab")
    return ".".join(str(found).split(".")[:2])
