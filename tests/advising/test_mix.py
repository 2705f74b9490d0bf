from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from assignor_lab.advising.days import day_plan, drawn_day
from assignor_lab.advising.mix import DEFAULT_MIX, Mix, mix_sentence, read_mix
from assignor_lab.documents.errors import DocumentFormatError
from tests.advising.groups import recorded_group


def test_missing_rates_of_a_file_are_zero(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text("rolls_per_week = 7\nstall_seconds = 3\n")
    mix = read_mix(file)
    assert dict(mix.per_day) == {"roll": 1.0}
    assert (mix.stall_seconds, mix.source) == (3.0, str(file))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("rolls = 1", "unknown"),
        ("rolls_per_week = -1", "no number from 0"),
        ("rolls_per_week = true", "no number from 0"),
        ("stall_seconds = 0\nstalls_per_day = 1", "no number of seconds"),
        ("rolls_per_week = 0", "no event"),
        ("rolls_per_week = ", "no TOML"),
    ],
)
def test_a_faulty_mix_is_refused_with_its_place(content: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(content)
    with pytest.raises(DocumentFormatError, match=reason) as error:
        read_mix(file)
    assert "mix.toml" in str(error.value)


def test_the_mix_is_printed_with_its_source() -> None:
    assert mix_sentence(DEFAULT_MIX) == (
        "Mix of events (the default mix): 3 deployments a week, 1 scaling a week, 2 crashes a month (back after 10 s) "
        "and 1 stall a day (median 8 s)."
    )


def test_each_kind_is_in_every_day_and_its_weight_corrects_for_that() -> None:
    day = drawn_day(DEFAULT_MIX, 3, 24, "0")
    kinds = [each.kind for each in day.happenings]
    assert set(kinds) == {"roll", "scaling", "kill", "stall"}
    for kind, per_day in DEFAULT_MIX.per_day.items():
        assert day.weights[kind] * kinds.count(kind) == pytest.approx(per_day)


def test_a_day_is_a_function_of_its_seed() -> None:
    assert drawn_day(DEFAULT_MIX, 3, 24, "1") == drawn_day(DEFAULT_MIX, 3, 24, "1")
    assert drawn_day(DEFAULT_MIX, 3, 24, "1") != drawn_day(DEFAULT_MIX, 3, 24, "2")


def test_frequent_events_are_bounded_in_number() -> None:
    day = drawn_day(Mix(stalls_per_day=10_000.0), 3, 24, "0")
    assert sum(each.kind == "stall" for each in day.happenings) == 12


def test_the_steps_of_a_day_begin_in_the_order_of_time() -> None:
    mix = attrs.evolve(DEFAULT_MIX, rolls_per_week=14.0, scalings_per_week=14.0)
    subject = recorded_group("P1")
    plan, kinds = day_plan(drawn_day(mix, 3, 24, "0"), mix, subject.state, subject.options)
    begins = [step.at_ms for step in plan.steps if step.at_ms is not None]
    assert begins == sorted(begins)
    assert len(kinds) == len(plan.steps)
    assert plan.goes_on
