"""Allow-list, block-list and pins prevent imports."""

from __future__ import annotations

import base64
import hashlib
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

from assignment_api.errors import ConfigError
from assignment_api.plugins import Pin, PluginLoadError, Policy, Registry, discover, record_sha256
from tests.plugins.installing import installed_in, write_distribution

PLUGIN = """
    from assignment_api import TaskAssignor
    from assignment_api.plugins import TaskAssignorPlugin, hookimpl

    class Mine(TaskAssignor):
        def assign(self, application):
            raise NotImplementedError

    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin("first", Mine), TaskAssignorPlugin("second", Mine)]
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with distribution `acme-assignors`, entry point `acme`, module `acme_plugin`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_plugin", raising=False)
    metadata = write_distribution(tmp_path, "acme-assignors", {"acme_plugin": PLUGIN}, {"acme": "acme_plugin"})
    digest = hashlib.sha256(tmp_path.joinpath("acme_plugin.py").read_bytes()).digest()
    recorded = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    metadata.joinpath("RECORD").write_text(f"acme_plugin.py,sha256={recorded},9\n{metadata.name}/RECORD,,\n")
    return tmp_path


def found(policy: Policy, site: Path) -> Registry:
    return discover(policy, installed_in(site))


def names(registry: Registry) -> list[str]:
    return [found.name for found in registry.task_assignors() if found.distribution == "acme-assignors"]


def record_hash(site: Path) -> str:
    (distribution,) = distributions(path=[str(site)])
    digest = record_sha256(distribution)
    assert digest is not None
    return digest


def test_everything_installed_is_available_without_a_policy(site: Path) -> None:
    assert names(found(Policy(), site)) == ["first", "second"]


@pytest.mark.parametrize("item", ["acme-assignors", "Acme.Assignors", "acme", "acme-assignors:acme"])
def test_what_is_blocked_is_never_imported(site: Path, item: str) -> None:
    registry = found(Policy(block=(item,)), site)
    assert names(registry) == []
    assert "acme_plugin" not in sys.modules
    with pytest.raises(PluginLoadError, match=r"blocked by assignor\.plugins\.block"):
        registry.task_assignor("acme-assignors:acme")


def test_one_assignor_of_a_plugin_can_be_blocked_by_its_name(site: Path) -> None:
    registry = found(Policy(block=("second",)), site)
    assert names(registry) == ["first"]
    with pytest.raises(PluginLoadError, match="blocked"):
        registry.task_assignor("second")


def test_a_built_in_can_be_blocked(site: Path) -> None:
    registry = found(Policy(block=("sticky",)), site)
    assert "sticky" not in [found.name for found in registry.task_assignors()]
    with pytest.raises(PluginLoadError, match="'sticky' of assignor-lab"):
        registry.task_assignor("org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor")


def test_what_the_allow_list_does_not_name_is_never_imported(site: Path) -> None:
    registry = found(Policy(allow=("something-else",)), site)
    assert names(registry) == []
    assert "acme_plugin" not in sys.modules
    assert registry.task_assignor("sticky").distribution == "assignor-lab"


@pytest.mark.parametrize("item", ["acme-assignors", "acme", "acme-assignors:acme"])
def test_the_allow_list_names_distributions_or_plugins(site: Path, item: str) -> None:
    assert names(found(Policy(allow=(item,)), site)) == ["first", "second"]


def test_the_block_list_wins_over_the_allow_list(site: Path) -> None:
    assert names(found(Policy(allow=("acme",), block=("acme",)), site)) == []


def test_an_item_that_matches_nothing_is_reported(site: Path) -> None:
    policy = Policy(allow=("acme",), block=("acme-asignors",), pins=(Pin("acmee", "1"),))
    rows = [(row.name, row.status) for row in found(policy, site).listing() if row.kind == "policy"]
    assert rows == [("acme-asignors", "unused"), ("acmee", "unused")]


def test_another_version_than_the_pinned_one_is_never_imported(site: Path) -> None:
    registry = found(Policy(pins=(Pin("acme-assignors", "1.1"),)), site)
    assert names(registry) == []
    assert "acme_plugin" not in sys.modules
    assert any("pinned to version 1.1" in row.reason for row in registry.listing())


def test_the_pinned_version_is_imported(site: Path) -> None:
    assert names(found(Policy(pins=(Pin("Acme_Assignors", "1.0"),)), site)) == ["first", "second"]


def test_the_pinned_record_is_imported(site: Path) -> None:
    pin = Pin.parse(f"acme-assignors==1.0@sha256:{record_hash(site).upper()}")
    assert names(found(Policy(pins=(pin,)), site)) == ["first", "second"]


def test_another_record_than_the_pinned_one_is_never_imported(site: Path) -> None:
    registry = found(Policy(pins=(Pin("acme-assignors", "1.0", "0" * 64),)), site)
    assert "acme_plugin" not in sys.modules
    assert any(f"sha256:{record_hash(site)}" in row.reason for row in registry.listing())


def test_a_file_that_was_changed_after_its_record_was_pinned_is_never_imported(site: Path) -> None:
    pin = Pin("acme-assignors", "1.0", record_hash(site))
    with site.joinpath("acme_plugin.py").open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    registry = found(Policy(pins=(pin,)), site)
    assert "acme_plugin" not in sys.modules
    assert any("acme_plugin.py was changed" in row.reason for row in registry.listing())


@pytest.mark.parametrize("text", ["", "acme", "acme=1", "acme==", "acme==1@sha256:12", "==1", "a b==1"])
def test_what_is_no_pin_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is no pin"):
        Pin.parse(text)
