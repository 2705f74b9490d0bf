"""A plugin's output, its changes of configuration and its reports of memory do not affect other results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignment_api import ApplicationMetadata, StreamsClientAssignment, TaskAssignment, TaskAssignor
from assignment_api.plugins import config_sources
from assignor_lab.cli.main import main
from assignor_lab.groups.streams.assignor_calls import StreamsOutcome, invoke
from assignor_lab.scenarios import canonical_line
from tests.scenarios.documents import scenario, streams_document


class Printing(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        print("a line for the author")
        return TaskAssignment([StreamsClientAssignment(process) for process in application.streams_client_states()])


class Greedy(Printing):
    def configure(self, configs: Mapping[str, Any]) -> None:
        for value in configs.values():
            if isinstance(value, list):
                value.append("mine")


class Raising(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        raise ValueError(f"cannot use {object()!r}")


@attrs.frozen
class Entry:
    create: type[TaskAssignor]
    name: str = "example"
    distribution: str | None = "somebody-elses"


@pytest.mark.slow
def test_what_an_assignor_prints_is_no_result(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "in.jsonl"
    file.write_bytes(canonical_line(streams_document()))
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", f"{__name__}:Printing", str(file)])
    printed = capfd.readouterr()
    assert left.value.code == 0
    assert [json.loads(line)["assignor"] for line in printed.out.splitlines()] == [f"{__name__}:Printing"]
    assert "a line for the author" in printed.err


@pytest.mark.parametrize("from_file", [False, True])
def test_an_assignor_cannot_change_what_the_next_one_is_configured_with(tmp_path: Path, from_file: bool) -> None:
    config = {"rack.aware.assignment.tags": ["zone"]}
    file = tmp_path / "a.toml"
    file.write_text('"rack.aware.assignment.tags" = ["zone"]\nassignor.example.nested = [["a"], {b = ["c"]}]\n')
    effective = config_sources(file if from_file else None, environ={}, start=tmp_path).effective(config)
    outcome = called(Greedy, effective.values_for("example"))
    assert outcome.failure is None
    assert list(effective["rack.aware.assignment.tags"].value) == ["zone"]
    assert config == {"rack.aware.assignment.tags": ["zone"]}
    with pytest.raises((TypeError, AttributeError)):
        effective.values_for("example")["rack.aware.assignment.tags"].append("mine")
    if from_file:
        nested = effective.values_for("example")["assignor.example.nested"]
        assert nested[0] == ("a",)
        with pytest.raises(TypeError):
            nested[1]["b"] = 1


def test_a_message_does_not_say_where_an_object_lies_in_memory() -> None:
    failure = called(Raising, {}).failure
    assert failure is not None
    assert failure.message == "cannot use <object object at 0x...>"


def called(assignor: type[TaskAssignor], configs: Mapping[str, Any]) -> StreamsOutcome:
    return invoke(Entry(assignor), scenario().application, configs)
