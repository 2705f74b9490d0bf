"""Configuration keys that assignors declare."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from assignment_api import ConfigError
from assignment_api.plugins import (
    ConfigKeyError,
    ConfigValueError,
    PluginDefinitionError,
    Setting,
    TaskAssignorPlugin,
    check_settings,
    config_sources,
    declared_settings,
)
from assignment_api.plugins.registry import Registry
from assignor_lab.groups.runner.terms import NO_CONFIG
from assignor_lab.groups.variants import VariantError, configured
from assignor_lab.runtime.discovery import discovered
from assignor_lab.runtime.discovery.descriptions import fields_in
from assignor_lab.runtime.isolation.errors import AnswerFormatError
from tests.plugins.installing import installed_in, write_distribution

DEPTH = Setting("assignor.mine.depth", "int", 3, "Depth of the search.", 1)

MODULE = """
    from assignment_api import TaskAssignor
    from assignment_api.plugins import Setting, TaskAssignorPlugin, hookimpl

    class Mine(TaskAssignor):
        def assign(self, application):
            raise NotImplementedError

    @hookimpl
    def assignor_lab_task_assignors():
        settings = (
            Setting("assignor.mine.depth", "int", 3, "Depth of the search.", 1),
            Setting("assignor.mine.zones", "list", ["a", "b"], "Zones in order."),
        )
        return [TaskAssignorPlugin("mine", Mine, settings=settings), TaskAssignorPlugin("silent", Mine)]
"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    folder = tmp_path_factory.mktemp("plugins")
    write_distribution(folder, "mine-of-a-third-party", {"declaring": MODULE}, {"mine": "declaring"})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        return discovered(installed=installed_in(folder)).registry


def remarks(registry: Registry, *overrides: str, **environ: str) -> tuple[str, ...]:
    effective = config_sources(None, overrides, environ=environ, start=Path("/")).effective()
    return check_settings(registry, effective)


@pytest.mark.slow
def test_settings_are_declared_from_the_plugins_own_process(registry: Registry) -> None:
    declared = declared_settings(registry)["mine"]
    assert declared["assignor.mine.depth"] == DEPTH
    assert declared["assignor.mine.zones"].default == ("a", "b")
    assert "silent" not in declared_settings(registry)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("assignor.mine.dept=2", "assignor mine has no key 'dept'; did you mean 'depth'?"),
        ("assignor.mine.other.word=2", "assignor mine has no key 'other.word'; it has depth, zones"),
        ("assignor.mien.depth=2", "no assignor 'mien' is installed; did you mean 'mine'?"),
    ],
)
def test_a_misspelt_key_is_an_error_with_a_suggestion(registry: Registry, override: str, sentence: str) -> None:
    with pytest.raises(ConfigKeyError, match=sentence) as raised:
        remarks(registry, override)
    assert str(raised.value).startswith(f"-c {override.partition('=')[0]}: ")


@pytest.mark.slow
def test_a_misspelt_key_of_the_environment_is_a_remark(registry: Registry) -> None:
    (remark,) = remarks(registry, ASSIGNOR__MINE__DEPHT="2")
    assert "variable ASSIGNOR__MINE__DEPHT" in remark
    assert "'depth'" in remark


@pytest.mark.slow
@pytest.mark.parametrize("written", ["two", "0", "1.5", ""])
def test_a_value_of_another_type_names_its_place(registry: Registry, written: str) -> None:
    with pytest.raises(ConfigValueError, match=r"-c assignor\.mine\.depth: .* expected a whole number from 1"):
        remarks(registry, f"assignor.mine.depth={written}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "override",
    ["assignor.mine.depth=2", "assignor.silent.any=1", "assignor.absent.any=1", "assignor.lab.deadline.ms=9"],
)
def test_keys_of_other_assignors_stay_unchecked(registry: Registry, override: str) -> None:
    assert remarks(registry, override) == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ({"assignor.mine.dept": "2"}, "variant 'deep': -c assignor.mine.dept: assignor mine has no key 'dept'"),
        ({"assignor.mine.depth": "two"}, "variant 'deep': -c assignor.mine.depth: Invalid value two"),
    ],
)
def test_own_settings_of_a_variant_are_checked_alike(registry: Registry, own: dict[str, str], sentence: str) -> None:
    with pytest.raises(VariantError, match=re.escape(sentence)):
        configured(NO_CONFIG, "deep", own, registry)
    configured(NO_CONFIG, "deep", {"assignor.mine.depth": "2"}, registry)


