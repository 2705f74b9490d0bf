from __future__ import annotations

import attrs

from assignor_lab.capture.recorded.matching import DecisionNotFound, Match, StaticRestart, match_decision
from assignor_lab.capture.recorded.recording import Seen
from tests.capture.recorded.groups import decisions, recording


def last_of(application: str) -> Seen:
    *_, seen = recording(application).stable()
    return seen


def test_a_decision_has_the_generation_and_the_members_of_the_group() -> None:
    seen = last_of("warm")

    found = match_decision(seen, decisions("warm"))

    assert isinstance(found, Match)
    assert found.decision.generation == seen.answer.generation == 6


def test_without_its_decision_a_group_is_not_matched_with_another() -> None:
    seen = last_of("warm")
    others = [decision for decision in decisions("warm") if decision.generation != 6]

    assert match_decision(seen, others) == DecisionNotFound()
    assert "give the logs of all instances" in str(match_decision(seen, []))


def test_of_a_group_that_began_anew_the_latest_decision_before_the_description_counts() -> None:
    seen = last_of("warm")
    (shown,) = (decision for decision in decisions("warm") if decision.generation == 6)
    earlier = attrs.evolve(shown, followup=not shown.followup)

    assert match_decision(seen, [earlier, shown]) == Match(shown)


def test_a_decision_of_another_group_is_never_taken() -> None:
    foreign = [attrs.evolve(decision, group="another") for decision in decisions("warm")]

    assert match_decision(last_of("warm"), foreign) == DecisionNotFound()


def test_a_static_member_that_came_back_is_told_from_a_new_member() -> None:
    restarted = next(
        seen for seen in recording("plain").stable() if not isinstance(match_decision(seen, decisions("plain")), Match)
    )

    found = match_decision(restarted, decisions("plain"))

    assert isinstance(found, StaticRestart)
    (new,) = found.replaced
    renamed = tuple(
        attrs.evolve(member, member_id=f"stranger-{member.member_id[-36:]}", instance_id=None)
        if member.member_id == new
        else member
        for member in restarted.answer.members
    )
    stranger = attrs.evolve(restarted, answer=attrs.evolve(restarted.answer, members=renamed))
    assert match_decision(stranger, decisions("plain")) == DecisionNotFound()
