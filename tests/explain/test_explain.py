from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app

pytestmark = [pytest.mark.slow, pytest.mark.long]

DATA = Path(__file__).parents[1] / "data"
GROUP = str(DATA / "scenarios" / "streams-group-sticky.scenarios.jsonl.gz")
CONNECT = str(DATA / "scenarios" / "connect-incremental.scenarios.jsonl.gz")
BIG = str(DATA / "scale" / "streams" / "small-4x40.jsonl.gz")
STATE = "tagged-classic-generation-10"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["explain", *arguments], env={"COLUMNS": "80"})


def document(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output or done.exception
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def said(*arguments: str) -> str:
    refused = run(*arguments)
    assert refused.exit_code != 0
    return refused.output if isinstance(refused.exception, SystemExit) else str(refused.exception)


@pytest.mark.slow
def test_a_moved_task_has_its_facts_and_what_would_have_kept_it(tagged: str) -> None:
    found = document(tagged, "--id", STATE, "--task", "0_3")
    (explanation,) = found["explanations"]
    assert explanation["sentence"] == "high_availability moves 0_3 from i1 to i3."
    assert explanation["kafka"] == {"owner": explanation["after"], "equal": True}
    facts = {found["labels"][row["client"]]: row["facts"] for row in explanation["clients"]}
    assert facts == {"i1": "ran it", "i3": "had a copy, lag 2", "i4": "had a copy, lag 57,750"}
    first = explanation["would"][0]
    assert first["sentence"] == (
        "If the lag of 0_3 on i3 were 101 instead of 2 (not yet at 100), 0_3 would stay on i1."
    )
    assert {would["owner"] for would in explanation["would"]} == {explanation["before"]}
    assert explanation["calls"] <= 200


@pytest.mark.slow
def test_a_change_that_is_told_can_be_made_with_an_option(tagged: str) -> None:
    (explanation,) = document(tagged, "--id", STATE, "--task", "0_3")["explanations"]
    setting = next(would["setting"] for would in explanation["would"] if would["setting"] is not None)
    (after,) = document(tagged, "--id", STATE, "--task", "0_3", "-c", setting, "--calls", "0")["explanations"]
    assert after["after"] == explanation["before"]


def test_without_a_task_every_one_that_moves_is_explained(tagged: str) -> None:
    found = document(tagged, "--id", STATE)
    assert [each["task"] for each in found["explanations"]] == found["moved"]
    assert len(found["moved"]) > 1
    assert found["explanations"][-1]["calls"] <= 200
    moves = next(gap for gap in found["gaps"] if gap["goal"] == "moves(tasks)")
    assert moves["value"] == len(found["moved"])
    assert 0 <= moves["bound"] <= moves["value"]


def test_why_not_another_client(tagged: str) -> None:
    (explanation,) = document(tagged, "--id", STATE, "--task", "0_3", "--why-not", "i4")["explanations"]
    assert explanation["wish"] == "go to i4"
    assert explanation["would"]
    assert {would["owner"] for would in explanation["would"]} == {explanation["why_not"]}


@pytest.mark.slow
def test_a_client_may_be_named_by_its_id_or_its_host(tagged: str) -> None:
    by_label = document(tagged, "--id", STATE, "--task", "0_3", "--why-not", "i4")
    client = by_label["explanations"][0]["why_not"]
    for name in (client, client[:8], "127.0.0.1:8084"):
        assert document(tagged, "--id", STATE, "--task", "0_3", "--why-not", name, "--calls", "3")["explanations"][0][
            "why_not"
        ] == (client)


def test_no_more_calls_are_made_than_allowed(tagged: str) -> None:
    (explanation,) = document(tagged, "--id", STATE, "--task", "0_3", "--calls", "7")["explanations"]
    assert explanation["calls"] == 7
    assert explanation["stopped"] == "7 calls were made"


def test_40_tasks_are_explained_within_200_calls_and_2_seconds() -> None:
    with gzip.open(BIG, "rt") as lines:
        scenario = json.loads(lines.readlines()[1])
    assert len(scenario["tasks"]) == 40
    start = time.process_time()
    found = document(BIG, "--id", "2", "--task", scenario["tasks"][3]["id"])
    assert time.process_time() - start < 2.0
    assert found["explanations"][0]["calls"] <= 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "assignor"),
    [(GROUP, "group_sticky"), (GROUP, "group_sticky_4_4"), (CONNECT, "connect_incremental")],
)
def test_other_kinds_are_explained_in_the_same_way(source: str, assignor: str) -> None:
    with gzip.open(source, "rt") as lines:
        ids = [json.loads(line)["id"] for line in lines]
    for number in range(1, min(9, len(ids)) + 1):
        shown = run(source, "--id", str(number), "--assignor", assignor, "--calls", "40", "--json")
        if shown.exit_code != 0:
            continue
        explanations = json.loads(shown.stdout)["explanations"]
        if any(explanation["would"] for explanation in explanations):
            return
    raise AssertionError("nothing that moves was explained")


