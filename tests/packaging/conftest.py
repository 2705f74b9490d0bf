"""The distribution as a user gets it: built, and installed in an empty environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import attrs
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


@attrs.frozen
class Environment:
    path: Path

    @property
    def python(self) -> Path:
        return self.path / "bin" / "python"

    def run(self, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a program of this environment, away from the checkout."""
        command = [str(self.path / "bin" / arguments[0]), *map(str, arguments[1:])]
        return subprocess.run(command, cwd=cwd or self.path, capture_output=True, text=True, timeout=60)

    def install(self, distribution: Path) -> None:
        pip(self, "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", str(distribution))
        pip(self, "check")


def pip(environment: Environment, *arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(environment.python), "--disable-pip-version-check"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def build(project: Path, target: str, into: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(into)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = into.iterdir()
    return built


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def core(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("core"))
    venv.create(environment.path, symlinks=True, with_pip=False)
    site_packages = next(environment.path.glob("lib/python*/site-packages"))
    for name in sorted(required("assignor-lab", set())):
        copy_distribution(name, site_packages)
    environment.install(wheel)
    return environment


def required(name: str, seen: set[str]) -> set[str]:
    """Requirements of a distribution without extras, with their own requirements."""
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in seen:
            seen.add(requirement.name)
            required(requirement.name, seen)
    return seen


def copy_distribution(name: str, site_packages: Path) -> None:
    """Copies an installed distribution, so that no index is needed."""
    for file in metadata.distribution(name).files or ():
        if ".." in file.parts or file.suffix == ".pyc":
            continue
        target = site_packages / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(file.locate()), target)
