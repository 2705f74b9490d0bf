"""Simulated histories in the report: a new user finds each answer without a search, and no text is useless."""

from __future__ import annotations

import re
from functools import cache

import attrs
import pytest
from markupsafe import Markup

from assignor_lab.model.run_summary import Results
from assignor_lab.report import render_report
from assignor_lab.report.sections.groups import group_panel
from assignor_lab.report.words import agreement_sentences, opening, trust, variants, verdict, worst_in
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.group_summaries import connect, episodes, played_past, recorded_past
from tests.report.summaries import families, tagged


@cache
def played() -> Results:
    return summary_of(played_past()).results


@cache
def page_of_play() -> str:
    return render_report(summary_of(played_past()))


@cache
def page_of_recording() -> str:
    return render_report(summary_of(recorded_past()))


def text_of(markup: str) -> str:
    return Markup(re.sub(r"<style>.*?</style>|<script.*?</script>", "", markup, flags=re.DOTALL)).striptags()


@pytest.mark.slow
def test_of_many_plays_the_first_is_open_and_the_others_say_in_one_line_how_they_went() -> None:
    opened = re.findall(
        r'<details class="play"( open)?><summary><h4>(.*?)</h4> <span class="note">(.*?)<', page_of_play()
    )
    assert [name for is_open, name, _ in opened if is_open] == ["high_availability"]
    assert len(opened) == 6
    assert ("", "two_standbys", "30 rebalances, 479.1 task-seconds down") in opened


def test_two_small_plays_stand_side_by_side() -> None:
    group = played().groups[0]
    two = group_panel(1, attrs.evolve(group, answers=group.answers[:2]), {})
    assert [column.opened for column in two.columns] == [True, True]


def test_a_play_says_why_it_rebalanced_and_each_rebalance_how_long_until_all_ran_again() -> None:
    text = text_of(page_of_play())
    assert (
        "to hand tasks over (the owners release them first, then all members join again)"
        in group_panel(1, played().groups[0], {}).columns[0].why
    )
    assert ">Tasks to another instance</th>" in page_of_play()
    assert ">All ran again after (s)</th>" in page_of_play()
    assert "not before the next one" in text
    for of_connect in ("Jobs given", "Jobs taken", "Next after"):
        assert of_connect not in text
        assert of_connect in text_of(render_report(summary_of(episodes())))


def test_the_text_picture_says_what_each_sign_is() -> None:
    legend = played().groups[0].answers[0].timeline[-1]
    drawn = {sign for line in played().groups[0].answers[0].timeline[4:-1] for sign in line[12:]}
    for sign in drawn - set("ABCD "):
        assert re.search(rf"(^|[;,:] ){re.escape(sign)} \w", legend), sign
    assert "blank: nobody is in the group" in legend


def test_the_recorded_and_the_played_picture_count_from_one_moment() -> None:
    axes = [
        tuple(re.findall(r'<text class="time[^>]*>(.*?)</text>', picture))
        for picture in re.findall(r'<svg class="gantt".*?</svg>', page_of_play(), flags=re.DOTALL)
    ]
    assert len(axes) == 7
    assert len({axis[:8] for axis in axes}) == 1
    assert "0 s" in axes[0]
    assert "04:28:47" in axes[0]


@pytest.mark.slow
def test_what_figures_rest_on_stands_beside_them() -> None:
    text = text_of(page_of_play())
    assert text.index("7 assumptions stand behind these figures") < text.index("What happened", 200)
    assert "racks are unknown" in trust(played())
    assert trust(attrs.evolve(played(), assumptions=())) == ""
    assert "had to be made" in text_of(page_of_recording())


def test_a_variant_is_told_with_its_setting_where_it_is_best() -> None:
    assert "two_standbys with num.standby.replicas=2 (at most 484.43; high_availability 556.06)" in verdict(played())
    assert "probe_10min is high_availability with probing.rebalance.interval.ms=600000" in variants(played())
    assert variants(summary_of(families()).results) == ""


def test_what_is_the_same_in_every_row_is_no_column() -> None:
    shown = page_of_play()
    for column in ("Decisions", "Calls", "Median", "Most", "Without answer"):
        assert f">{column}</th>" not in shown
    assert "Processor time of all calls of one history" in shown
    assert "some figure is worst here" not in shown


