"""Plans of consumer groups beside the times that were measured on a real broker (reference, section 15)."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from assignor_lab.planning.predicted import RestlessGroupError
from tests.planning.consumer_groups import classic_group, consumer_group, written

#: The measured rolls: a session of 10 s, and each step waits until the group is at rest.
MEASURED = ("-c", "session.timeout.ms=10000", "-c", "group.initial.rebalance.delay.ms=0", "--wait", "calm")


@pytest.fixture
def eager(tmp_path: Path) -> Path:
    return written(tmp_path / "eager.jsonl", classic_group())


def run(file: Path, *words: str) -> Any:
    return CliRunner().invoke(build_app(), ["plan", str(file), *words, "--plays", "20"])


def planned(file: Path, *words: str) -> dict[str, Any]:
    done = run(file, *words, "--json")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def holds(figure: dict[str, float], measured: float) -> bool:
    return figure["low"] <= measured <= figure["high"]


def test_an_eager_roll_interrupts_each_partition_six_times_for_little_time(eager: Path) -> None:
    made = planned(eager, "roll", *MEASURED, "--no-variants")
    # A new process joins the rebalance of its end if the other members hear late of it.
    assert made["by_partition"]["interruptions"]["high"] == 6
    assert made["by_partition"]["interruptions"]["low"] >= 4
    assert holds(made["by_partition"]["seconds"], 1.3)
    assert made["by_partition"]["seconds"]["high"] < 3.5
    assert [step["name"] for step in made["steps"]] == ["c1", "c2", "c3"]
    assert made["verified"]["reproduced"] == made["verified"]["decisions"] == 1
    assert "The worst partition is away for" in made["sentence"]
    assert "task" not in made["sentence"]
    assert made["releases"] == ["consumer_range: as Kafka 4.3 to 4.4 decide, which give equal answers"]


def test_a_cooperative_roll_interrupts_twice_for_a_heartbeat_interval(tmp_path: Path) -> None:
    state = written(tmp_path / "cooperative.jsonl", classic_group(strategies=["cooperative-sticky"]))
    made = planned(state, "roll", *MEASURED, "--no-variants")
    assert holds(made["by_partition"]["interruptions"], 2)
    assert holds(made["by_partition"]["seconds"], 4.0)


@pytest.mark.parametrize("beat_ms", [3000, 6000])
def test_a_cooperative_move_costs_nearly_one_heartbeat_interval(tmp_path: Path, beat_ms: int) -> None:
    state = written(tmp_path / "cooperative.jsonl", classic_group(strategies=["cooperative-sticky"]))
    made = planned(state, "scale", "--to", "4", "--no-variants", "-c", f"heartbeat.interval.ms={beat_ms}")
    assert made["by_partition"]["interruptions"]["median"] == 3 / 12
    assert beat_ms / 1000 - 0.3 < made["total"]["worst_task_seconds"]["median"] < beat_ms / 1000 + 0.5


def test_static_members_are_away_as_long_as_their_restart(tmp_path: Path) -> None:
    state = written(tmp_path / "static.jsonl", classic_group(static=True))
    made = planned(state, "roll", *MEASURED, "--start-seconds", "4", "--no-variants")
    assert made["by_partition"]["interruptions"]["median"] == 1
    assert 4 <= made["by_partition"]["seconds"]["median"] < 5
    assert made["total"]["rebalances"]["high"] == 0
    assert set(made["spent_on"]) == {"process restart"}


def test_a_kill_waits_for_the_session(eager: Path) -> None:
    made = planned(eager, "kill", "c2", *MEASURED, "--no-variants")
    assert holds(made["total"]["worst_task_seconds"], 10.0)
    assert made["total"]["tasks"]["median"] == 12
    assert made["spent_on"]["session timeout"] > 5 * made["spent_on"]["rebalancing"] / 3


def test_members_of_a_group_at_rest_hear_at_different_times(eager: Path) -> None:
    """A session ends 17 to 20 s after a kill; another member hears of it up to 3 s later, with one phase at 21 s."""
    made = planned(eager, "kill", "c2", "-c", "session.timeout.ms=20000", "--no-variants")
    assert 21.5 < made["total"]["worst_task_seconds"]["high"] < 23.5
    assert 17 < made["total"]["worst_task_seconds"]["low"] < 19


def test_a_roll_under_kip_848_waits_for_heartbeats_of_the_receivers(tmp_path: Path) -> None:
    state = written(tmp_path / "new.jsonl", consumer_group())
    session = ("-c", "group.consumer.session.timeout.ms=10000")
    made = planned(state, "roll", *session, "--wait", "calm", "--down-seconds", "2", "--no-variants")
    assert holds(made["by_partition"]["seconds"], 4.7)
    assert holds(made["by_partition"]["seconds"], 5.2)
    assert made["by_partition"]["interruptions"]["median"] == 2
    gone = planned(state, "kill", "c2", *session, "--no-variants")
    assert gone["total"]["tasks"]["high"] == 4
    assert holds(gone["total"]["worst_task_seconds"], 10.9)
    static = planned(written(tmp_path / "s.jsonl", consumer_group(static=True)), "roll", "--no-variants")
    assert static["by_partition"]["interruptions"]["high"] == 1
    assert static["total"]["rebalances"]["high"] == 0


def test_the_move_between_the_protocols_is_a_roll_in_both_directions(eager: Path, tmp_path: Path) -> None:
    up = planned(eager, "upgrade-protocol", "--wait", "calm")
    assert up["plan"] == {"name": "upgrade-protocol", "protocol": "consumer"}
    assert up["sentence"].startswith("The move to the consumer protocol takes")
    assert any("group.consumer.migration.policy" in each for each in up["assumptions"])
    assert "all at once" in up["variants"]
    down = planned(written(tmp_path / "new.jsonl", consumer_group()), "upgrade-protocol", "--wait", "calm")
    assert down["plan"]["protocol"] == "classic"
    for made in (up, down):
        assert made["failures"] == []
        assert made["total"]["worst_task_seconds"]["high"] < 12


def test_a_script_and_a_roll_of_brokers_are_plans_too(eager: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    events = [{"type": "grow", "topic": "t", "partitions": 24}]
    stands = [{"type": "busy", "consumer": "c1", "for_ms": 310_000}, {"type": "start", "consumer": "c4", "after_ms": 5}]
    steps = [{"name": "grow", "events": events, "wait": "calm"}, {"name": "busy", "events": stands, "wait": "calm"}]
    script.write_text(json.dumps({"steps": steps}), "utf-8")
    made = planned(eager, "script", str(script), "--no-variants")
    assert made["total"]["tasks"]["median"] == 24
    # The other members wait in the join phase until the busy one leaves.
    assert made["steps"][1]["worst_task_seconds"]["median"] == pytest.approx(300, abs=2)
    late = planned(eager, "script", str(script), "--no-variants")
    early = planned(eager, "script", str(script), "--no-variants", "-c", "metadata.max.age.ms=2000")
    assert late["steps"][0]["worst_task_seconds"]["high"] > 100
    assert early["steps"][0]["worst_task_seconds"]["high"] < 6
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"steps": [{"events": [{"type": "kill", "consumer": "c9"}]}]}', "utf-8")
    assert "'c9' is no consumer of the group: it has c1, c2, c3" in str(run(eager, "script", str(wrong)).exception)
    calm = planned(eager, "broker-roll", "--no-variants")
    assert [step["name"] for step in calm["steps"]] == ["broker 1", "broker 2", "broker 3"]
    assert calm["total"]["task_seconds"]["high"] == 0


def test_racks_make_rebalances_of_broker_restarts(tmp_path: Path) -> None:
    document = classic_group()
    document["topics"][0]["racks"] = [["a", "b"]] * 12
    for member in document["members"]:
        member["rack"] = "a"
    made = planned(written(tmp_path / "racks.jsonl", document), "broker-roll", "--brokers", "2", "--no-variants")
    # The coordinator is away while its own broker restarts, so that the racks of that restart make one rebalance.
    assert [step["rebalances"]["median"] for step in made["steps"]] == [1, 2]
    assert made["by_partition"]["interruptions"]["median"] == 3


def test_the_usual_variants_show_strategies_static_members_and_sessions(eager: Path) -> None:
    made = planned(eager, "roll", *MEASURED)
    variants = made["variants"]
    assert {"cooperative-sticky", "static", "KIP-848", "two at once"} <= set(variants)
    # Members of a plain consumer leave the group when they close.
    assert made["without_effect"] == ["session timeout 6 s"]
    assert variants["static"]["by_partition"]["interruptions"]["median"] == 1
    assert (
        variants["cooperative-sticky"]["by_partition"]["seconds"]["median"]
        > 1.5 * made["by_partition"]["seconds"]["median"]
    )


def test_a_slow_poll_loop_decides_how_long_a_round_waits(eager: Path) -> None:
    quick = planned(eager, "scale", "--to", "4", "--no-variants")
    slow = planned(eager, "scale", "--to", "4", "--no-variants", "--poll-seconds", "20")
    assert slow["total"]["worst_task_seconds"]["high"] > 5 > quick["total"]["worst_task_seconds"]["high"]


def test_a_seed_gives_the_same_bytes(eager: Path) -> None:
    words = ("roll", "--json", "--no-variants", "--seed")
    assert run(eager, *words, "3").stdout == run(eager, *words, "3").stdout != run(eager, *words, "4").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kill", "c9"), "fits no consumer: the group has c1, c2, c3"),
        (("scale", "--to", "3"), "the group has 3 consumers"),
        (("roll", "--wipe"), "--wipe is an option of kill"),
        (("roll", "--surge", "1"), "--surge is for Streams groups"),
        (
            ("upgrade", "--to", "4.3"),
            "has roll, scale, kill, upgrade-protocol, broker-roll and script",
        ),
        (("roll", "-c", "heartbeat.interval.ms=60000"), "heartbeat.interval.ms 60000 is not between 0 and session"),
        (("roll", "--variant", "a=range,num.standby.replicas=1"), "has no effect on a plan of consumers"),
    ],
)
def test_impossible_plans_are_refused_with_the_remedy(eager: Path, words: tuple[str, ...], message: str) -> None:
    done = run(eager, *words)
    assert done.exit_code != 0
    assert message in str(done.exception) + done.output


def test_an_empty_group_and_one_without_a_common_strategy_have_no_plan(tmp_path: Path) -> None:
    empty = classic_group()
    empty |= {"members": [], "observed": {"members": {}}}
    assert "the group has no members" in str(run(written(tmp_path / "a.jsonl", empty), "roll").exception)
    hidden, unknown = classic_group(), consumer_group()
    hidden["topics"], unknown["topics"][0]["partitions"] = [], None
    for document in (hidden, unknown):
        refused = str(run(written(tmp_path / "c.jsonl", document), "roll").exception)
        assert "members have partitions of topic t, and the state does not describe it" in refused
    mixed = classic_group()
    mixed["members"][0]["strategies"] = ["roundrobin"]
    del mixed["observed"]
    assert "no strategy in common" in str(run(written(tmp_path / "b.jsonl", mixed), "roll").exception)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three consumers of a real broker (Kafka 4.3.1), recorded with their records of ``__consumer_offsets``."""
    folder = tmp_path_factory.mktemp("recorded")
    packed = Path(__file__).parents[1] / "data" / "captures" / "consumers" / "range" / "records.jsonl.gz"
    (folder / "records.jsonl").write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


