"""Plugins as travelling wheels, checked here before any import.

Python can import from a pure wheel, a zip file, with its metadata and entry points. So it is not unpacked but appended
to the module search path, here and on the executors, where it can hide no installed module. A wheel whose content is
installed here travels, too; this process then uses what is installed. Docs: "Scoring", section "Plugins as wheels".
"""

from __future__ import annotations

import atexit
import base64
import csv
import hashlib
import io
import platform
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import invalidate_caches
from importlib.metadata import Distribution, PackageNotFoundError, distributions
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from packaging.metadata import InvalidMetadata, Metadata
from packaging.tags import Tag, parse_tag
from packaging.utils import canonicalize_name

from assignment_api import AssignorLabError
from assignment_api.input_files import open_input
from assignment_api.plugins import PROJECT_NAME
from assignment_api.plugins.installed import installed_distribution
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignor_lab.runtime.isolation.folders import held_folder
from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel, missing_requirements

__all__ = ["WheelError", "checked_wheel", "executor_wheels", "lasting_wheels"]

#: Largest wheel, packed and unpacked.
MAX_BYTES = 64 * 2**20
MAX_UNPACKED_BYTES = 256 * 2**20
MAX_MEMBERS = 10_000
MAX_METADATA_BYTES = 2**20
_COMPILED = (".so", ".pyd", ".dylib", ".dll", ".a", ".o")


class WheelError(AssignorLabError):
    """A file cannot travel as a plugin's wheel; the message has reason and remedy."""


@contextmanager
def executor_wheels(paths: Sequence[Path]) -> Iterator[tuple[ExecutorWheel, ...]]:
    """The checked and copied wheels, on the module search path of this process within the context.

    Raises:
        WheelError: if one of them cannot travel.
        OSError: if one cannot be read.
    """
    if not paths:
        yield ()
        return
    with held_folder("assignor-wheels-") as folder:
        wheels = tuple(checked_wheel(path, folder) for path in dict.fromkeys(paths))
        _check_together(wheels)
        added = [str(wheel.path) for wheel in wheels if not _is_installed(wheel.name)]
        sys.path += added
        invalidate_caches()
        try:
            yield wheels
        finally:
            _forget(added)


_lasting = ExitStack()
#: SHA-256 of a file to its wheel, of wheels that stay until this process ends.
_lasting_wheels: dict[str, ExecutorWheel] = {}


def lasting_wheels(paths: Sequence[Path]) -> tuple[ExecutorWheel, ...]:
    """The same until this process ends, for frames that Spark computes later; errors as above."""
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    new = [path for path, digest in zip(paths, digests, strict=True) if digest not in _lasting_wheels]
    if new:
        if not _lasting_wheels:
            atexit.register(_lasting.close)
        _lasting_wheels.update({wheel.sha256: wheel for wheel in _lasting.enter_context(executor_wheels(new))})
    return tuple(_lasting_wheels[digest] for digest in dict.fromkeys(digests))


