"""An author's first minutes, with only the built wheel in a clean environment."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.packaging.conftest import Environment, build

ROOT = Path(__file__).resolve().parents[2]
#: The build tools of the distribution, beside the author's extras.
TOOLS = ("mypy", "hatchling", "pip", "editables")


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The environment of an author: no Spark."""
    return environment_with("author", tmp_path_factory)


@pytest.fixture(scope="module")
def scoring(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The environment of an author who scores."""
    return environment_with("author,score", tmp_path_factory)


def environment_with(extras: str, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("clean"))
    venv.create(environment.path, symlinks=True, with_pip=False)
    site_packages = next(environment.path.glob("lib/python*/site-packages"))
    for name in sorted(closure((f"assignor-lab[{extras}]", *TOOLS)) - {"assignor-lab"}):
        link_distribution(name, site_packages)
    environment.install(build(ROOT, "wheel", tmp_path_factory.mktemp("wheel")))
    return environment


def closure(wanted: tuple[str, ...]) -> set[str]:
    """Names of all distributions that these requirements need, including extras."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(text) for text in wanted]
    while waiting:
        requirement = waiting.pop()
        key = (requirement.name.lower().replace("_", "-"), frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        for text in metadata.requires(requirement.name) or ():
            needed = Requirement(text)
            extras = [*requirement.extras, ""]
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return {name for name, _ in seen}


def link_distribution(name: str, site_packages: Path) -> None:
    for file in metadata.distribution(name).files or ():
        top = file.parts[0]
        target = site_packages / top
        if top != ".." and not target.exists() and top != "__pycache__":
            target.symlink_to(Path(str(metadata.distribution(name).locate_file(top))))


def run(environment: Environment, *words: str, cwd: Path) -> str:
    """Runs a program of the environment as the author does; a failure shows its output."""
    variables = {
        "PATH": f"{environment.path / 'bin'}:{os.environ['PATH']}",
        "HOME": str(cwd),
        "MYPY_CACHE_DIR": str(environment.path / "mypy"),
    }
    variables |= {key: value for key, value in os.environ.items() if key in ("JAVA_HOME", "LANG", "TMPDIR")}
    words = (str(environment.path / "bin" / words[0]), *words[1:])
    done = subprocess.run(words, cwd=cwd, env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def begun(kind: str, clean: Environment, tmp_path: Path) -> Path:
    """The installed project of a new distribution."""
    run(clean, "assignor", "new", f"begun-{kind}", "--kind", kind, cwd=tmp_path)
    project = tmp_path / f"begun-{kind}"
    pip = [sys.executable, "-m", "pip", "--python", str(clean.python), "install", "--quiet", "--no-index"]
    installed = subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", str(project)], capture_output=True, text=True
    )
    assert installed.returncode == 0, installed.stderr
    return project


@pytest.mark.services
@pytest.mark.parametrize("kind", ["streams", "group", "connect", "consumer"])
def test_an_author_begins(kind: str, clean: Environment, tmp_path: Path) -> None:
    project, module = begun(kind, clean, tmp_path), f"begun_{kind}"
    assert "7 of 7 levels, 100 histories" in run(clean, "python", "-m", "pytest", "-q", cwd=project)
    assert "Success: no issues found" in run(clean, "python", "-m", "mypy", "--strict", ".", cwd=project)
    assert f"conformance 3 · {module}" in run(clean, "assignor", "conformance", module, cwd=project)


@pytest.mark.services
@pytest.mark.parametrize("kind", ["streams", "group", "connect"])
def test_an_author_scores(kind: str, scoring: Environment, tmp_path: Path) -> None:
    project, module = begun(kind, scoring, tmp_path), f"begun_{kind}"
    families = {"streams": "scale_out", "group": "group_scale_out", "connect": "connect_scale_out"}
    words = ("--families", families[kind], "--count", "2", "--assignor", module, "--out", "scores")
    assert " 0 failed" in run(scoring, "assignor", "score", *words, cwd=project)


@pytest.mark.services
def test_an_author_begins_a_metric(scoring: Environment, tmp_path: Path) -> None:
    clean = scoring
    project = begun("metric", clean, tmp_path)
    assert "8 passed" in run(clean, "python", "-m", "pytest", "-q", cwd=project)
    assert "Success: no issues found" in run(clean, "python", "-m", "mypy", "--strict", ".", cwd=project)
    assert "begun_metric" in run(clean, "assignor", "plugins", "--kind", "metric", cwd=project)
    words = ("--families", "scale_out", "--count", "2", "--assignor", "sticky", "--metrics", "begun_metric")
    assert " 0 failed" in run(clean, "assignor", "score", *words, "--out", "scores", cwd=project)


@pytest.mark.services
@pytest.mark.parametrize("kind", ["family", "observer", "connector"])
def test_an_author_begins_another_plugin(kind: str, scoring: Environment, tmp_path: Path) -> None:
    project, module = begun(kind, scoring, tmp_path), f"begun_{kind}"
    assert " passed" in run(scoring, "python", "-m", "pytest", "-q", cwd=project)
    assert "Success: no issues found" in run(scoring, "python", "-m", "mypy", "--strict", ".", cwd=project)
    listed = {"family": "scenario-family"}.get(kind, kind)
    assert module in run(scoring, "assignor", "plugins", "--kind", listed, cwd=project)
    if kind == "family":
        words = ("--families", module, "--count", "2", "--assignor", "sticky", "--out", "scores")
        assert " 0 failed" in run(scoring, "assignor", "score", *words, cwd=project)
