"""Discovery: found plugins, survived faults, and reports."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest

import assignor_lab
from assignment_api.plugins import (
    AmbiguousPluginError,
    PluginLoadError,
    PluginRow,
    Policy,
    Registry,
    UnknownPluginError,
    UntrustedCodeError,
    discover,
    hookspecs,
)
from assignment_api.plugins.reserved import KAFKA_TASK_ASSIGNORS, is_reserved
from builtin_assignors.plugin import assignor_lab_task_assignors
from tests.plugins.installing import MISBEHAVING, install, installed_in, write_distribution

ASSIGNOR = """
    from assignment_api import TaskAssignor
    from assignment_api.plugins import TaskAssignorPlugin, hookimpl

    class Mine(TaskAssignor):
        def assign(self, application):
            raise NotImplementedError

    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin({name!r}, Mine, aliases={aliases!r}, java_classes={java_classes!r})]
"""


def assignor(name: str, aliases: tuple[str, ...] = (), java_classes: tuple[str, ...] = ()) -> str:
    return ASSIGNOR.format(name=name, aliases=aliases, java_classes=java_classes)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


def row(registry: Registry, name: str) -> PluginRow:
    (found,) = (row for row in registry.listing() if row.name == name)
    return found


# --- found ----------------------------------------------------------------------------------------


def test_the_built_ins_come_first_and_in_their_own_order() -> None:
    found = discover().task_assignors()
    ours = [each.distribution == "assignor-lab" for each in found]
    assert ours == sorted(ours, reverse=True)
    assert [each.name for each in found][:3] == ["high_availability", "sticky", "legacy_sticky"]


@pytest.mark.parametrize(
    "selector", ["high_availability", "default", "assignor-lab:high_availability", "HIGH-availability"]
)
def test_an_assignor_is_selected_by_name_alias_or_distribution(selector: str) -> None:
    assert discover().task_assignor(selector).name == "high_availability"


@pytest.mark.parametrize(
    ("java_class", "name"),
    [
        ("org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor", "sticky"),
        ("org.apache.kafka.streams.processor.internals.assignment.HighAvailabilityTaskAssignor", "high_availability"),
        ("org.apache.kafka.streams.processor.internals.assignment.LegacyStickyTaskAssignor", "legacy_sticky"),
        ("org.apache.kafka.streams.processor.internals.assignment.StickyTaskAssignor", "legacy_sticky"),
        ("org.apache.kafka.streams.processor.internals.assignment.FallbackPriorTaskAssignor", "fallback_prior"),
        ("StickyTaskAssignor", "sticky"),
        ("HighAvailabilityTaskAssignor", "high_availability"),
    ],
)
def test_a_class_of_kafka_selects_its_counterpart(java_class: str, name: str) -> None:
    assert discover().task_assignor(java_class).name == name


def test_the_built_ins_declare_the_classes_for_which_they_stand() -> None:
    declared = {
        java_class: plugin.name for plugin in assignor_lab_task_assignors() for java_class in plugin.java_classes
    }
    assert declared == {name: ours for name, ours in KAFKA_TASK_ASSIGNORS.items() if "." in name}


def test_every_name_of_a_built_in_is_reserved() -> None:
    names = [name for plugin in assignor_lab_task_assignors() for name in (plugin.name, *plugin.aliases)]
    assert [name for name in names if not is_reserved(name)] == []


def test_a_third_party_may_stand_for_its_own_java_class(site: Path) -> None:
    write_distribution(site, "port", {"port": assignor("ported", (), ("com.acme.MyAssignor",))}, {"ported": "port"})
    assert discover(installed=installed_in(site)).task_assignor("com.acme.MyAssignor").name == "ported"


def test_without_the_built_ins_the_others_still_work(site: Path) -> None:
    write_distribution(site, "alone", {"alone": assignor("alone")}, {"alone": "alone"})
    registry = discover(installed=installed_in(site)[1:])
    assert [found.name for found in registry.task_assignors()] == ["alone"]


def test_two_discoveries_list_the_same() -> None:
    assert discover().listing() == discover().listing()


# --- refused --------------------------------------------------------------------------------------


def test_two_distributions_of_one_name_are_an_error_that_names_both(site: Path) -> None:
    for name in ("left", "right"):
        write_distribution(site, name, {name: assignor("twin")}, {"twin": name})
    registry = discover(installed=installed_in(site))
    with pytest.raises(AmbiguousPluginError, match="left and right: select left:twin or right:twin"):
        registry.task_assignor("twin")
    assert registry.task_assignor("right:twin").distribution == "right"
    assert [found.name for found in registry.task_assignors()][-2:] == ["left:twin", "right:twin"]
    assert [row.status for row in registry.listing() if row.name == "twin"] == ["ambiguous", "ambiguous"]


@pytest.mark.parametrize(
    "name", ["sticky", "default", "High-Availability", "StickyTaskAssignor", "rack_aware", "kafka"]
)
def test_nobody_takes_the_name_of_a_built_in(site: Path, name: str) -> None:
    write_distribution(site, "thief", {"thief": assignor(name)}, {"thief": "thief"})
    registry = discover(installed=installed_in(site))
    assert [row.status for row in registry.listing() if row.distribution == "thief"] == ["refused"]
    assert [found.name for found in registry.task_assignors() if found.distribution == "thief"] == []


def test_nobody_takes_the_name_of_a_built_in_as_an_alias(site: Path) -> None:
    write_distribution(site, "thief", {"thief": assignor("fine", ("sticky",))}, {"thief": "thief"})
    registry = discover(installed=installed_in(site))
    assert registry.task_assignor("sticky").distribution == "assignor-lab"
    assert "belongs to assignor-lab" in row(registry, "fine").reason


def test_nobody_stands_for_a_class_of_kafka(site: Path) -> None:
    kafka = "org.apache.kafka.streams.processor.assignment.assignors.NewTaskAssignor"
    write_distribution(site, "thief", {"thief": assignor("fine", (), (kafka,))}, {"thief": "thief"})
    assert row(discover(installed=installed_in(site)), "fine").status == "refused"


def test_no_other_metric_takes_the_name_of_one_of_ours(site: Path) -> None:
    ours = discover().metrics()[0].name
    text = f"""
        from assignment_api.plugins import MetricPlugin, hookimpl

        @hookimpl
        def assignor_lab_metrics():
            return [MetricPlugin({ours!r}, "1", "none", "Mine.", lambda application, assignment: 0.0)]
    """
    write_distribution(site, "thief", {"thief": text}, {"thief": "thief"})
    registry = discover(installed=installed_in(site))
    assert registry.metric(ours).distribution == "assignor-lab"
    assert [row.status for row in registry.listing() if row.distribution == "thief"] == ["refused"]


def test_a_distribution_that_offers_a_name_twice_gets_it_once(site: Path) -> None:
    modules = {"one": assignor("same"), "two": assignor("same")}
    write_distribution(site, "double", modules, {"one": "one", "two": "two"})
    registry = discover(installed=installed_in(site))
    assert [row.status for row in registry.listing() if row.name == "same"] == ["available", "refused"]


# --- broken ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the misbehaving distribution, installed with pip."""
    return install(MISBEHAVING, tmp_path_factory.mktemp("misbehaving"))