@pytest.mark.slow
def test_named_code_gets_the_settings_that_no_plugin_owns(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_code.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    given = ["assignor.patient.depth=7", "assignor.silent.any=1", "assignor.mine.depth=2"]
    effective = config_sources(None, given, environ={}, start=Path("/")).effective()
    by_class = effective.values_of(registry.task_assignor("own_code:Mine", may_run_code=True))
    assert {key for key in by_class if key.startswith("assignor.")} == {"assignor.patient.depth"}
    installed = effective.values_of(registry.task_assignor("mine-of-a-third-party:mine"))
    assert {key for key in installed if key.startswith("assignor.")} == {"assignor.mine.depth"}


@pytest.mark.parametrize(
    ("type_", "written", "value"),
    [
        ("bool", "True", True),
        ("bool", False, False),
        ("float", "0.5", 0.5),
        ("float", 2, 2.0),
        ("int", " 7 ", 7),
        ("list", "a, b", ("a", "b")),
        ("list", ["a"], ("a",)),
        ("text", "a", "a"),
    ],
)
def test_values_are_read_in_the_declared_type(type_: Any, written: object, value: object) -> None:
    setting = Setting("assignor.mine.depth", type_, None, "One sentence.")
    assert setting.value_in({"assignor.mine.depth": written}) == value
    assert setting.value_in({}) is None


@pytest.mark.parametrize(
    ("type_", "written"),
    [("bool", 1), ("float", "nan"), ("float", True), ("int", True), ("int", 1.5), ("list", 3), ("text", 3)],
)
def test_values_of_other_types_are_refused(type_: Any, written: object) -> None:
    with pytest.raises(ConfigError, match=r"Invalid value .* for configuration assignor\.mine\.depth"):
        Setting("assignor.mine.depth", type_, None, "One sentence.").read(written)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (("depth", "int", 3, "One sentence."), "Setting.key"),
        (("assignor.plugins.allow", "text", "", "One sentence."), "Setting.key"),
        (("assignor.mine.depth", "number", 3, "One sentence."), "Setting.type"),
        (("assignor.mine.depth", "int", "many", "One sentence."), "Setting.default"),
        (("assignor.mine.depth", "int", 0, "One sentence.", 1), "Setting.default"),
        (("assignor.mine.depth", "int", 3, " "), "Setting.summary"),
        (("assignor.mine.depth", "int", 3, "One sentence.", "1"), "Setting.least"),
    ],
)
def test_invalid_declarations_name_the_field(fields: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(PluginDefinitionError, match=sentence):
        Setting(*fields)


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [("other", (DEPTH,), "does not begin with 'assignor.other.'"), ("mine", (DEPTH, DEPTH), "declared twice")],
)
def test_an_assignor_declares_keys_of_its_own_name_once(
    name: str, settings: tuple[Setting, ...], sentence: str
) -> None:
    with pytest.raises(PluginDefinitionError, match=sentence):
        TaskAssignorPlugin(name, object, settings=settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [None, [1], [["assignor.mine.depth", "int", 3, "x"]], [["k", "int", {}, "x", None]], [[]] * 101],
)
def test_forged_settings_are_no_answer(settings: object) -> None:
    fields = {"name": "mine", "summary": "", "aliases": [], "java_classes": [], "settings": settings}
    with pytest.raises(AnswerFormatError):
        fields_in("task-assignor", fields)
