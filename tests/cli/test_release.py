"""``--release``, ``NAME@RELEASE``, the release of a state, and the sentence of each answer."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app
from assignor_lab.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "golden" / "streams-4.4"


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten states of which six have another answer in 4.4."""
    file = tmp_path_factory.mktemp("states") / "ten.jsonl"
    with gzip.open(DATA / "unequal.scenarios.jsonl.gz", "rt", encoding="utf-8") as lines:
        file.write_text("".join(next(lines) for _ in range(10)), encoding="utf-8")
    return file


def expected() -> list[dict[str, Any]]:
    with gzip.open(DATA / "unequal.sticky_4_4.results.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(next(lines)) for _ in range(10)]


def run(*words: object) -> Result:
    return CliRunner().invoke(build_app(), list(map(str, words)))


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    "words",
    [
        ["sticky_4_4"],
        ["sticky@4.4"],
        ["sticky", "--release", "4.4"],
        ["sticky", "--release", "4.4.0"],
        ["sticky", "-c", "kafka.release=4.4"],
        ["StickyTaskAssignor", "--release", "4.4"],
    ],
)
def test_every_form_gives_the_lines_of_kafka_4_4(states: Path, words: Sequence[str]) -> None:
    done = run("assign", "--assignor", *words, states, "--threads")
    assert rows(done.stdout) == expected()
    assert "as Kafka 4.4 decides" in done.stderr


def test_the_plain_name_decides_as_the_newest_release_and_says_so(states: Path) -> None:
    plain, newest = run("assign", "--assignor", "sticky", states), run("assign", "--assignor", "sticky@4.4", states)
    assert [each["assignment"] for each in rows(plain.stdout)] == [each["assignment"] for each in rows(newest.stdout)]
    assert {each["assignor"] for each in rows(plain.stdout)} == {"sticky"}
    assert "sticky: as Kafka 4.4 decides (the newest release, as none is shown or given" in plain.stderr


def test_each_state_is_decided_in_its_own_release(states: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.jsonl"
    documents = rows(states.read_text(encoding="utf-8"))
    for number, document in enumerate(documents):
        document["settings"] = {"kafka.release": "4.4.0" if number % 2 else "4.3.1"}
    mixed.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
    done = run("assign", "--assignor", "sticky", mixed)
    older = rows(run("assign", "--assignor", "sticky@4.3", states).stdout)
    newer = rows(run("assign", "--assignor", "sticky@4.4", states).stdout)
    assert [each["assignment"] for each in rows(done.stdout)] == [
        (newer if number % 2 else older)[number]["assignment"] for number in range(10)
    ]
    assert "as Kafka 4.3 decides (shown by the state: its leader or broker ran 4.3.1): 5 states" in done.stderr
    assert "as Kafka 4.4 decides (shown by the state: its leader or broker ran 4.4.0): 5 states" in done.stderr
    # A given release replaces those of the states.
    given = rows(run("assign", "--assignor", "sticky", mixed, "--release", "4.4").stdout)
    assert [each["assignment"] for each in given] == [each["assignment"] for each in newer]


def test_compare_shows_the_effect_of_a_release(states: Path) -> None:
    told = json.loads(run("compare", states, "--assignor", "sticky", "--release", "4.3,4.4", "--json").stdout)
    assert [sentence.partition(" (")[0] for sentence in told["releases"]] == [
        "sticky@4.3: as Kafka 4.3 decides",
        "sticky@4.4: as Kafka 4.4 decides",
    ]
    shown = run("compare", states, "--release", "4.3,4.4").stdout
    assert "high_availability@4.4: as Kafka 3.8 to 4.4 decide, which give equal answers" in shown


def test_explain_names_the_release(states: Path) -> None:
    shown = run("explain", states, "--assignor", "sticky", "--release", "4.4", "--calls", "0").stdout
    assert "sticky: as Kafka 4.4 decides (given by -c kafka.release)" in shown


def test_simulate_names_the_release(states: Path) -> None:
    del states
    done = run("simulate", "close-without-leaving", "--assignor", "sticky", "--release", "4.4", "--json")
    assert "sticky: as Kafka 4.4 decides" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sticky", "--release", "4.5"], "unknown release of Kafka '4.5': did you mean 4.4? Known: 3.8, 3.9, 4.0"),
        (["sticky", "-c", "kafka.release=5"], "unknown release of Kafka '5'"),
        (["sticky@3.7"], "did you mean 3.8?"),
        (["group_sticky", "--release", "3.9"], "Kafka 3.9 has no assignor 'group_sticky'"),
        (["sticky_4_4", "--release", "4.3"], "Kafka 4.3 has no assignor 'sticky_4_4'"),
    ],
)
def test_a_wrong_release_is_refused(
    states: Path, words: Sequence[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["assign", "--assignor", *words, str(states)])
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_state_with_an_unreadable_release_is_refused(states: Path, tmp_path: Path) -> None:
    document = rows(states.read_text(encoding="utf-8"))[0]
    document["settings"] = {"kafka.release": "newest"}
    file = tmp_path / "wrong.jsonl"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(SystemExit, match="2"):
        main(["assign", "--assignor", "sticky", str(file)])


def test_tags_that_no_released_broker_reads_are_named(tmp_path: Path) -> None:
    with gzip.open(DATA.parent / "streams-group-4.4" / "sticky.scenarios.jsonl.gz", "rt", encoding="utf-8") as lines:
        (tmp_path / "group.jsonl").write_text(next(lines), encoding="utf-8")
    words = ["-c", "streams.rack.aware.assignment.tags=zone", "--release", "4.4"]
    done = run("assign", "--assignor", "group_sticky", tmp_path / "group.jsonl", *words)
    assert "group_sticky_4_4 reads no streams.rack.aware.assignment.tags" in " ".join(done.stderr.split())


def test_score_names_the_release_that_states_show(states: Path, tmp_path: Path) -> None:
    lines = states.read_text(encoding="utf-8").splitlines(keepends=True)
    shown = [json.dumps({**json.loads(line), "settings": {"kafka.release": "4.3.1"}}) + "\n" for line in lines[:4]]
    file = tmp_path / "mixed.jsonl"
    file.write_text("".join([*shown, *lines[4:]]), encoding="utf-8")
    words = ("--assignor", "sticky", "--engine", "local", "--out", tmp_path / "out")
    said = run("score", file, *words).stderr
    assert "sticky: as Kafka 4.3 decides (shown by the state: its leader or broker ran 4.3.1): 4 states" in said
    assert "sticky: as Kafka 4.4 decides (the newest release, as none is shown or given: --release selects" in said
    assert "another one): 6 states" in said
    assert "as Kafka 4.4 decides (given by -c kafka.release)" in run("score", file, *words, "--release", "4.4").stderr
