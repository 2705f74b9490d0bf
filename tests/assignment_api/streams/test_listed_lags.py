from __future__ import annotations

import copy
import pickle

import pytest

from assignment_api import TaskId
from assignment_api.streams.listed_lags import ListedLags, listed

TASKS = (TaskId(1, 0), TaskId(0, 1))
LAGS = ListedLags(TASKS, (7, -2))
SAME = {TaskId(1, 0): 7, TaskId(0, 1): -2}


def test_they_are_the_mapping_that_a_dict_is() -> None:
    assert LAGS == SAME
    assert list(LAGS) == list(SAME)
    assert list(LAGS.items()) == list(SAME.items())
    assert list(LAGS.values()) == list(SAME.values())
    assert LAGS.keys() == SAME.keys()
    assert len(LAGS) == 2
    assert LAGS[TaskId(0, 1)] == -2
    assert TaskId(0, 1) in LAGS
    assert LAGS.get(TaskId(5, 5)) is None
    assert repr(LAGS) == f"ListedLags({SAME})"


def test_a_task_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        LAGS[TaskId(5, 5)]


def test_nobody_can_change_them() -> None:
    with pytest.raises(TypeError):
        LAGS[TaskId(0, 1)] = 0  # type: ignore[index]


def test_they_survive_a_copy_and_a_journey() -> None:
    assert copy.deepcopy(LAGS) == SAME
    assert pickle.loads(pickle.dumps(LAGS)) == SAME


@pytest.mark.parametrize("lags", [LAGS, SAME])
def test_any_mapping_is_listed_in_its_order(lags: dict[TaskId, int]) -> None:
    assert listed(lags) == (TASKS, (7, -2))
