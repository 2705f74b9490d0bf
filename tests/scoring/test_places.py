"""One run on every kind of Spark: one machine, a standalone cluster of two workers, Spark Connect.

Histories of two families and a real group's log, for two plugins that are not installed, so that their wheel has to be
sent: isolated, and one of them fails in most states, with its traceback in the rows. Each place has its own hash seed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.scoring.clusters import Cluster, descendants
from tests.scoring.runs import results_bytes, results_of
from tests.scoring.test_score_command import CAPTURES, COMMAND, FAMILY, environment, score
from tests.scoring.wheels import write_wheel

pytestmark = pytest.mark.services

ASSIGNORS = ["first_client", "new_clients", "sticky"]
NAMES = [word for name in ASSIGNORS for word in ("--assignor", name)]
HISTORIES = ["--families", "streams_4x40,rack_loss", "--seed", "11", "--count", "80"]
LOGS = sorted(map(str, (CAPTURES / "tagged").glob("i*.log.gz")))
#: Settings of the logs' instances: without them the verification refuses a verdict, and so do worst cases.
CONFIG = ["--config", str(CAPTURES / "tagged" / "application.properties")]
#: Rounds of the histories, and decisions in the log.
STATES, DECISIONS = 640, 24
#: Start of the remark on the release of the answers.
RELEASE = "assignor: sticky: as Kafka "
#: Place of the failing plugin's error, without a path of this machine.
RAISED = """\
travelling_plugin.py:19 in assign: refuse(had)
travelling_plugin.py:24 in refuse: raise ValueError(f"{len(tasks)} tasks ran before")"""


@pytest.fixture(scope="module")
def expected(plugin_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return scored(tmp_path_factory.mktemp("expected"), plugin_wheel, ["--master", "local[1]"], "0")


def words_of(wheel: Path, place: Sequence[str]) -> list[str]:
    return [*LOGS, *CONFIG, *HISTORIES, *NAMES, "--plugin-wheel", str(wheel), *place]


def scored(folder: Path, wheel: Path, place: Sequence[str], hash_seed: str) -> bytes:
    done = score(folder, *words_of(wheel, place), PYTHONHASHSEED=hash_seed)
    assert done.returncode == 0, done.stderr.decode()
    usual = (b"assignor: scored ", RELEASE.encode())
    assert [line for line in done.stderr.splitlines() if not line.startswith(usual)] == []
    return results_bytes(folder / "out")


@pytest.mark.parametrize("killed", ["a worker", "what workers are forked from", "all of them"])
def test_on_one_machine_a_python_process_that_is_killed_costs_nothing(
    expected: bytes, plugin_wheel: Path, tmp_path: Path, killed: str
) -> None:
    with running(tmp_path, words_of(plugin_wheel, ["--master", "local[2]"]), "2") as run:
        first_block(tmp_path)
        daemon, *workers = [pid for pid in descendants(run.pid) if "pyspark.daemon" in command_of(pid)]
        assert workers
        chosen = {"a worker": workers[-1:], "what workers are forked from": [daemon]}
        for pid in chosen.get(killed, [daemon, *workers]):
            os.kill(pid, signal.SIGKILL)
        ended(run)
    assert results_bytes(tmp_path / "out") == expected
    rows = results_of(tmp_path / "out").to_pylist()
    assert [row["assignor"] for row in rows] == sorted([*ASSIGNORS, "kafka"]) * DECISIONS + ASSIGNORS * STATES
    failed = [row for row in rows if row["error_type"]]
    assert {row["assignor"] for row in failed} == {"new_clients"}
    assert {row["error_traceback"] for row in failed} == {RAISED}
    results = summary_of(tmp_path)["results"]
    assert results["versions"]["travelling-plugin"] == "1.0"
    assert f"--plugin-wheel {plugin_wheel}" in results["worst_cases"][0]["replay"]


def test_on_a_standalone_cluster_an_executor_that_is_killed_costs_nothing(
    expected: bytes, plugin_wheel: Path, cluster: Cluster, tmp_path: Path
) -> None:
    with running(tmp_path, words_of(plugin_wheel, ["--master", cluster.master]), "1") as run:
        first_block(tmp_path)
        os.kill(cluster.executors()[0], signal.SIGKILL)
        ended(run)
    assert results_bytes(tmp_path / "out") == expected
    assert summary_of(tmp_path)["run_metrics"]["cores"] == 2


@pytest.mark.parametrize("own", [True, False], ids=["in this process", "a server"])
def test_spark_connect_gives_the_same_bytes(
    expected: bytes, plugin_wheel: Path, request: pytest.FixtureRequest, tmp_path: Path, *, own: bool
) -> None:
    address = "local[2]" if own else request.getfixturevalue("connect")
    assert scored(tmp_path, plugin_wheel, ["--remote", address], "2") == expected
    run = summary_of(tmp_path)["run_metrics"]
    assert (run["master"], run["cores"]) == (address, 2)


def summary_of(folder: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))
    return summary


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@contextmanager
def running(folder: Path, words: Sequence[str], hash_seed: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process that does not outlive the test."""
    process = subprocess.Popen(
        [*COMMAND, "score", *words, "--out", str(folder / "out")],
        cwd=folder,
        env=environment(PYTHONHASHSEED=hash_seed),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def first_block(folder: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not list(folder.rglob("part=*/*.parquet")):
        time.sleep(0.02)


def ended(run: subprocess.Popen[bytes]) -> None:
    _, errors = run.communicate(timeout=240)
    assert run.returncode == 0, errors.decode()


def test_what_a_plugin_lacks_on_the_executors_is_told_before_the_run(cluster: Cluster, tmp_path: Path) -> None:
    # Only the driver's environment has it.
    here = tmp_path / "here" / "only_here-1.0.dist-info"
    here.mkdir(parents=True)
    (here / "METADATA").write_text("Metadata-Version: 2.1\nName: only-here\nVersion: 1.0\n")
    wheel = write_wheel(tmp_path, requires=["only-here"])
    words = words_of(wheel, ["--master", cluster.master])
    done = score(tmp_path, *words, PYTHONPATH=f"{Path(__file__).parents[2]}{os.pathsep}{here.parent}")
    assert done.returncode == 2
    text = done.stderr.decode()
    assert "the plugin travelling-plugin 1.0 needs only-here, which is not installed there" in text
    assert sum(not line.startswith(RELEASE) for line in text.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_an_executor_without_this_package_says_so(cluster: Cluster, tmp_path: Path) -> None:
    # Python on the executors, with everything but this project.
    python = tmp_path / "python"
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(HIDING)
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{site}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    words = [*FAMILY, "--count", "1", "--assignor", "sticky", "--master", cluster.master]
    done = score(tmp_path, *words, PYSPARK_PYTHON=str(python))
    assert done.returncode == 2, done.stderr.decode()
    assert "it lacks assignor-lab" in done.stderr.decode()
    assert "install assignor-lab" in done.stderr.decode()
    assert sum(not line.startswith(RELEASE) for line in done.stderr.decode().splitlines()) == 1


HIDING = """
import importlib.metadata

real = importlib.metadata.version


def version(name):
    if name == "assignor-lab":
        raise importlib.metadata.PackageNotFoundError(name)
    return real(name)


importlib.metadata.version = version
"""


def test_a_cluster_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    for place in (["--master", "spark://127.0.0.1:1"], ["--remote", "sc://127.0.0.1:1/;token=hunter2"]):
        done = score(tmp_path, *FAMILY, "--assignor", "sticky", *place)
        assert done.returncode == 2, done.stderr.decode()
        assert "no server responds at 127.0.0.1:1" in done.stderr.decode()
        assert "hunter2" not in done.stderr.decode()


_NOTEBOOK = """
import json, sys
from pyspark.sql import SparkSession
from assignor_lab.scoring import Generated, score, summary

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
frame = score(spark, [Generated("scale_out", 1, 4)], ["sticky", "high_availability"])
results = summary(frame)["results"]
found = spark.read.format("assignor").option("family", "scale_out").option("count", 3).load().orderBy("seed")
rows = [(row["seed"], row["clients"] > 0) for row in found.collect()]
told = [each["name"] for each in results["assignors"]]
print(json.dumps([told, results["sources"][0]["name"], rows]))
"""


def test_a_notebook_on_spark_connect_has_summaries_and_the_data_source(connect: str, tmp_path: Path) -> None:
    words = [sys.executable, "-c", _NOTEBOOK, connect]
    done = subprocess.run(words, capture_output=True, cwd=tmp_path, env=environment(), timeout=180)
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout.decode().splitlines()[-1])
    assert told == [["sticky", "high_availability"], "scale_out", [[seed, True] for seed in range(3)]]