def checked_wheel(path: Path, folder: Path) -> ExecutorWheel:
    """Copies a wheel and checks the copy.

    Raises:
        WheelError: if it is no wheel, not pure, harmful, not a plugin, or installed here with another content.
        OSError: if it cannot be read.
    """
    if path.suffix != ".whl":
        raise WheelError(f"{path} is no wheel: give a file whose name ends with .whl (pip wheel makes one)")
    with open_input(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise WheelError(f"{path} has more than {MAX_BYTES // 2**20} MiB: install it on the executors instead")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            metadata = _checked(path, archive)
            tops = _top_modules(archive)
            digests = _module_digests(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise WheelError(f"{path} is no wheel that can be read: {str(error) or type(error).__name__}") from error
    name, version = canonicalize_name(metadata.name), str(metadata.version)
    _check_place(path, name, version, tops, digests)
    digest = hashlib.sha256(content).hexdigest()
    copy = folder / f"{name.replace('-', '_')}-{version}-{digest[:12]}.whl"
    copy.write_bytes(content)
    _check_entry_points(path, copy)
    needs = tuple(str(requirement) for requirement in metadata.requires_dist or ())
    return ExecutorWheel(copy, name, version, digest, needs)


def _checked(path: Path, archive: zipfile.ZipFile) -> Metadata:
    """The metadata of the wheel in ``archive``, after a comparison of all files with its record."""
    infos = archive.infolist()
    _check_members(path, infos)
    folders = {name.partition("/")[0] for name in archive.namelist() if name.partition("/")[0].endswith(".dist-info")}
    if len(folders) != 1:
        raise WheelError(f"{path} is no wheel: it has {len(folders)} folders .dist-info, expected 1")
    info = folders.pop()
    _check_pure(path, _text(path, archive, f"{info}/WHEEL"), archive.namelist())
    try:
        metadata = Metadata.from_email(_text(path, archive, f"{info}/METADATA"), validate=True)
    except (InvalidMetadata, ExceptionGroup) as error:
        raise WheelError(f"{path}: its METADATA cannot be read: {_first_line(error)}") from error
    python = metadata.requires_python
    if python is not None and not python.contains(platform.python_version(), prereleases=True):
        raise WheelError(f"{path} needs Python {python}, and this is Python {platform.python_version()}")
    _check_record(path, archive, f"{info}/RECORD")
    return metadata


def _first_line(error: Exception) -> str:
    inner = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
    return (str(inner).splitlines() or [type(inner).__name__])[0]


def _check_members(path: Path, infos: Sequence[zipfile.ZipInfo]) -> None:
    if len(infos) > MAX_MEMBERS or sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
        raise WheelError(
            f"{path} is refused: it unpacks to more than {MAX_MEMBERS:,} files or {MAX_UNPACKED_BYTES // 2**20} MiB"
        )
    seen: set[str] = set()
    for info in infos:
        parts = PurePosixPath(info.filename).parts
        is_outside = (
            info.filename.startswith("/") or ".." in parts or "\\" in info.orig_filename or ":" in info.filename
        )
        if is_outside or "\0" in info.orig_filename:
            raise WheelError(f"{path} is refused: it has a file {info.orig_filename!r:.100} outside of itself")
        if info.filename in seen:
            raise WheelError(f"{path} is refused: it has two files {info.filename!r:.100}")
        if stat.S_ISLNK(info.external_attr >> 16) or info.flag_bits & 0x1:
            raise WheelError(f"{path} is refused: {info.filename!r:.100} is a link or encrypted")
        seen.add(info.filename)


def _text(path: Path, archive: zipfile.ZipFile, name: str) -> str:
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise WheelError(f"{path} is no wheel: it has no {name}") from None
    if info.file_size > MAX_METADATA_BYTES:
        raise WheelError(f"{path} is refused: {name} has more than {MAX_METADATA_BYTES // 2**20} MiB")
    return archive.read(info).decode("utf-8")


def _check_pure(path: Path, wheel: str, names: Sequence[str]) -> None:
    headers = [line.partition(":") for line in wheel.splitlines()]
    fields = [(key.strip().lower(), value.strip()) for key, _, value in headers]
    tags: set[Tag] = set()
    for key, value in fields:
        if key == "tag":
            tags |= parse_tag(value)
    purelib = [value.lower() for key, value in fields if key == "root-is-purelib"]
    remedy = "install it on the executors (and here), and leave the wheel out"
    other = sorted(str(tag) for tag in tags if (tag.abi, tag.platform) != ("none", "any"))
    if other or purelib != ["true"]:
        made = f"made for {other[0]}" if other else "not marked as pure"
        raise WheelError(f"{path} is not pure Python ({made}): it cannot be imported from the file; {remedy}")
    compiled = [name for name in names if name.lower().endswith(_COMPILED) or ".so." in name.lower()]
    if compiled:
        raise WheelError(f"{path} is not pure Python (it holds {compiled[0]!r:.100}); {remedy}")
    placed = [name for name in names if _is_placed(name)]
    if placed:
        raise WheelError(
            f"{path} has modules that only an installer puts in their place ({placed[0]!r:.100}); {remedy}"
        )


def _is_placed(name: str) -> bool:
    top, _, rest = name.partition("/")
    return top.endswith(".data") and rest.startswith(("purelib/", "platlib/"))


def _check_record(path: Path, archive: zipfile.ZipFile, record: str) -> None:
    """Reads all files: none may differ from the record, be missing, or be absent from the record."""
    listed = {row[0]: row[1] for row in csv.reader(io.StringIO(_text(path, archive, record))) if len(row) == 3}
    free = {record, f"{record}.jws", f"{record}.p7s"}
    for info in archive.infolist():
        if info.is_dir() or info.filename in free:
            continue
        algorithm, _, expected = listed.pop(info.filename, "").partition("=")
        if algorithm not in ("sha256", "sha384", "sha512"):
            raise WheelError(f"{path} is refused: {info.filename!r:.100} is not in its RECORD, or without a hash there")
        digest = base64.urlsafe_b64encode(hashlib.new(algorithm, archive.read(info)).digest()).decode().rstrip("=")
        if digest != expected:
            raise WheelError(f"{path} is damaged: the content of {info.filename!r:.100} differs from its RECORD")
    missing = [name for name in listed if name not in free]
    if missing:
        raise WheelError(f"{path} is damaged: {missing[0]!r:.100} is in its RECORD and not in the file")


def _top_modules(archive: zipfile.ZipFile) -> list[str]:
    tops = dict.fromkeys(name.partition("/")[0] for name in archive.namelist() if name.endswith(".py"))
    return [top.removesuffix(".py") for top in tops]


def _module_digests(archive: zipfile.ZipFile) -> dict[str, str]:
    """SHA-256 (hex) of each file beside the metadata."""
    names = [info.filename for info in archive.infolist() if not info.is_dir()]
    own = [name for name in names if not name.partition("/")[0].endswith(".dist-info")]
    return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in own}


def _check_place(path: Path, name: str, version: str, tops: Sequence[str], digests: Mapping[str, str]) -> None:
    if name == BUILTIN_DISTRIBUTION:
        raise WheelError(f"{path}: assignor-lab itself does not travel: install the same release on the executors")
    if _is_installed(name):
        installed = installed_distribution(name)
        if installed.version != version:
            raise WheelError(
                f"{path}: {name} {installed.version} is installed here, and would be taken instead: leave the wheel "
                "out, or uninstall it here"
            )
        if (other := _other_content(installed, digests)) is not None:
            raise WheelError(
                f"{path}: {name} {version} is installed here with another {other!r:.100}: install this wheel here, or "
                "build it again"
            )
        return
    for top in tops:
        if top in sys.stdlib_module_names or (find_spec(top) is not None and not _is_namespace(top)):
            raise WheelError(f"{path}: its module {top!r:.100} is hidden by one of that name that is installed here")


def _is_installed(name: str) -> bool:
    try:
        installed_distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _other_content(installed: Distribution, digests: Mapping[str, str]) -> str | None:
    """The first of the wheel's files that this process would import with another content; ``None`` if all are equal."""
    for name, digest in digests.items():
        content = _content(Path(str(installed.locate_file(name)))) or _imported_content(name)
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            return name
    return None


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _imported_content(name: str) -> bytes | None:
    """A file of an editable installation, beside its top-level module."""
    top, _, rest = name.partition("/")
    try:
        spec = find_spec(top.removesuffix(".py"))
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    return _content(Path(spec.origin).parent / rest if rest else Path(spec.origin))


def _is_namespace(top: str) -> bool:
    spec = find_spec(top)
    return spec is not None and spec.origin is None and spec.submodule_search_locations is not None


def _check_entry_points(path: Path, copy: Path) -> None:
    found: list[Distribution] = list(distributions(path=[str(copy)]))
    try:
        points = [point for one in found for point in one.entry_points.select(group=PROJECT_NAME)]
    except Exception as error:
        raise WheelError(f"{path}: its entry points cannot be read: {type(error).__name__}: {error}") from error
    if not points:
        raise WheelError(f"{path} is no plugin: it has no entry point of group {PROJECT_NAME}")


def _check_together(wheels: Sequence[ExecutorWheel]) -> None:
    names = [wheel.name for wheel in wheels]
    for name in names:
        if names.count(name) > 1:
            raise WheelError(f"two wheels are of {name}: give one of them")
    for wheel in wheels:
        for problem in missing_requirements(wheel, wheels):
            raise WheelError(f"{wheel.name} {wheel.version} {problem}: install that here and on the executors")


def _forget(paths: Sequence[str]) -> None:
    sys.path[:] = [entry for entry in sys.path if entry not in paths]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(tuple(f"{path}/" for path in paths)):
            del sys.modules[name]
    for path in paths:
        sys.path_importer_cache.pop(path, None)
    invalidate_caches()
