"""Our Java classes in the wheel: small, for Java 11, without Kafka's classes, and built from their sources."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT

JARS = ROOT / "assignor_lab" / "jars"
NAMES = ("driver.jar", "shim.jar")
JAVA_11 = 55


@pytest.mark.parametrize("name", NAMES)
def test_a_jar_is_small_and_has_classes_of_ours_for_java_11_alone(name: str) -> None:
    assert (JARS / name).stat().st_size < 45_000
    with zipfile.ZipFile(JARS / name) as jar:
        entries = [each for each in jar.infolist() if not each.is_dir()]
        assert len(entries) > 5
        texts = [each.filename for each in entries if not each.filename.startswith("assignorlab/")]
        assert texts == ["META-INF/LICENSE", "META-INF/NOTICE"]
        for text in texts:
            assert jar.read(text) == (ROOT / Path(text).name).read_bytes()
        classes = [each for each in entries if each.filename not in texts]
        assert {int.from_bytes(jar.read(each)[6:8], "big") for each in classes} == {JAVA_11}
        # The day of the build has no effect.
        assert {each.date_time[:3] for each in entries} == {(2000, 1, 1)}


@pytest.mark.slow
def test_the_wheel_has_the_jars(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as built:
        for name in NAMES:
            assert built.read(f"assignor_lab/jars/{name}") == (JARS / name).read_bytes()


@pytest.mark.services
def test_the_jars_are_what_their_sources_make() -> None:
    done = subprocess.run(["scripts/build-java", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_another_javac_than_that_of_the_committed_jars_is_told(tmp_path: Path) -> None:
    for name, said in (("javac", "javac 21.0.1"), ("jar", "jar 21.0.1")):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho '{said}'\n")
        program.chmod(0o755)
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    command = ["scripts/build-java", "--check"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "made by javac 17, and this is javac 21" in done.stderr
    assert "let JAVA_HOME point to a JDK 17" in done.stderr