@pytest.fixture
def broken(misbehaving: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.syspath_prepend(str(misbehaving))
    return discover(installed=installed_in(misbehaving))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("does_not_import", "ImportError"),
        ("leaves_on_import", "SystemExit"),
        ("points_nowhere", "No module named 'assignor_misbehaving.not_there'"),
    ],
)
def test_an_entry_point_that_cannot_be_imported_is_a_reason(broken: Registry, name: str, reason: str) -> None:
    found = row(broken, name)
    assert found.status == "broken"
    assert reason in found.reason
    assert found.distribution == "assignor-misbehaving"


@pytest.mark.slow
def test_a_hook_of_the_wrong_type_or_that_fails_is_a_reason(broken: Registry) -> None:
    reasons = [row.reason for row in broken.listing() if row.name == "wrong_results" and row.kind == "plugin"]
    assert [reason.partition(" as ")[0] for reason in reasons] == [
        "hook assignor_lab_task_assignors returned str, expected a list or tuple",
        "hook assignor_lab_metrics returned str",
        "hook assignor_lab_metrics returned NoneType",
        "hook assignor_lab_scenario_families failed: RuntimeError: no families today",
    ]


@pytest.mark.slow
def test_what_is_right_in_a_broken_plugin_is_still_found(broken: Registry) -> None:
    assert broken.metric("one").distribution == "assignor-misbehaving"


