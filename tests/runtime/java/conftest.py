from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.runtime.java.kafka import KAFKA_3_8, ROOT, compiled


@pytest.fixture(scope="session")
def bad_jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled([Path(__file__).with_name("Bad.java")], tmp_path_factory.mktemp("bad"))


@pytest.fixture(scope="session")
def kafka_3_8() -> Path:
    subprocess.run(["scripts/copy-jars", "java", "build/java/lib"], cwd=ROOT, check=True, capture_output=True)
    return KAFKA_3_8
