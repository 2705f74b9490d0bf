"""``assignor simulate --fuzz``: random episodes of Streams groups against the rules of safety."""

from __future__ import annotations

import json
import shlex
from hashlib import blake2b
from pathlib import Path

import attrs
import pytest
from typer.testing import CliRunner, Result

from assignment_api import ApplicationMetadata, StreamsClientAssignment, TaskAssignment, TaskAssignor
from assignment_api.plugins import discover
from assignor_lab.cli.app import build_app
from assignor_lab.groups.streams_episode.fuzzing import drawn_assignors, findings_of, fuzz
from assignor_lab.scenarios import canonical_line
from assignor_lab.scenarios.formats.streams_episodes import episode_document
from assignor_lab.simulation.streams.safety.random_episodes import DRAWN, KAFKA_ASSIGNORS, random_episode
from assignor_lab.simulation.streams.safety.rest import LAST_CHANGES
from tests.plugins.installing import installed_in, write_distribution

pytestmark = [pytest.mark.slow, pytest.mark.long]

FORGETFUL = "tests.simulation.streams.test_fuzz:Forgetful"


#: The assignors of the draw when episodes were found: every installed one, with the example plugins'.
DRAWN_WHEN_FOUND = {
    "classic": (*DRAWN["classic"], "round_robin", "weighted_spread"),
    "streams": (*DRAWN["streams"], "group_round_robin"),
}
TAKES_PART = """
    from assignment_api.plugins import GroupAssignorPlugin, TaskAssignorPlugin, hookimpl

    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin("another", object)]

    @hookimpl
    def assignor_lab_group_assignors():
        return [GroupAssignorPlugin("another_of_brokers", object)]
"""


class Forgetful(TaskAssignor):
    """Assigns nothing."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        return TaskAssignment([StreamsClientAssignment(process) for process in application.streams_client_states()])


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["simulate", *arguments])


@pytest.mark.slow
def test_what_a_broken_rule_leaves_is_the_smallest_history_with_a_command_that_plays_it(tmp_path: Path) -> None:
    ran = run(
        "--fuzz", "--count", "1", "--seed", "3", "--assignor", FORGETFUL, "--processes", "1", "--out", str(tmp_path),
        "--json",
    )  # fmt: skip
    assert ran.exit_code == 1
    told = json.loads(ran.stdout)
    assert told["played"] == {"classic": {FORGETFUL: 1}}
    (broken,) = told["broken"]
    assert "has no owner at the end" in broken["sentence"]
    document = json.loads(Path(broken["file"]).read_text())
    assert [task["id"] for task in document["initial"]["tasks"]] == [broken["sentence"].partition(" ")[0]]
    # One started instance is enough; the rest are the changes at the end.
    assert [event["type"] for event in document["events"]] == ["start"] + ["metadata_changes"] * LAST_CHANGES
    assert run(*shlex.split(broken["replay"])[2:]).exit_code == 0


@pytest.mark.slow
def test_kafkas_own_behaviour_is_named_and_fails_nothing(tmp_path: Path) -> None:
    ran = run(
        "--fuzz", "--count", "1", "--seed", "0", "--assignor", "fallback_prior", "--processes", "1",
        "--out", str(tmp_path),
    )  # fmt: skip
    assert ran.exit_code == 0, ran.stdout
    assert ran.stdout.startswith("FallbackPriorTaskAssignor is Kafka's own, found in 1 episode: ")
    assert (tmp_path / "FallbackPriorTaskAssignor-rest-0.jsonl").exists()


@pytest.mark.slow
def test_each_finding_has_a_file_of_its_own(tmp_path: Path) -> None:
    ran = run(
        "--fuzz", "--count", "1", "--seed", "1400182", "--processes", "1", "--out", str(tmp_path), "--json",
    )  # fmt: skip
    told = json.loads(ran.stdout)["kafkas_own"]
    # One reason violates two rules, with two smallest histories.
    assert [each["name"] for each in told] == ["session.timeout.ms"] * 2
    files = {each["file"] for each in told}
    assert files == {str(file) for file in tmp_path.iterdir()}
    assert len(files) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "names"),
    [
        (1_925_293, set()),
        (2_004_482, set()),
        (2_247_333, {"session.timeout.ms"}),
        (2_269_280, {"CurrentAssignmentBuilder"}),
        (2_292_369, {"session.timeout.ms"}),
    ],
)
def test_what_was_found_once_is_mended_or_named(seed: int, names: set[str], example_assignors: None) -> None:
    episode = random_episode(seed, DRAWN_WHEN_FOUND)
    if episode.assignor == "group_round_robin":
        episode = attrs.evolve(episode, assignor="assignor_round_robin:GroupRoundRobinTaskAssignor")
    found = findings_of(episode, seed, discover(), may_run_code=True)
    assert all(each.known for each in found)
    assert {each.known for each in found} >= names


def test_a_seed_is_one_episode_whatever_plugins_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    write_distribution(tmp_path, "acme", {"acme_fuzz_plugin": TAKES_PART}, {"acme": "acme_fuzz_plugin"})
    registry = discover(installed=installed_in(tmp_path))
    assert registry.task_assignor("another").distribution == "acme"
    assert drawn_assignors(registry) == {protocol: list(names) for protocol, names in DRAWN.items()}
    assert drawn_assignors(registry, "another_of_brokers") == {"streams": ["another_of_brokers"]}


def test_an_assignor_of_the_list_that_is_blocked_is_an_error_and_no_other_draw(tmp_path: Path) -> None:
    ran = run("--fuzz", "--count", "1", "--out", str(tmp_path), "-c", "assignor.plugins.block=static")
    assert ran.exit_code != 0
    assert "blocked by assignor.plugins.block: static" in str(ran.exception)


def test_equal_seeds_make_equal_episodes_that_the_command_prints_by_name() -> None:
    ran = run("random-7", "--document", "--assignor", "sticky")
    assert ran.exit_code == 0
    assert ran.stdout == canonical_line(episode_document(random_episode(7, {"classic": ["sticky"]}))).decode()


def test_documents_of_seeds_keep_their_bytes() -> None:
    # With all kinds of events, and restarts whose facts come in another order than those of a first start.
    documents = b"".join(canonical_line(episode_document(random_episode(seed, DRAWN))) for seed in range(100))
    assert blake2b(documents, digest_size=8).hexdigest() == "1a28e3b2a47177b0"


@pytest.mark.parametrize("seed", range(6))
def test_kafkas_own_assignors_keep_the_rules(seed: int) -> None:
    assert not [each for each in findings_of(random_episode(seed), seed, discover()) if not each.known]


@pytest.mark.slow
def test_number_of_processes_changes_nothing() -> None:
    drawn = {"classic": [FORGETFUL], "streams": KAFKA_ASSIGNORS["streams"]}
    parts = list(fuzz(5, 3, drawn, 1, part=3, may_run_code=True))
    assert [sum(part.played.values()) for part in parts] == [3, 2]
    assert parts[0].found
    assert list(fuzz(5, 3, drawn, 2, part=3, may_run_code=True)) == parts


def test_random_episodes_are_made_and_none_is_read() -> None:
    assert run("--fuzz", "random-3").exit_code == 2
    assert run().exit_code == 2