def test_a_round_is_explained_after_the_rounds_before_it() -> None:
    found = document(CONNECT, "--id", "2", "--round", "1", "--calls", "0")
    assert found["round"] == 1
    assert "no round 999" in said(CONNECT, "--id", "2", "--round", "999")


def test_sentences_fit_80_columns(tagged: str) -> None:
    shown = run(tagged, "--id", STATE)
    assert shown.exit_code == 0
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "Kafka decided the same." in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--id", "nonsense"), "no state 'nonsense'"),
        (("--task", "9_9"), "has no task '9_9': it has 0_0"),
        (("--task", "0_0", "--why-not", "i9"), "is no client"),
        (("--task", "0_0", "--why-not", "i"), "means several clients"),
        (("--why-not", "i1"), "name the task"),
        (("--assignor", "connect_eager"), "connect_eager"),
        (("--task", "0_0", "-c", "max.warmup.replicas=0"), "max.warmup.replicas"),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[str, ...], says: str, tagged: str) -> None:
    assert says in said(tagged, *arguments)


@pytest.mark.slow
def test_a_file_that_is_none(tmp_path: Path) -> None:
    other = tmp_path / "page.html"
    other.write_text("<html></html>")
    assert "page.html: no assignment decision" in said(str(other))
    broken = tmp_path / "states.jsonl"
    broken.write_text('{"format": 1, "kind": ')
    assert "states.jsonl, line 1: not JSON" in said(str(broken))
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert "holds no state" in said(str(empty))
    assert "no-such-file" in said("no-such-file")


ODD = "tests.explain.odd_assignors"


@pytest.mark.slow
def test_a_plugin_is_explained_by_asking_it_in_its_own_process(tagged: str) -> None:
    found = document(tagged, "--id", STATE, "--task", "0_3", "--assignor", f"{ODD}:LeastLag", "--calls", "40")
    (explanation,) = found["explanations"]
    assert explanation["would"][0]["what"] == "lag"
    assert explanation["kafka"] is not None


@pytest.mark.slow
def test_a_plugin_that_hangs_is_told_with_its_deadline(tagged: str) -> None:
    hanging = ("--assignor", f"{ODD}:Hangs", "-c", "assignor.plugins.call.timeout.ms=300")
    message = said(tagged, "--id", STATE, "--task", "0_3", *hanging)
    assert "has no answer to tagged-classic-generation-10: DeadlineExceededError" in message
    assert "0.3 s" in message


@pytest.mark.slow
def test_a_plugin_that_hangs_later_ends_the_search_and_what_was_found_stays(tagged: str) -> None:
    hanging = ("--assignor", f"{ODD}:HangsLater", "-c", "assignor.plugins.call.timeout.ms=300")
    (explanation,) = document(tagged, "--id", STATE, "--task", "0_3", *hanging)["explanations"]
    assert explanation["calls"] == 2
    assert "gave no answer once more" in explanation["stopped"]
    assert "0.3 s" in explanation["stopped"]


@pytest.mark.slow
def test_nothing_is_told_of_who_changes_its_mind(tagged: str) -> None:
    message = said(tagged, "--id", STATE, "--task", "0_3", "--assignor", f"{ODD}:ChangesItsMind")
    assert "answers differently from call to call for the same input" in message


