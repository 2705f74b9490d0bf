"""Options that have no effect on a group are refused, or noted, and never taken in silence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import assignor_lab as lab
from assignment_api import AssignorLabError
from assignor_lab.cli.app import build_app

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
STREAMS = (str(CAPTURES / "plans" / "P1" / "capture.jsonl"), "roll")
CONNECT = (str(CAPTURES / "connect-plans" / "delay-20" / "states.jsonl.gz"), "roll", "--id", "roll, leader first")


def planned(*words: str) -> Result:
    return CliRunner().invoke(build_app(), ["plan", *words, "--plays", "1", "--no-variants", "--start-seconds", "2"])


@pytest.fixture
def consumers(tmp_path: Path) -> tuple[str, str]:
    folder = CAPTURES / "consumers" / "range"
    for file in folder.iterdir():
        content = file.read_bytes()
        is_packed = file.suffix == ".gz"
        (tmp_path / (file.stem if is_packed else file.name)).write_bytes(
            gzip.decompress(content) if is_packed else content
        )
    return str(tmp_path), "roll"


@pytest.mark.parametrize(
    ("source", "words", "message"),
    [
        (CONNECT, ("--poll-seconds", "300"), "--poll-seconds is for Streams and consumer groups"),
        (CONNECT, ("--revoke-seconds", "3"), "--revoke-seconds is for consumer groups"),
        (CONNECT, ("--client", "kafka-python"), "--client is for consumer groups"),
        (CONNECT, ("--topology", "/nonexistent"), "/nonexistent: cannot be read"),
        (CONNECT, ("--workload", "/nonexistent"), "/nonexistent: cannot be read"),
        (CONNECT, ("--workload", __file__), "--workload is for Streams groups"),
        (STREAMS, ("--topology", "/nonexistent"), "/nonexistent: cannot be read"),
        (STREAMS, ("--revoke-seconds", "3"), "--revoke-seconds is for consumer groups"),
        (STREAMS, ("--client", "kafka-python"), "--client is for consumer groups"),
        (STREAMS, ("--upgrade-from", "9.9"), "unknown release of Kafka '9.9'"),
        ((*STREAMS, "--best"), ("--revoke-seconds", "3"), "--revoke-seconds is for consumer groups"),
    ],
)
def test_an_option_without_effect_is_refused(source: tuple[str, ...], words: tuple[str, ...], message: str) -> None:
    done = planned(*source, *words)
    assert isinstance(done.exception, AssignorLabError)
    assert message in str(done.exception)


@pytest.mark.parametrize("option", ["--topology", "--workload"])
def test_consumers_have_no_topology(consumers: tuple[str, str], option: str) -> None:
    assert "cannot be read" in str(planned(*consumers, option, "/nonexistent").exception)
    assert f"{option} is for Streams groups" in str(planned(*consumers, option, __file__).exception)


def test_a_topology_beside_a_file_of_states_is_noted() -> None:
    done = planned(*STREAMS, "--topology", __file__)
    assert done.exit_code == 0
    assert "--topology is not used: the states of" in done.stderr


def test_a_release_without_own_answers_is_noted() -> None:
    assert "no own answers of Kafka 3.8 are known" in planned(*CONNECT, "--release", "3.8").stderr


def test_a_classic_key_names_the_groups_own_key_in_the_streams_protocol() -> None:
    done = planned(str(CAPTURES / "plans" / "P5" / "capture.jsonl"), "roll", "-c", "session.timeout.ms=10000")
    assert "session.timeout.ms has no effect in the streams protocol: the group's own key is streams" in done.stderr


@pytest.mark.parametrize("release", ["0.10.2", "2.8", "3.4", "4.3"])
def test_older_releases_are_upgraded_from(release: str) -> None:
    assert planned(*STREAMS, "--upgrade-from", release).exit_code == 0


def test_python_refuses_the_same() -> None:
    with pytest.raises(AssignorLabError, match="--revoke-seconds is for consumer groups"):
        lab.open(STREAMS[0]).plan(revoke_seconds=3, plays=1)
    with pytest.raises(AssignorLabError, match="cannot be read"):
        lab.open(STREAMS[0], workload="/nonexistent")


def test_a_client_library_is_the_likely_cause_and_with_it_the_decisions_are_reproduced(tmp_path: Path) -> None:
    packed = CAPTURES / "consumers" / "kafka-python-sticky" / "records.jsonl.gz"
    (tmp_path / "records.jsonl").write_bytes(gzip.decompress(packed.read_bytes()))

    def first(*words: str) -> str:
        return " ".join(CliRunner().invoke(build_app(), [words[0], str(tmp_path), *words[1:]]).stdout.split())

    cause = "Likely cause: client library. 14 of 14 decisions come out as kafka-python decides (--client kafka-python)"
    assert cause in first("replay", "--assignor", "sticky")
    assert cause in first("history", "--check")
    reproduced = "Decisions: 14 of 14 reproduced by kafka_python_sticky."
    assert reproduced in first("replay", "--assignor", "sticky", "--client", "kafka-python")
    assert reproduced in first("plan", "roll", "--client", "kafka-python", "--plays", "1", "--no-variants")
