"""Fixtures that several rooms share: one Spark session, one browser."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from pyspark.sql import SparkSession

# A busy machine is no fault of the code under test. The profile extends Hypothesis's own, which is reproducible in CI.
settings.register_profile("patient", settings(deadline=None))
settings.load_profile("patient")

# Runs of the command leave no archive of Spark's classes in the user's home.
os.environ["ASSIGNOR_CLASS_ARCHIVES"] = ""
# They share descriptions of plugins, in a folder of this run.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _CACHE = tempfile.TemporaryDirectory(prefix="assignor-tests-")
    os.environ["ASSIGNOR_CACHE"] = _CACHE.name


@pytest.fixture
def example_assignors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example plugin's assignors as ``assignor_round_robin:CLASS``, even if it is not installed."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "plugins" / "assignor-round-robin")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one Spark session of the run: two cores, no UI, no files in the checkout."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    scratch = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("assignor-lab tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        # As in `assignor score`: better compilation costs a short run more than it saves.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto")
        .config("spark.local.dir", str(scratch))
        .config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next((found for name in names if (found := shutil.which(name))), None)
    assert executable is not None, "no Chromium: run the browser tests as `make test-services`, which installs one"
    # Chromium's sandbox does not start as root, the user of build machines.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield started
        started.close()