@pytest.mark.slow
def test_a_trusted_plugin_may_tell_its_rules(tagged: str) -> None:
    names = {name: f"{ODD}:{name}" for name in ("TellsItsRules", "TellsAnotherStory")}
    asked = (tagged, "--id", STATE, "--task", "0_3", "--calls", "0", "--assignor")
    trusted = document(*asked, names["TellsItsRules"], "-c", f"assignor.plugins.trust={names['TellsItsRules']}")
    sentences = [rule["sentence"] for rule in trusted["explanations"][0]["rules"]]
    assert sentences == ["It lags least on i1.", "Nobody knows {1}."]
    other = document(*asked, names["TellsAnotherStory"], "-c", f"assignor.plugins.trust={names['TellsAnotherStory']}")
    assert (other["tells_rules"], other["explanations"][0]["rules"]) == (False, [])


@pytest.mark.slow
def test_so_may_one_in_a_process_of_its_own(tagged: str) -> None:
    asked = (tagged, "--id", STATE, "--task", "0_3", "--calls", "0", "--assignor")
    apart = document(*asked, f"{ODD}:TellsItsRules")
    sentences = [rule["sentence"] for rule in apart["explanations"][0]["rules"]]
    assert sentences == ["It lags least on i1.", "Nobody knows {1}."]
    assert [rule["says"] for rule in apart["explanations"][0]["rules"]] == ["Where the lag is least.", None]
    for name in ("TellsAnotherStory", "TellsNonsense", "TellsAndHangs", "TellsAndDies"):
        other = document(*asked, f"{ODD}:{name}", "-c", "assignor.plugins.call.timeout.ms=1000")
        assert (other["tells_rules"], other["explanations"][0]["rules"]) == (False, []), name


@pytest.mark.slow
def test_a_text_of_a_step_is_no_format(tagged: str) -> None:
    asked = (tagged, "--id", STATE, "--task", "0_3", "--calls", "0", "--assignor")
    (explanation,) = document(*asked, f"{ODD}:TellsFormats")["explanations"]
    assert explanation["rules"][0]["sentence"] == "i4{0.__class__}{0:>999999999}{{}}{."


def test_rules_of_our_own_link_to_their_page(tagged: str) -> None:
    (explanation,) = document(tagged, "--id", STATE, "--task", "0_3", "--calls", "0")["explanations"]
    swapped = next(rule for rule in explanation["rules"] if rule["rule"] == "ha-swap")
    assert swapped["see"] == "docs/reference/rules.md#ha-swap"
    assert "lag 57,750 is over acceptable.recovery.lag 100" in swapped["sentence"]
    assert swapped["says"].startswith("It is not caught up, and one of those that are was to have a standby")


def test_without_lags_the_fallback_answers_and_tells_its_rules(tagged: str, tmp_path: Path) -> None:
    with Path(tagged).open() as lines:
        scenario = next(each for each in map(json.loads, lines) if each["id"] == STATE)
    for client in scenario["clients"]:
        client["lags"] = None
    source = tmp_path / "no-lags.jsonl"
    source.write_text(json.dumps(scenario))
    (explanation,) = document(str(source), "--task", "0_3", "--calls", "0")["explanations"]
    assert explanation["rules"][0]["rule"] == "st-keep"
    assert explanation["sentence"] == "fallback_prior leaves 0_3 on i1, where it ran."
    shown = run(str(source), "--task", "0_3", "--calls", "0").stdout
    assert "high_availability was named; in this state fallback_prior answers in its place" in " ".join(shown.split())


def test_an_episode_is_played_not_explained(tmp_path: Path) -> None:
    source = tmp_path / "episode.jsonl"
    initial = {"format": 1, "kind": "streams", "id": "s", "config": {}, "tasks": [], "clients": []}
    episode = {"format": 1, "kind": "streams-episode", "id": "e", "initial": initial, "events": [], "until_ms": 1}
    source.write_text(json.dumps(episode))
    assert "which is played, not answered" in said(str(source))
    compared = CliRunner().invoke(
        build_app(), ["compare", str(source), "--assignor", "sticky", "--assignor", "high_availability"]
    )  # fmt: skip
    assert "which is played, not answered" in str(compared.exception)


@pytest.mark.slow
def test_a_log_can_be_explained_as_it_is(tagged: str) -> None:
    recorded = DATA / "captures" / "tagged"
    source = (str(recorded / "i3.log.gz"), "--config", str(recorded / "application.properties"))
    asked = ("--id", STATE, "--task", "0_3", "--calls", "12")
    assert document(*source, *asked)["explanations"] == document(tagged, *asked)["explanations"]
