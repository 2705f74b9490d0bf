"""One plain sentence reports each missing part of a machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    for tool in ("bash", "env", "sed", "head"):
        found = shutil.which(tool)
        assert found is not None
        (tmp_path / tool).symlink_to(found)
    return tmp_path


def put_program(folder: Path, name: str, script: str) -> None:
    program = folder / name
    program.write_text(f"#!/usr/bin/env bash\n{script}\n", encoding="utf-8")
    program.chmod(0o755)


def run(script: str, path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key not in {"JAVA_HOME", "PYTHON"}}
    environment |= {"PATH": str(path), **variables}
    return subprocess.run([SCRIPTS / script], env=environment, capture_output=True, text=True, timeout=30)


def assert_one_sentence(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    for part in parts:
        assert part in done.stderr


def test_no_java(bare_path: Path) -> None:
    assert_one_sentence(run("check-java", bare_path), "No Java was found", "install a JDK 17 or later")


def test_java_too_old(bare_path: Path) -> None:
    put_program(bare_path, "java", """echo 'openjdk version "1.8.0_392"' >&2""")
    assert_one_sentence(run("check-java", bare_path), "Java 1.8.0_392", "too old", "install a JDK 17 or later")


def test_java_that_does_not_run(bare_path: Path) -> None:
    put_program(bare_path, "java", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    assert_one_sentence(run("check-java", bare_path), "does not run", "install a JDK 17 or later")


def test_java_home_without_java(bare_path: Path) -> None:
    done = run("check-java", bare_path, JAVA_HOME="/nowhere")
    assert_one_sentence(done, "JAVA_HOME=/nowhere", "install a JDK 17 or later")


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.2", "25-ea"])
def test_java_that_fits(bare_path: Path, version: str) -> None:
    put_program(bare_path, "java", f"""echo 'openjdk version "{version}" 2026-01-01' >&2""")
    done = run("check-java", bare_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_python(bare_path: Path) -> None:
    assert_one_sentence(run("find-python", bare_path), "No Python 3.11 or later was found", "install one")


def test_python_too_old(bare_path: Path) -> None:
    put_program(bare_path, "python3", "exit 1")
    done = run("find-python", bare_path, PYTHON="python3")
    assert_one_sentence(done, "PYTHON=python3", "3.11 or later")


def test_the_first_python_that_fits_is_taken(bare_path: Path) -> None:
    put_program(bare_path, "python3", "exit 1")
    put_program(bare_path, "python3.12", "exit 0")
    assert run("find-python", bare_path).stdout == "python3.12\n"
