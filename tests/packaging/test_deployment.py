"""The container file and the manifests: as a user without rights, with commands and options that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from typer.main import get_command

from assignor_lab.capture.live.recordings import RECORDING
from assignor_lab.cli.app import build_app

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = [ROOT / "docs" / "monitoring" / name for name in ("recorder.yaml", "nightly-check.yaml")]


def documents(manifest: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(manifest.read_text(encoding="utf-8")))


def pods(value: object) -> list[dict[str, Any]]:
    """Each specification with containers, at any depth."""
    if isinstance(value, dict):
        return ([value] if "containers" in value else []) + [pod for each in value.values() for pod in pods(each)]
    return [pod for each in value for pod in pods(each)] if isinstance(value, list) else []


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.name)
def test_each_pod_runs_without_rights(manifest: Path) -> None:
    found = pods(documents(manifest))
    assert found
    for pod in found:
        assert pod["securityContext"]["runAsNonRoot"] is True
        for container in pod["containers"]:
            security = container["securityContext"]
            assert (security["allowPrivilegeEscalation"], security["readOnlyRootFilesystem"]) == (False, True)
            assert security["capabilities"] == {"drop": ["ALL"]}
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            assert mounted == {volume["name"] for volume in pod["volumes"]}


def words_of(container: dict[str, Any]) -> list[str]:
    if "command" not in container:
        return list(container["args"])
    script = container["args"][0]
    return shlex.split(script[script.index("exec assignor ") :].replace("$resume", "--resume"))[2:]


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.name)
def test_each_command_and_its_options_exist(manifest: Path) -> None:
    for pod in pods(documents(manifest)):
        for container in pod["containers"]:
            name, *words = words_of(container)
            command = get_command(build_app([name])).commands[name]  # type: ignore[attr-defined]
            known = {option for parameter in command.params for option in parameter.opts}
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known


def test_the_recorder_goes_on_with_its_recording() -> None:
    assert f"/past/groups/{RECORDING} ]" in MANIFESTS[0].read_text(encoding="utf-8")


def test_the_image_has_pinned_requirements_and_no_rights() -> None:
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8")
    users = re.findall(r"^USER (\S+)", lines, re.MULTILINE)
    assert users == ["10001"]
    assert all(pod["securityContext"]["runAsUser"] == 10001 for path in MANIFESTS for pod in pods(documents(path)))
    assert lines.count("--require-hashes") == 2
    named = re.findall(r"^COPY ((?!--)[^\n]+) \S+$", lines, re.MULTILINE)
    assert all((ROOT / file).exists() for line in named for file in line.split())


def test_the_build_gets_what_the_distribution_packs() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    lines = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    taken = {line[1:] for line in lines if line[0] == "!"}
    assert {*packed, "requirements", "pyproject.toml"} == taken
