from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.groups.streams.states import Client, figure, weighing

# 0_0 and 0_1 have changelogs of 1,000 and 500 records. Client 1 runs 0_0; client 2 has a standby of it that lags by
# 40, and ran 0_1; client 3 has a copy of 0_0 with unknown offsets, and nothing of 0_1.
LAGS = ({"0_0": -2, "0_1": 500}, {"0_0": 40, "0_1": -2}, {"0_0": -3, "0_1": 500}, {"0_0": 1_000, "0_1": 500})
BEFORE = ("0_0", "0_1 | 0_0", "| 0_0", "")
TASKS = "0_0 0_1 1_0"


def lacking(
    metric: str, *after: str, lags: tuple[Mapping[str, int] | None, ...] = LAGS, acceptable: int = 100
) -> float | None:
    clients = [
        Client(before=before, after=text, lags=known) for before, text, known in zip(BEFORE, after, lags, strict=True)
    ]
    return figure(
        metric,
        clients,
        tasks=TASKS,
        stateless="1_0",
        config={"acceptable.recovery.lag": acceptable},
        workload=weighing("0_0: 1 1 2000, 0_1: 1 1 100, 1_0: 1 1 0"),
    )


@pytest.mark.parametrize(
    ("after", "offsets", "before_processing", "behind", "of_bytes"),
    [
        # Everything stays on its complete copy; the standby lacks 40 of 1,000 records, which are 80 of 2,000 bytes.
        (("0_0 1_0", "0_1 | 0_0", "", ""), 40, 0, 0, 80),
        (("1_0", "0_0 0_1", "", ""), 40, 40, 0, 80),
        # To the copy with unknown offsets, which may lack all.
        (("", "0_1", "0_0 1_0", ""), 1_000, 1_000, 1, 2_000),
        # To a process without a copy, 0_1, too.
        (("", "", "", "0_0 0_1 1_0"), 1_500, 1_500, 2, 2_100),
        # A stateless task has nothing to restore on any client; neither has a task without an owner.
        (("", "", "", "1_0"), 0, 0, 0, 0),
    ],
)
def test_what_lags_has_to_be_restored(
    after: tuple[str, ...], offsets: float, before_processing: float, behind: float, of_bytes: float
) -> None:
    assert lacking("offsets_to_restore", *after) == offsets
    assert lacking("offsets_to_restore_before_processing", *after) == before_processing
    assert lacking("actives_not_caught_up", *after) == behind
    assert lacking("bytes_to_restore", *after) == pytest.approx(of_bytes)


@pytest.mark.parametrize(("acceptable", "behind"), [(39, 1.0), (40, 0.0), (2**63 - 1, 0.0)])
def test_a_client_is_caught_up_as_far_as_configuration_says(acceptable: int, behind: float) -> None:
    assert lacking("actives_not_caught_up", "", "0_0 0_1", "", "", acceptable=acceptable) == behind


def test_even_an_unknown_copy_is_caught_up_where_everybody_is() -> None:
    assert lacking("actives_not_caught_up", "", "0_1", "0_0", "", acceptable=2**63 - 1) == 0.0


@pytest.mark.parametrize(
    "metric",
    ["offsets_to_restore", "offsets_to_restore_before_processing", "actives_not_caught_up", "bytes_to_restore"],
)
def test_without_end_offsets_nothing_is_known(metric: str) -> None:
    assert lacking(metric, "0_0 0_1", "", "", "", lags=(None,) * 4) is None


def test_what_nobody_knows_is_no_figure() -> None:
    unknown = ({"0_0": -3, "0_1": 500},) * 4
    assert lacking("offsets_to_restore", "0_0", "", "", "", lags=unknown) is None
    assert lacking("offsets_to_restore", "", "", "", "0_1", lags=({}, {}, {}, {})) is None
    assert lacking("actives_not_caught_up", "", "", "", "0_1", lags=({}, {}, {}, {})) is None


def test_where_everybody_has_a_copy_those_that_are_caught_up_lack_no_bytes() -> None:
    clients = [Client(before="0_0", lags={"0_0": -2}), Client(before="| 0_0", after="0_0", lags={"0_0": 90})]
    for acceptable, expected in ((100, 0.0), (80, 2_000.0)):
        config = {"acceptable.recovery.lag": acceptable}
        found = figure("bytes_to_restore", clients, tasks="0_0", config=config, workload=weighing("0_0: 1 1 2000"))
        assert found == expected
