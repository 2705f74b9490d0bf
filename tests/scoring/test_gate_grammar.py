"""The language of ``--fail-if``: the meaning of an expression, and the place of an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.scoring.gates import Bound, Gate, GateError, GateNameError, GateSyntaxError, Named, parse_gate


def meaning(expression: str) -> Gate:
    return parse_gate(expression)


def absolute(number: float) -> Bound:
    return Bound(0.0, number, relative=False)


def test_a_metric_alone_stands_for_its_mean() -> None:
    gate = meaning("stateful_actives_moved > 3")
    assert (gate.statistic, gate.metric, gate.assignor) == ("mean", Named("stateful_actives_moved", 1), None)
    assert (gate.sign, gate.bound, gate.confidence) == (">", absolute(3), None)
    assert meaning("mean(stateful_actives_moved) > 3").bound == gate.bound


@pytest.mark.parametrize(
    ("measure", "statistic", "quantile"),
    [
        ("mean(x)", "mean", None),
        ("median(x)", "quantile", 0.5),
        ("min(x)", "quantile", 0.0),
        ("max(x)", "quantile", 1.0),
        ("p95(x)", "quantile", 0.95),
        ("p99.9(x)", "quantile", 0.999),
        ("failed_rows", "failed_rows", None),
        ("failed_share", "failed_share", None),
    ],
)
def test_measures(measure: str, statistic: str, quantile: float | None) -> None:
    gate = meaning(f"{measure} >= 1")
    assert (gate.statistic, gate.quantile) == (statistic, pytest.approx(quantile) if quantile is not None else None)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("3", absolute(3)),
        ("-3", absolute(-3)),
        ("1.5e3", absolute(1500)),
        (".5", absolute(0.5)),
        ("5 %", absolute(0.05)),
        ("-5%", absolute(-0.05)),
        ("baseline", Bound(1.0, 0.0, relative=True)),
        ("baseline + 5 %", Bound(1.05, 0.0, relative=True)),
        ("baseline-5%", Bound(0.95, 0.0, relative=True)),
        ("baseline + 5% + 0.5", Bound(1.05, 0.5, relative=True)),
        ("baseline - 2", Bound(1.0, -2.0, relative=True)),
    ],
)
def test_bounds(text: str, bound: Bound) -> None:
    assert meaning(f"x < {text}").bound == bound


@pytest.mark.parametrize("sign", [">", ">=", "<", "<="])
def test_signs_with_and_without_spaces(sign: str) -> None:
    assert meaning(f"x{sign}1").sign == meaning(f"  x  {sign}\t1 ").sign == sign


def test_one_assignor_and_a_confidence() -> None:
    gate = meaning("mean(process_load_excess) of my-plugin > baseline + 5 % with 99.5 % confidence")
    assert gate.assignor == Named("my-plugin", 30)
    assert gate.confidence == pytest.approx(0.995)


def test_names_hold_dots_colons_and_dashes() -> None:
    assert meaning("other-dist:error_type of tests.module:Name > 1").metric == Named("other-dist:error_type", 1)


def test_a_quoted_name_is_never_a_word_of_the_language() -> None:
    gate = meaning("""'failed_rows' of "of" > 1""")
    assert (gate.statistic, gate.metric, gate.assignor) == ("mean", Named("failed_rows", 1), Named("of", 18))
    assert meaning('max("two words") > 1').metric == Named("two words", 5)


@pytest.mark.parametrize(
    ("expression", "column", "reason"),
    [
        ("", 1, "expected the name of a metric"),
        ("   ", 4, "the expression ends"),
        ("> 3", 1, "found '>'"),
        ("x", 2, "expected one of > >= < <=, but the expression ends"),
        ("x = 3", 3, "'=' means nothing here"),
        ("x == 3", 3, "'=' means nothing here"),
        ("x > ", 5, "expected a number or 'baseline'"),
        ("x > y", 5, "found 'y'"),
        ("x > --3", 6, "found '-'"),
        ("x > 3 4", 7, "found '4'"),
        ("x > 3 and y > 4", 7, "found 'and'"),
        ("mean(x > 3", 8, "expected ')'"),
        ("mean() > 3", 6, "found ')'"),
        ("avg(x) > 3", 1, "'avg' is no statistic"),
        ("p100(x) > 3", 1, "'p100' is no statistic"),
        ("failed_rows(x) > 3", 1, "no statistic"),
        ("x of > 3", 6, "the name of an assignor"),
        ("x > baseline +", 15, "expected a number"),
        ("x > baseline * 2", 14, "'*' means nothing here"),
        ("x > 3 with", 11, "a confidence such as 95 %"),
        ("x > 3 with 95 confidence", 15, "expected '%'"),
        ("x > 3 with 95 %", 16, "expected 'confidence'"),
        ("x > 3 with 95 % confidence please", 28, "expected the end"),
        ("x > 1e999", 5, "too large"),
        ('x > 3 of "a', 10, "this quote is not closed"),
        ('"" > 3', 1, "expected the name of a metric"),
        ("zäh > 3", 2, "'ä' means nothing here"),
        ("x" * 2_000, 1, "longer than 1,000 signs"),
    ],
)
def test_what_is_not_of_the_grammar_has_its_place(expression: str, column: int, reason: str) -> None:
    with pytest.raises(GateSyntaxError) as caught:
        parse_gate(expression)
    assert caught.value.column == column
    assert reason in caught.value.reason


def test_the_message_points_at_the_place() -> None:
    with pytest.raises(GateSyntaxError) as caught:
        parse_gate("mean(x > 3")
    head, line, mark = str(caught.value).splitlines()
    assert head == "--fail-if, column 8: expected ')', but found '>'"
    assert line[mark.index("^")] == ">"


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        ("x > 3 with 50 % confidence", 12),
        ("x > 3 with 100 % confidence", 12),
        ("median(x) > 3 with 95 % confidence", 15),
        ("failed_rows > 3 with 95 % confidence", 17),
    ],
)
def test_a_confidence_that_cannot_be_had(expression: str, column: int) -> None:
    with pytest.raises(GateNameError) as caught:
        parse_gate(expression)
    assert caught.value.column == column


@given(st.text(alphabet="xp95.%()<>=+- \"'ofbaselinewithconfidencemean\x00é", max_size=60))
def test_any_text_is_a_gate_or_an_error_with_its_place(text: str) -> None:
    try:
        column = parse_gate(text).bound_column
    except GateError as error:
        column = error.column
    assert 1 <= column <= len(text) + 1
