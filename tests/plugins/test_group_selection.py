from __future__ import annotations

import pytest

from assignment_api.group import TaskAssignor
from assignment_api.plugins import (
    GroupAssignorPlugin,
    PluginLoadError,
    Policy,
    UnknownPluginError,
    UntrustedCodeError,
    discover,
)
from assignment_api.plugins.reserved import PARTITION_ASSIGNORS
from builtin_assignors.group_sticky import GroupStickyTaskAssignor

pytestmark = pytest.mark.slow

CODE = "builtin_assignors.group_sticky:GroupStickyTaskAssignor"
DESCRIPTION = GroupAssignorPlugin("described", GroupStickyTaskAssignor)
HERE = "tests.plugins.test_group_selection"


def made_by_function() -> TaskAssignor:
    return GroupStickyTaskAssignor()


@pytest.mark.parametrize("selector", ["group_sticky", "Group-Sticky", "assignor-lab:group_sticky"])
def test_a_name_selects_it(selector: str) -> None:
    found = discover().group_assignor(selector)
    assert (found.name, found.distribution) == ("group_sticky", "assignor-lab")


@pytest.mark.slow
@pytest.mark.parametrize("selector", [CODE, f"{HERE}:made_by_function", f"{HERE}:DESCRIPTION"])
def test_module_and_attribute_select_it_where_code_may_be_named(selector: str) -> None:
    found = discover().group_assignor(selector, may_run_code=True)
    assert found.name == selector
    assert isinstance(found.plugin.factory(), TaskAssignor)
    with pytest.raises(UntrustedCodeError, match="offers a group assignor"):
        discover().group_assignor(selector)


def test_an_assignor_object_is_no_selector() -> None:
    with pytest.raises(PluginLoadError, match="expected a subclass of assignment_api"):
        discover().group_assignor(f"{HERE}:CODE", may_run_code=True)


@pytest.mark.slow
def test_blocked_code_is_not_imported() -> None:
    registry = discover(Policy(block=("tests.plugins.test_group_selection",)))
    with pytest.raises(PluginLoadError, match="may not be imported"):
        registry.group_assignor(f"{HERE}:DESCRIPTION", may_run_code=True)


@pytest.mark.slow
def test_kinds_of_what_a_selector_names() -> None:
    registry = discover()
    assert registry.assignor_kinds("group_sticky") == ("group-assignor",)
    assert registry.assignor_kinds(CODE) == ()
    assert registry.assignor_kinds(CODE, may_run_code=True) == ("group-assignor",)
    assert registry.assignor_kinds(f"{HERE}:DESCRIPTION", may_run_code=True) == ("group-assignor",)
    kinds = registry.assignor_kinds(f"{HERE}:made_by_function", may_run_code=True)
    assert kinds == ("task-assignor", "connect-assignor", "group-assignor", *PARTITION_ASSIGNORS)


def test_an_assignor_of_clients_is_none_of_the_brokers() -> None:
    with pytest.raises(UnknownPluginError, match="'sticky' is a task assignor for Streams applications, not a broker"):
        discover().group_assignor("sticky")
