"""Plugins' wheels on executors: found among the job's files and added to the module search path."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import invalidate_caches
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from assignment_api.plugins import PluginLoadError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "ExecutorWheel",
    "WheelLostError",
    "arrived",
    "missing_requirements",
    "problem_on_arrival",
    "sent",
    "terms_of",
]


class WheelLostError(PluginLoadError):
    """A wheel is missing on an executor, or differs from the sent one."""


@attrs.frozen
class ExecutorWheel:
    """A checked wheel.

    Args:
        needs: Its requirements, as in its metadata.
    """

    path: Path
    name: str
    version: str
    sha256: str
    needs: tuple[str, ...] = ()


def sent(spark: SparkSession, wheels: Iterable[ExecutorWheel]) -> None:
    """Hands the wheels to Spark, which brings them to every executor.

    They travel as files, not as Python files, which would precede all installed modules there.
    """
    for wheel in wheels:
        spark.addArtifacts(str(wheel.path), file=True)


def terms_of(wheels: Iterable[ExecutorWheel]) -> dict[str, str]:
    """The wheels as terms of a run, on every engine."""
    return {"plugin wheels": ", ".join(f"{wheel.name} {wheel.version} sha256:{wheel.sha256}" for wheel in wheels)}


def arrived(wheels: Iterable[ExecutorWheel]) -> None:
    """Appends the wheels to the module search path of this executor's process, once each.

    A wheel whose release is installed here is not needed.

    Raises:
        WheelLostError: if one is missing, or differs from the sent one.
    """
    for wheel in wheels:
        if str(wheel.path) in sys.path:
            # The driver's own process.
            continue
        if _installed_version(wheel.name) == wheel.version:
            continue
        from pyspark import SparkFiles

        path = Path(SparkFiles.get(wheel.path.name))
        if str(path) in sys.path:
            continue
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise WheelLostError(
                f"the wheel of {wheel.name} {wheel.version} did not reach this executor: {error}"
            ) from error
        if digest != wheel.sha256:
            raise WheelLostError(f"the wheel of {wheel.name} {wheel.version} reached this executor damaged")
        sys.path.append(str(path))
        invalidate_caches()


def _installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def missing_requirements(wheel: ExecutorWheel, wheels: Sequence[ExecutorWheel]) -> Iterator[str]:
    """Requirements of ``wheel`` that this process lacks, a phrase for each."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    travelling = {other.name: other.version for other in wheels}
    for text in wheel.needs:
        need = Requirement(text)
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        try:
            held = travelling.get(canonicalize_name(need.name)) or version(need.name)
        except PackageNotFoundError:
            yield f"needs {need.name}, which is not installed"
            continue
        if not need.specifier.contains(held, prereleases=True):
            yield f"needs {need.name}{need.specifier}, and {held} is installed"


def problem_on_arrival(wheels: Sequence[ExecutorWheel]) -> str | None:
    """The reason why this executor cannot use the wheels; ``None`` if it can."""
    try:
        arrived(wheels)
    except WheelLostError as error:
        return str(error)
    for wheel in wheels:
        held = version(wheel.name)
        if held != wheel.version:
            return f"it has {wheel.name} {held} installed, which hides the wheel of {wheel.version}: uninstall it there"
        for problem in missing_requirements(wheel, wheels):
            return f"the plugin {wheel.name} {wheel.version} {problem} there: install it on every executor"
    return None
