"""Digests of code, independent of place and way of installation, and versions of its requirements."""

from __future__ import annotations

import hashlib
import inspect
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from assignment_api.plugins import PROJECT_NAME
from assignment_api.plugins.installed import installed_distribution
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignor_lab.runtime.discovery.entries import DiscoveredAssignor

__all__ = ["code_digest", "required_versions", "source_digest"]

#: Bytes of a file that are held at a time: a plugin may include a model.
_BLOCK = 2**20


def code_digest(distribution: str) -> str | None:
    """SHA-256 (hex) of the files of the packages with a distribution's plugins, file names included.

    Nothing is imported. Compiled and hidden files do not count. The digest is the same in a checkout, a folder of
    installed packages and a wheel on the module search path.

    Returns:
        ``None`` if it has no plugin, or its files cannot be found.
    """
    digest = hashlib.sha256()
    packages = sorted(_packages(distribution))
    for package in packages:
        files = sorted(_files(package), key=lambda each: each[0])
        if not files:
            return None
        for name, file in files:
            digest.update(f"{name}\0{_digest(file)}\n".encode())
    return digest.hexdigest() if packages else None


def _digest(file: Traversable) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def source_digest(made: object) -> str | None:
    """SHA-256 (hex) of the source file of a class or function; ``None`` if it cannot be found."""
    if isinstance(made, DiscoveredAssignor):
        return made.digest
    try:
        file = inspect.getsourcefile(made)  # type: ignore[arg-type]
        return hashlib.sha256(Path(file or "").read_bytes()).hexdigest()
    except (TypeError, OSError):
        return None


def required_versions(distributions: Iterable[str]) -> Mapping[str, str]:
    """Versions of direct and indirect requirements of distributions, without extras, by name."""
    roots: set[str] = {canonicalize_name(name) for name in distributions}
    waiting, found = sorted(roots), dict[str, str]()
    while waiting:
        name = waiting.pop()
        try:
            held = installed_distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if name not in roots:
            found[name] = held.version
        waiting += (need for need in _needs(held.requires or ()) if need not in found and need not in roots)
    return dict(sorted(found.items()))


def _needs(requires: Iterable[str]) -> Iterator[str]:
    for text in requires:
        try:
            need = Requirement(text)
        except InvalidRequirement:
            # An installer rejects it, too.
            continue
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            yield canonicalize_name(need.name)


def _packages(distribution: str) -> set[str]:
    try:
        entry_points = installed_distribution(distribution).entry_points
    except metadata.PackageNotFoundError:
        return set()
    points = [entry for entry in entry_points if entry.group == PROJECT_NAME]
    # An entry point without a module is reported as broken, and has no code.
    found = {entry.module.partition(".")[0] for entry in points if entry.pattern.match(entry.value)} - {""}
    # The contract belongs to the lab's distribution and has no plugin of its own.
    return found | {PROJECT_NAME} if found and distribution == BUILTIN_DISTRIBUTION else found


def _files(package: str) -> Iterator[tuple[str, Traversable]]:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _below(_located(Path(folder)), package)
    if spec.submodule_search_locations is None and spec.origin is not None:
        yield Path(spec.origin).name, _located(Path(spec.origin))


def _below(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name.startswith((".", "__pycache__")):
            continue
        if entry.is_dir():
            if isinstance(entry, Path) and entry.is_symlink():
                # A link may form a loop or lead outside; no wheel contains one.
                continue
            yield from _below(entry, f"{name}/{entry.name}")
        elif entry.is_file():
            yield f"{name}/{entry.name}", entry


def _located(path: Path) -> Traversable:
    archive = next((parent for parent in path.parents if parent.is_file() and zipfile.is_zipfile(parent)), None)
    if archive is None:
        return path
    root: Traversable = zipfile.Path(archive)
    return root.joinpath(*path.relative_to(archive).parts)
