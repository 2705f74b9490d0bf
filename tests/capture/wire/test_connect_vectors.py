from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from assignor_lab.scenarios import DocumentFormatError
from tests.capture.wire.connect_messages import lenient, round_trips

KINDS = ("subscription", "assignment")


def _answered(direction: str, kind: str, lines: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    given = folder / "given.jsonl"
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = CliRunner().invoke(build_app(), ["wire", direction, f"connect-{kind}", str(given)])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def _without(vectors: list[dict[str, Any]], kind: str, *keys: str) -> list[dict[str, Any]]:
    return [{k: v for k, v in vector.items() if k not in keys} for vector in vectors if vector["what"] == kind]


@pytest.mark.parametrize(("kind", "number"), [("subscription", 65), ("assignment", 85)])
def test_all_vectors_decode_as_kafka_decodes_them(kind: str, number: int, tmp_path: Path) -> None:
    golden = _without(round_trips(), kind)

    assert len(golden) == number
    assert _answered("decode", kind, _without(golden, kind, "decoded"), tmp_path) == golden


@pytest.mark.parametrize(("kind", "number"), [("subscription", 65), ("assignment", 85)])
def test_all_vectors_encode_to_kafkas_bytes(kind: str, number: int, tmp_path: Path) -> None:
    golden = _without(round_trips(), kind)

    assert len(golden) == number
    assert _answered("encode", kind, _without(golden, kind, "hex"), tmp_path) == golden


@pytest.mark.parametrize(("kind", "number"), [("subscription", 18), ("assignment", 22)])
def test_odd_messages_are_read_and_refused_as_kafka_does(kind: str, number: int, tmp_path: Path) -> None:
    golden = _without(lenient(), kind)

    answers = _answered("decode", kind, _without(golden, kind, "decoded", "error"), tmp_path)

    assert len(golden) == number
    assert [answer["decoded"] for answer in answers] == [vector["decoded"] for vector in golden]
    assert [answer.get("error", {}).get("java_type") for answer in answers] == [
        (vector["error"] or {}).get("type") for vector in golden
    ]


def test_a_subscription_gets_its_version_beside_it_where_a_line_has_none(tmp_path: Path) -> None:
    golden = _without(round_trips(), "subscription")
    bare = [{"hex": vector["hex"]} for vector in golden]

    answers = _answered("decode", "subscription", bare, tmp_path)

    assert [answer["version"] for answer in answers] == [vector["version"] for vector in golden]
    assert [answer["hex"] for answer in _answered("encode", "subscription", answers, tmp_path)] == [
        vector["hex"] for vector in golden
    ]


def test_a_file_without_the_version_to_write_is_refused_with_its_place(tmp_path: Path) -> None:
    given = tmp_path / "given.jsonl"
    given.write_text('{"decoded": {"url": "u", "config_offset": 1, "assignment": null}}\n')

    result = CliRunner().invoke(build_app(), ["wire", "encode", "connect-subscription", str(given)])

    assert isinstance(result.exception, DocumentFormatError)
    assert "given.jsonl, line 1, version: " in str(result.exception)


@pytest.mark.parametrize("version", [-1, 4])
def test_a_version_that_nobody_writes_is_an_error_in_its_line(version: int, tmp_path: Path) -> None:
    line = {"version": version, "decoded": {"url": "u", "config_offset": 1, "assignment": None}}

    (answer,) = _answered("encode", "subscription", [line], tmp_path)

    assert answer["hex"] is None
    assert answer["error"]["type"] == "UnsupportedConnectVersionError"
    assert answer["error"]["java_type"] == "SchemaException"