@pytest.mark.slow
def test_a_broken_plugin_costs_nobody_else_anything(broken: Registry) -> None:
    assert [found.name for found in broken.task_assignors()][:2] == ["high_availability", "sticky"]
    assert "raises" in [found.name for found in broken.task_assignors()]


@pytest.mark.slow
def test_selecting_a_broken_plugin_tells_its_reason(broken: Registry) -> None:
    with pytest.raises(PluginLoadError, match=r"does_not_import.*broken.*ImportError"):
        broken.task_assignor("does_not_import")


@pytest.mark.slow
def test_a_factory_that_makes_something_else_is_found_out(broken: Registry) -> None:
    with pytest.raises(PluginLoadError, match="its factory made object"):
        broken.task_assignor("makes_no_assignor").create()


@pytest.mark.slow
def test_what_a_plugin_prints_at_import_is_no_result(
    misbehaving: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(misbehaving))
    monkeypatch.delitem(sys.modules, "assignor_misbehaving.leaves_on_import", raising=False)
    discover(installed=installed_in(misbehaving))
    assert capsys.readouterr().out == ""


def test_an_unknown_hook_is_a_reason(site: Path) -> None:
    text = assignor("fine").replace("def assignor_lab_task_assignors", "def assignor_lab_task_assignor")
    write_distribution(site, "typo", {"typo": text}, {"typo": "typo"})
    reason = row(discover(installed=installed_in(site)), "typo").reason
    assert reason.startswith("unknown hook 'assignor_lab_task_assignor'; did you mean 'assignor_lab_task_assignors'")


def test_a_plugin_without_any_hook_is_a_reason(site: Path) -> None:
    write_distribution(site, "empty", {"empty": "x = 1"}, {"empty": "empty"})
    assert "implements no hook" in row(discover(installed=installed_in(site)), "empty").reason


def test_a_description_that_cannot_be_used_is_a_reason(site: Path) -> None:
    write_distribution(site, "colon", {"colon": assignor("a:b")}, {"colon": "colon"})
    assert "'a:b' is no name" in row(discover(installed=installed_in(site)), "colon").reason


def test_an_error_whose_message_cannot_be_made_is_a_reason(site: Path) -> None:
    text = "class Bad(BaseException):\n    def __str__(self):\n        raise ValueError\nraise Bad"
    write_distribution(site, "mute", {"mute": text}, {"mute": "mute"})
    assert "Bad" in row(discover(installed=installed_in(site)), "mute").reason


def test_metadata_that_cannot_be_read_costs_nobody_anything(site: Path) -> None:
    metadata = write_distribution(site, "bytes", {}, {})
    metadata.joinpath("entry_points.txt").write_bytes(b"[assignment_api]\nx = \xff\xfe")
    registry = discover(installed=installed_in(site))
    assert registry.task_assignor("sticky").distribution == "assignor-lab"
    assert [row.status for row in registry.listing() if row.distribution == "bytes"] == ["broken"]


@pytest.mark.parametrize("content", [None, b"nothing\n\n"])
def test_a_distribution_without_a_name_is_a_reason_however_many_there_are(site: Path, content: bytes | None) -> None:
    for number in range(2):
        metadata = write_distribution(site, f"nameless-{number}", {}, {f"nameless_{number}": "nowhere"})
        metadata.joinpath("METADATA").unlink()
        if content is not None:
            metadata.joinpath("METADATA").write_bytes(content)
    found = [row for row in discover(installed=installed_in(site)).listing() if row.distribution == "?"]
    assert [(row.name, row.status) for row in found] == [("nameless_0", "broken"), ("nameless_1", "broken")]
    assert all(f"nameless_{number}" in row.reason for number, row in enumerate(found))


def test_an_entry_point_that_names_nothing_is_a_reason(site: Path) -> None:
    write_distribution(site, "odd", {}, {"odd": "???"})
    assert "names '???', which is no module:object" in row(discover(installed=installed_in(site)), "odd").reason


def test_a_hook_that_returns_millions_is_a_reason(site: Path) -> None:
    text = """
        from assignment_api.plugins import hookimpl

        @hookimpl
        def assignor_lab_metrics():
            return [None] * 10_000_000
    """
    write_distribution(site, "many", {"many": text}, {"many": "many"})
    assert "returned 10,000,000 items: at most 1,000" in row(discover(installed=installed_in(site)), "many").reason


