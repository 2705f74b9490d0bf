"""Recorded decisions of further applications, each with two cases of topologies together."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.capture.logs.import_log import import_log
from tests.capture.topology_recordings import VARIANTS, unpacked

#: A changelog from before the optimisation beside another part; a user's topic called as a changelog; stores that are
#: not logged beside logged ones; a pattern beside a table that is read back; a read-only store beside a logged one.
NAMES = ("depot", "eta", "kappa", "patternfk", "settings", "shared3", "suppnolog")


def test_each_variant_is_in_the_archive() -> None:
    assert unpacked(VARIANTS).names() == list(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_decision_comes_out_again_with_and_without_the_topology(name: str) -> None:
    found = unpacked(VARIANTS)
    for source in ([str(found.past(name))], [*map(str, found.logs(name))]):
        options = [*source, *found.config(name)]
        decisions, differences = found.checked(*options)
        assert (decisions > 5, differences) == (True, [])
        assert found.checked(*options, *found.topology(name)) == (decisions, [])


@pytest.mark.parametrize("name", NAMES)
def test_tasks_are_as_the_running_application_had_them(name: str) -> None:
    found = unpacked(VARIANTS)
    logged = import_log(found.logs(name), topology=Path(found.topology(name)[1]))
    documents = [*found.decisions(name), *logged]
    assert [wrong for document in documents for wrong in found.wrong_tasks(name, document)] == []
