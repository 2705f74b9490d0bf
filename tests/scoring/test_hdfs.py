"""A run whose rows are on HDFS: a name node and a data node on this machine (hadoop-client-minicluster)."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assignor_lab.scoring import Generated
from tests.scoring.clusters import SPARK_HOME
from tests.scoring.in_process import scored
from tests.scoring.test_score_command import ROOT, environment

pytestmark = pytest.mark.services

CLASS_PATH = f"{ROOT / 'build' / 'hdfs'}/*:{SPARK_HOME / 'jars'}/*"
JAVA = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", CLASS_PATH]
WORDS = ["score", "--families", "streams_4x40", "--count", "20", "--seed", "3", "--master", "local[2]"]
PAIR = ("sticky", "high_availability")
#: Runs the command line with small parts; with a first word "kill" it ends itself after two parts.
SMALL_PARTS = """
import os, signal, sys
from assignor_lab.cli.main import main
from assignor_lab.scoring.engine import blocks
from assignor_lab.scoring.spark.path_output import PathOutput
blocks.BLOCK_ITEMS, blocks.PART_BLOCKS, blocks.MOST_PARTS = 2, 2, 5
note = PathOutput.note
def kill(self, part, seconds):
    note(self, part, seconds)
    if part.number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "kill":
    PathOutput.note = kill
main(sys.argv[2:])
"""


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a running HDFS."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    folder = tmp_path_factory.mktemp("hdfs")
    details, log = folder / "details.json", folder / "log"
    words = ["-nomr", "-format", "-nnport", str(port), "-writeDetails", str(details)]
    starter = "org.apache.hadoop.mapreduce.MiniHadoopClusterManager"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*JAVA[:1], f"-Dtest.build.data={folder / 'data'}", *JAVA[1:], starter, *words],
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            deadline = time.monotonic() + 300
            while not details.exists():
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.2)
            yield f"hdfs://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=60)


def score(folder: Path, ending: str, *words: str) -> subprocess.CompletedProcess[str]:
    named = [word for name in PAIR for word in ("--assignor", name)]
    return subprocess.run(
        [sys.executable, "-c", SMALL_PARTS, ending, *WORDS, *named, *words],
        cwd=folder,
        env={**environment(), "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_a_driver_that_is_killed_is_resumed_on_hdfs_with_the_same_rows(hdfs: str, tmp_path: Path) -> None:
    out = f"{hdfs}/scores/night"
    killed = score(tmp_path, "kill", "--out", out)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = score(tmp_path, "end", "--out", out, "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr
    summary = json.loads(resumed.stdout)
    assert 0 < summary["run_metrics"]["restored_items"] < 20
    here = scored([Generated("streams_4x40", 20, 3)], PAIR, tmp_path / "here")
    assert summary["results"]["aggregates"] == here["results"]["aggregates"]