@pytest.mark.slow
def test_a_broken_distribution_without_plugins_is_none_of_our_business(site: Path) -> None:
    metadata = write_distribution(site, "leftover", {}, {})
    metadata.joinpath("METADATA").unlink()
    metadata.joinpath("entry_points.txt").unlink()
    before = discover().listing()
    assert discover(installed=[*distributions(), *installed_in(site)]).listing() == before


def test_the_user_can_still_interrupt(site: Path) -> None:
    write_distribution(site, "slow", {"slow": "raise KeyboardInterrupt"}, {"slow": "slow"})
    with pytest.raises(KeyboardInterrupt):
        discover(installed=installed_in(site))


# --- unknown names and code -----------------------------------------------------------------------


def test_an_unknown_assignor_gets_a_suggestion() -> None:
    with pytest.raises(UnknownPluginError, match="unknown assignor 'stiky'; did you mean 'sticky'"):
        discover().task_assignor("stiky")


def test_an_unknown_assignor_gets_suggestions_of_other_kinds_of_groups_last() -> None:
    with pytest.raises(UnknownPluginError, match="unknown assignor 'group_stiky'; did you mean 'group_sticky'"):
        discover().task_assignor("group_stiky")


def test_an_unknown_java_class_gets_the_known_ones() -> None:
    with pytest.raises(UnknownPluginError, match="no assignor stands for the Java class"):
        discover().task_assignor("com.acme.Mine")


CODE = "builtin_assignors.sticky:StickyTaskAssignor"


def test_code_is_not_imported_unless_it_may_run() -> None:
    with pytest.raises(UntrustedCodeError, match="only the command line"):
        discover().task_assignor(CODE)


@pytest.mark.slow
def test_code_is_imported_where_it_may_run() -> None:
    found = discover().task_assignor(CODE, may_run_code=True)
    assert found.name == CODE
    assert type(found.create()).__name__ == "StickyTaskAssignor"


@pytest.mark.slow
@pytest.mark.parametrize("selector", ["json:loads.nothing", "no_such_module_here:x", "json:__name__", "json:", "a b:c"])
def test_code_that_is_no_assignor_is_a_reason(selector: str) -> None:
    with pytest.raises(PluginLoadError):
        discover().task_assignor(selector, may_run_code=True)


@pytest.mark.slow
def test_code_in_the_working_directory_is_found(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.joinpath("my_assignor_here.py").write_text(
        "from builtin_assignors.sticky import StickyTaskAssignor\n\n\nclass Mine(StickyTaskAssignor):\n    pass\n"
    )
    monkeypatch.chdir(site)
    assert type(discover().task_assignor("my_assignor_here:Mine", may_run_code=True).create()).__name__ == "Mine"


@pytest.mark.slow
def test_blocked_code_is_not_imported(site: Path) -> None:
    site.joinpath("never_imported.py").write_text("raise SystemExit")
    with pytest.raises(PluginLoadError, match=r"blocked by assignor\.plugins\.block"):
        discover(Policy(block=("never_imported",))).task_assignor("never_imported:X", may_run_code=True)


# --- hooks ----------------------------------------------------------------------------------------


def hooks() -> list[str]:
    return [name for name in hookspecs.__all__ if name.startswith("assignor_lab_")]


@pytest.mark.parametrize("name", hooks())
def test_every_hook_is_documented(name: str) -> None:
    text = inspect.getdoc(getattr(hookspecs, name)) or ""
    guide = Path(__file__).parents[2].joinpath("docs", "how-to", "plugins.md").read_text(encoding="utf-8")
    assert len(text.split()) > 10
    assert f"`{name}`" in guide


def test_every_hook_is_exported() -> None:
    tree = ast.parse(inspect.getsource(hookspecs))
    specified = [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("assignor_lab_")
    ]
    assert sorted(specified) == sorted(hooks())


@pytest.mark.slow
def test_nothing_in_the_lab_imports_plugins_but_its_own_discovery() -> None:
    root = Path(inspect.getfile(assignor_lab)).parent
    calls = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", None)) == "discover"
    }
    # The last two run in the processes of plugins, or import the built-ins alone.
    assert calls == {
        "runtime/discovery/discovered.py",
        *("runtime/isolation/handlers.py", "runtime/isolation/launcher.py"),
    }