def test_an_old_summary_says_nothing_of_when_all_ran_again() -> None:
    document = played_past()
    for answer in document["results"]["groups"][0]["answers"]:
        for each in answer["rebalances"]:
            del each["running_ms"]
    assert "All ran again" not in render_report(summary_of(document))


def test_a_state_says_in_which_measures_somebody_does_worst_in_it() -> None:
    results = summary_of(connect()).results
    worst = {each.metric: each.worst for each in results.aggregates if each.worst and each.min != each.max}
    metric, state = next(iter(worst.items()))
    assert metric.replace("_", " ") in worst_in(results, state.scenario, state.round) or " more" in worst_in(
        results, state.scenario, state.round
    )
    assert worst_in(results, "no such state", 0) == ""
    assert worst_in(attrs.evolve(results, states=1), state.scenario, state.round) == ""


def test_who_cannot_be_compared_is_told_once_and_nobody_has_a_bullet_for_it() -> None:
    results = summary_of(recorded_past()).results
    assert agreement_sentences(results) == []
    told = agreement_sentences(attrs.evolve(results, not_comparable=()))
    assert len(told) == 1
    assert told[0].endswith(" with Kafka's own decisions is unknown.")
    assert opening(results).startswith("48 decisions from 5 log files were put to ")


def test_where_each_is_behind_in_some_figure_no_contender_is_best() -> None:
    results = summary_of(tagged()).results
    assert results.headline is not None
    places = tuple(attrs.evolve(place, place=1) for place in results.ranking.overall)
    even = attrs.evolve(results, ranking=attrs.evolve(results.ranking, overall=places), not_comparable=())
    assert verdict(even).startswith("No contender is best: each one is behind in some figure. ")
    for tells, said in (("none", "no figure has an interval"), ("unclear", "no difference is beyond chance")):
        figures = [
            attrs.evolve(each, of=tuple(attrs.evolve(value, tells=tells) for value in each.of))
            for each in results.headline.figures
        ]
        unclear = attrs.evolve(even, headline=attrs.evolve(results.headline, figures=tuple(figures)))
        assert said in verdict(unclear)


def test_who_cannot_be_compared_has_no_column_but_a_line_below() -> None:
    shown = page_of_recording()
    assert "Not drawn: fallback_prior, high_availability" in text_of(
        shown
    ) or "Not drawn: high_availability" in text_of(shown)
    heads = re.findall(r'<th scope="col" data-assignor="\d+">', shown)
    assert len(heads) == shown.count('<details class="state"')
    assert '<span class="none">not known</span>' not in shown


def restored(values: dict[str, float]) -> str:
    """The verdict over plays that restore these numbers of bytes before they process."""
    results = played()
    assert results.headline is not None
    figures = tuple(
        attrs.evolve(each, of=tuple(attrs.evolve(one, mean=values[one.assignor]) for one in each.of))
        for each in results.headline.figures
        if each.unit == "bytes"
    )
    return verdict(attrs.evolve(results, headline=attrs.evolve(results.headline, figures=figures)))


def test_some_bytes_make_nobody_the_best_of_those_who_restore_megabytes() -> None:
    names = [each.name for each in played().assignors]
    far = dict.fromkeys(names, 50e6) | {names[0]: 500.0, names[2]: 300.0}
    assert f"{names[0]} and " in restored(far)
    assert "(at most 500 B; " in restored(far)
    assert "(300 B; " in restored(dict.fromkeys(names, 50e6) | {names[2]: 300.0})
    assert "All are closer than 1 %" in restored(dict.fromkeys(names, 50e6) | {names[2]: 50.1e6})


def test_how_far_the_play_of_what_ran_is_off_stands_beside_what_plays_differ_by() -> None:
    recorded = len(played().timelines[0].decisions)
    own = next(each for each in played().ranking.by_metric if each.metric == "rebalances").places
    mean = next(place.mean for place in own if place.assignor == "high_availability")
    text = text_of(page_of_play())
    assert f"If the group ran under high_availability, the play is {recorded - mean:.0f} off: " in text


def test_that_down_times_are_played_stands_above_them() -> None:
    head = page_of_play().partition('id="groups"')[2].partition("<details")[0]
    assert "All of it is played: what is recorded does not say when nobody processed a task." in head
