"""Old names of the contract."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize("module", ["assignment_api", "assignment_api.streams"])
@pytest.mark.parametrize(
    ("old", "new"), [("GroupAssignment", "ConsumerAssignments"), ("MemberAssignment", "ConsumerAssignment")]
)
def test_an_old_name_is_its_new_class_with_a_warning(module: str, old: str, new: str) -> None:
    package = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{module}.{old} is now {module}.{new}"):
        assert getattr(package, old) is getattr(package, new)
    assert old not in package.__all__


def test_other_names_are_missing_as_usual() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'GroupAsignment'"):
        importlib.import_module("assignment_api").GroupAsignment  # noqa: B018
