"""Kafka's public sticky assignor moves tasks back and forth without any change: the fuzz's smallest history.

``python -m parity.episodes`` has compared each decision with Kafka 4.3.1's classes: they are the same.
"""

from __future__ import annotations

from assignor_lab.simulation.streams.safety.known_kafka_behaviour import named
from assignor_lab.simulation.streams.safety.rest import LAST_CHANGES
from assignor_lab.simulation.streams.safety.rules import broken_rules
from tests.simulation.streams.episodes import played, started, task


def test_it_swings_and_is_named() -> None:
    with_state = [task(f"0_{number}") for number in range(3)]
    without = [task(name, stateful=False) for name in ("1_0", "1_1", "2_0", "2_1")]
    changes = [{"at_ms": 60_000 * number, "type": "metadata_changes"} for number in range(1, LAST_CHANGES + 1)]
    group = played(
        [started("i1"), started("i4", 4_000, threads=3), *changes], [*with_state, *without], assignor="sticky@4.3",
        config={"num.standby.replicas": 1}, until_ms=60_000 * (LAST_CHANGES + 1), seed=1,
    )  # fmt: skip
    (found,) = broken_rules(group)
    assert found.rule == "at rest"
    assert found.sentence.endswith("it swings between 2 placements")
    assert named(found, group, "sticky@4.3").known == "StickyTaskAssignor"
    assert named(found, group, "high_availability").known == ""
