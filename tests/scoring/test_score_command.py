"""``assignor score`` for a user: one process, exit codes, messages, files."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assignor_lab.cli.main import main
from tests.plugins.installing import MISBEHAVING, install
from tests.scoring.commands import command, refused
from tests.scoring.runs import results_bytes, results_of
from tests.signals import hear_ctrl_c

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[2]
CAPTURES = ROOT / "tests" / "data" / "captures"
COMMAND = [sys.executable, "-m", "assignor_lab.cli.main"]
FAMILY = ["--families", "streams_4x40", "--seed", "11"]
PAIR = ["--assignor", "high_availability", "--assignor", "sticky"]


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **changes}


def score(folder: Path, *words: str, stdin: bytes | None = None, **changes: str) -> subprocess.CompletedProcess[bytes]:
    called = [*COMMAND, "score", *words, "--out", str(folder / "out")]
    return subprocess.run(called, cwd=folder, env=environment(**changes), input=stdin, capture_output=True, timeout=300)


def refusal(folder: Path, *words: str, **changes: str) -> str:
    """The one message of a command that ends with exit code 2 and leaves no files."""
    done = score(folder, *words, stdin=b"", **changes)
    assert done.returncode == 2, done.stderr.decode()
    assert done.stdout == b""
    assert not (folder / "out").exists()
    return done.stderr.decode()


@pytest.mark.slow
def test_a_run_beside_plugins_that_misbehave(tmp_path: Path) -> None:
    site = install(MISBEHAVING, tmp_path / "site")
    bad = ["raises", "leaves", "returns_text", "garbage_among_tasks", "garbage_among_clients", "mutates"]
    names = [word for name in bad for word in ("--assignor", name)]
    path = f"{ROOT}{os.pathsep}{site}"
    done = score(tmp_path, *names, *PAIR, *FAMILY, "--count", "3", PYTHONPATH=path, PYTHONHASHSEED="7")
    assert done.returncode == 0, done.stderr.decode()
    text = done.stdout.decode()
    assert re.search(r"24 states, 192 rows, 144 failed, in [0-9.]+ s: [0-9.,]+ states per second", text)
    assert b"\x1b" not in done.stdout + done.stderr
    assert r"</script>\x1b[2J[bold]" in re.sub(r"\s+", "", text)
    rows = results_of(tmp_path / "out").to_pylist()
    for name in bad:
        assert all(row["error_type"] for row in rows if row["assignor"] == name)
    assert not any(row["error_type"] for row in rows if row["assignor"] in PAIR)


@pytest.mark.slow
def test_everybody_installed_is_scored_and_who_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    site = install(MISBEHAVING, tmp_path / "site")
    path = f"{ROOT}{os.pathsep}{site}"
    logs = [str(path) for path in sorted((CAPTURES / "plain").glob("*.log.gz"))]
    # The group's own configuration would name its assignor, and select that one alone.
    done = score(tmp_path, *logs, "--mode", "independent", "--json", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr.decode()
    summary = json.loads(done.stdout)
    standing = {entry["name"]: entry["status"] for entry in summary["results"]["assignors"]}
    assert standing["sticky"] == "scored"
    assert standing["kafka"] == "scored"
    assert standing["raises"] == "failed"
    assert standing["does_not_import"] == "not_loaded"
    assert "does_not_import is left out" in done.stderr.decode()
    agreement = {entry["assignor"]: entry for entry in summary["results"]["agreement"]}
    assert (agreement["sticky"]["equal"], agreement["sticky"]["compared"]) == (6, 6)
    assert "sc://" not in json.dumps(summary["run_metrics"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
        ([], "nothing to score"),
        ([*FAMILY, "--assignor", "stick"], "did you mean 'sticky'"),
        (["--families", "streams_4x41"], "did you mean 'streams_4x40'"),
        ([*FAMILY, "-c", "num.standby.replica=1"], "did you mean 'num.standby.replicas'"),
        ([*FAMILY, "-c", "max.warmup.replicas=0"], "at least 1"),
        ([*FAMILY, "--config", "nowhere.toml"], "nowhere.toml"),
        ([*FAMILY, "--master", "nonsense"], "'nonsense' is no master of Spark: give local"),
        ([*FAMILY, "--remote", "host:15002"], "has the form sc://host:port"),
    ],
)
def test_mistakes_end_with_exit_code_2_and_one_message(tmp_path: Path, words: Sequence[str], message: str) -> None:
    text = refused(tmp_path, *words)
    assert message in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("key.jsonl", b'{"format": 1, "kind": "streams", "id": "x", "surprise": 1}\n', "surprise"),
        ("broken.jsonl", b'{"format": 1, \n', "broken.jsonl, line 1: not JSON"),
        ("cut.jsonl.gz", gzip.compress(os.urandom(4000))[:2000], "cut.jsonl.gz"),
        ("app.log", b"2026-01-01 INFO nothing\n", "no assignment decision"),
    ],
)
def test_files_that_cannot_be_read_end_with_exit_code_2_and_their_place(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    text = refused(tmp_path, name)
    assert name in text
    assert message in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [[*FAMILY, "--master", "local[1]", "--remote", "sc://localhost"], ["--count", "3", "x.jsonl"]],
    ids=["master and remote", "count without families"],
)
def test_options_that_contradict_each_other_are_refused(tmp_path: Path, words: Sequence[str]) -> None:
    refused(tmp_path, *words)


def test_a_folder_with_somebody_elses_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("mine")
    done = command(tmp_path, *FAMILY)
    assert done.returncode == 2
    assert "report.html" in done.stderr
    assert (tmp_path / "out" / "report.html").read_text() == "mine"


def fake_java(folder: Path, says: str) -> str:
    java = folder / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)
    return str(java.parent.parent)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("says", "found"),
    [('openjdk version "11.0.2"', "Java 11"), ('java version "1.8.0_201"', "Java 8"), ("what?", "does not report")],
)
def test_a_jdk_that_is_too_old_is_named_in_one_sentence(
    tmp_path: Path, says: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", fake_java(tmp_path, says))
    text = refused(tmp_path, *FAMILY)
    assert found in text
    assert "JDK 17 or later" in text
    assert len(text.splitlines()) == 1


@pytest.mark.slow
def test_a_missing_jdk_is_named_in_one_sentence(tmp_path: Path) -> None:
    text = refusal(tmp_path, *FAMILY, JAVA_HOME=str(tmp_path / "nowhere"))
    assert "JDK 17 or later" in text
    assert len(text.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("module", ["pyspark", "pyarrow"])
def test_a_missing_extra_is_named(tmp_path: Path, module: str) -> None:
    blocker = tmp_path / "blocker"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text(
        "import importlib.abc, sys\n"
        "class Missing(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {module!r}:\n"
        f"            raise ModuleNotFoundError('No module named ' + repr(name), name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    text = refusal(tmp_path, *FAMILY, PYTHONPATH=f"{blocker}{os.pathsep}{ROOT}")
    assert "assignor-lab[spark]" in text
    assert len(text.splitlines()) == 1


def test_bytes_depend_on_neither_hash_seed_nor_cores_nor_the_way_in_and_secrets_are_not_kept(
    spark: SparkSession, tmp_path: Path
) -> None:
    states = tmp_path / "states.jsonl"
    with pytest.raises(SystemExit, match=r"\A0\Z"):
        main(["import", *map(str, sorted((CAPTURES / "plain").glob("*.log.gz"))), "--out", str(states)])
    words = ["--assignor", "sticky", "-c", "assignor.sticky.password=hunter2", "-c", "assignor.mine.pin=4711-0815"]
    done = score(tmp_path, "-", *words, "--master", "local[1]", stdin=states.read_bytes(), PYTHONHASHSEED="1")
    assert done.returncode == 0, done.stderr.decode()
    kept = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"hunter2" not in kept + done.stdout + done.stderr
    assert b"4711-0815" not in kept + done.stdout + done.stderr
    assert b"assignor.mine.pin=(hidden)" in kept
    first = results_bytes(tmp_path / "out")
    # Of two cores, in a process with its own hash seed.
    here = command(tmp_path, "states.jsonl", *words, spark=spark)
    assert here.returncode == 0, here.stderr
    assert results_bytes(tmp_path / "out") == first


@pytest.mark.slow
def test_a_trusted_plugin_that_ends_its_process_ends_the_run_in_one_sentence(tmp_path: Path) -> None:
    killer = "tests.scoring.assignors:KillsItsProcess"
    done = score(tmp_path, *FAMILY, "--count", "2", "--assignor", killer, "--trust", killer)
    assert done.returncode == 3
    assert "a plugin ended the Python process" in done.stderr.decode()
    assert len(done.stderr.decode().splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_ctrl_c_leaves_what_can_be_gone_on_with_and_nothing_else(tmp_path: Path) -> None:
    called = [*COMMAND, "score", *FAMILY, "--count", "100000", *PAIR, "--out", str(tmp_path / "out")]
    running = subprocess.Popen(
        called,
        preexec_fn=hear_ctrl_c,  # noqa: PLW1509 - nothing else runs there
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not list(tmp_path.rglob("part=*/*.parquet")):
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 130, errors.decode()
    assert "Traceback" not in errors.decode()
    assert "the same command with --resume continues" in errors.decode()
    assert [path.name[:16] for path in (tmp_path / "out").iterdir()] == [".assignor-score-"]