def test_the_how_to_page_leads_from_a_recorded_group_to_a_decision(recorded: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "move-to-consumer-protocol.md"
    commands = re.findall(r"^\$ assignor plan orders\.jsonl (.*)$", page.read_text("utf-8"), re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        done = run(recorded, *shlex.split(command), "--id", "range-generation-11", "--no-variants")
        assert done.exit_code == 0, done.output
        assert "Decisions: 1 of 1 reproduced by consumer_range." in done.output


def test_a_library_leads_the_group_of_a_plan(eager: Path) -> None:
    made = planned(eager, "scale", "--to", "4", "--no-variants", "--client", "kafka-python")
    assert made["total"]["tasks"]["median"] == 12


@pytest.mark.parametrize("library", ["librdkafka", "confluent-kafka", "sarama"])
def test_a_library_without_a_driver_decides_as_java_and_the_plan_says_so(eager: Path, library: str) -> None:
    made = planned(eager, "roll", "--no-variants", "--client", library)
    name = "librdkafka" if library != "sarama" else library
    assert any(each.startswith(f"{name} is taken to decide as Java's client") for each in made["assumptions"])


@pytest.mark.parametrize("plan", [("roll",), ("kill", "c1")])
def test_partitions_that_no_member_subscribes_have_no_downtime(tmp_path: Path, plan: tuple[str, ...]) -> None:
    """Members without subscriptions still have partitions until the next target."""
    document = consumer_group()
    for member in document["members"]:
        member["topics"] = []
    made = planned(written(tmp_path / "group.jsonl", document), *plan, "--no-variants")
    assert made["total"]["task_seconds"]["high"] == 0


@pytest.mark.parametrize(
    ("document", "setting"),
    [
        (classic_group(), "session.timeout.ms=4,heartbeat.interval.ms=3"),
        (classic_group(), "max.poll.interval.ms=1"),
        (classic_group(static=True), "session.timeout.ms=4,heartbeat.interval.ms=3"),
        (consumer_group(), "group.consumer.session.timeout.ms=4,group.consumer.heartbeat.interval.ms=3"),
    ],
)
def test_a_group_that_never_rests_has_no_figures_and_no_gate_passes(
    tmp_path: Path, document: dict[str, Any], setting: str
) -> None:
    state = written(tmp_path / "restless.jsonl", document)
    settings = [word for each in setting.split(",") for word in ("-c", each)]
    words = ("roll", "--no-variants", *settings, "--fail-if", "total.worst_task_seconds.high > 30")
    done = CliRunner().invoke(build_app(), ["plan", str(state), *words, "--plays", "2", "--processes", "1"])
    assert isinstance(done.exception, RestlessGroupError)
    assert "the group does not come to rest before the plan" in str(done.exception)
    assert "away for" not in done.output
