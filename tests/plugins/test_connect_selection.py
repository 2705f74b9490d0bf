from __future__ import annotations

from pathlib import Path

import pytest

from assignment_api.errors import ConfigError
from assignment_api.plugins import (
    ConnectAssignorPlugin,
    PluginDefinitionError,
    Policy,
    UnknownPluginError,
    UntrustedCodeError,
    config_sources,
    discover,
    select_connect_assignor,
)
from builtin_assignors.connect_incremental import IncrementalCooperativeAssignor

CODE = "builtin_assignors.connect_static:StaticConnectAssignor"
JAVA = "org.apache.kafka.connect.runtime.distributed."


def selected(tmp_path: Path, *overrides: str, environ: dict[str, str] | None = None) -> str:
    sources = config_sources(overrides=overrides, environ=environ or {}, start=tmp_path)
    return select_connect_assignor(discover(), sources.effective()).name


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ([], "connect_incremental"),
        (["connect.protocol=eager"], "connect_eager"),
        (["connect.protocol=Compatible"], "connect_incremental"),
        (["connect.protocol=static"], "connect_static"),
        (["connect.protocol=static", "connect.assignor.class=connect_incremental"], "connect_incremental"),
        (["connect.assignor.class=assignor-lab:connect_static"], "connect_static"),
        ([f"connect.assignor.class={JAVA}EagerAssignor"], "connect_eager"),
        (["connect.assignor.class=IncrementalCooperativeAssignor"], "connect_incremental"),
        ([f"connect.assignor.class={CODE}"], CODE),
    ],
)
def test_the_configuration_selects_the_assignor(tmp_path: Path, overrides: list[str], name: str) -> None:
    assert selected(tmp_path, *overrides) == name


def test_a_workers_own_file_selects_it(tmp_path: Path) -> None:
    file = tmp_path / "connect-distributed.properties"
    file.write_text("group.id=c\nconnect.protocol=eager\nscheduled.rebalance.max.delay.ms=60000\nssl.key.password=x\n")
    sources = config_sources(file, environ={}, start=tmp_path)
    assert select_connect_assignor(discover(), sources.effective()).name == "connect_eager"
    assert sources.explicit_values() == {"connect.protocol": "eager", "scheduled.rebalance.max.delay.ms": 60_000}


def test_the_environment_may_not_name_code(tmp_path: Path) -> None:
    with pytest.raises(UntrustedCodeError, match=r"^connect\.assignor\.class \("):
        selected(tmp_path, environ={"ASSIGNOR_CONNECT_ASSIGNOR_CLASS": CODE})


def test_a_near_miss_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnknownPluginError, match="unknown Connect assignor 'connect_incremantal'; did you mean"):
        selected(tmp_path, "connect.assignor.class=connect_incremantal")


@pytest.mark.parametrize(
    "override",
    ["connect.protocol=cooperative", "scheduled.rebalance.max.delay.ms=-1", "scheduled.rebalance.max.delay.ms=soon"],
)
def test_wrong_values_are_refused(tmp_path: Path, override: str) -> None:
    with pytest.raises(Exception, match=override.partition("=")[0]) as refused:
        selected(tmp_path, override)
    assert isinstance(refused.value, ConfigError) or "ConfigValueError" in type(refused.value).__name__


def test_each_name_makes_its_assignor() -> None:
    found = discover().connect_assignor("connect_incremental")
    assert isinstance(found.create(), IncrementalCooperativeAssignor)
    assert found.create() is not found.create()
    names = [each.name for each in discover().connect_assignors()]
    assert names == ["connect_incremental", "connect_eager", "connect_static"]


def test_a_task_assignor_is_none_for_connect() -> None:
    with pytest.raises(UnknownPluginError, match="'sticky' is a task assignor for Streams applications, not a Connect"):
        discover().connect_assignor("sticky")


@pytest.mark.slow
def test_kinds_of_what_a_selector_names() -> None:
    registry = discover()
    assert registry.assignor_kinds("connect_eager") == ("connect-assignor",)
    assert registry.assignor_kinds(JAVA + "EagerAssignor") == ("connect-assignor",)
    assert registry.assignor_kinds(CODE) == ()
    assert registry.assignor_kinds(CODE, may_run_code=True) == ("connect-assignor",)
    assert registry.assignor_kinds("builtin_assignors.sticky:StickyTaskAssignor", may_run_code=True) == (
        "task-assignor",
    )


def test_a_blocked_assignor_is_not_there() -> None:
    registry = discover(Policy(block=("connect_static",)))
    assert [each.name for each in registry.connect_assignors()] == ["connect_incremental", "connect_eager"]


def test_a_plugin_names_protocols_that_there_are() -> None:
    with pytest.raises(PluginDefinitionError, match="'lazy' is none of eager, compatible, sessioned, static"):
        ConnectAssignorPlugin("mine", IncrementalCooperativeAssignor, protocols=("lazy",))
