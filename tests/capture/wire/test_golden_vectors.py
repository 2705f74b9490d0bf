from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.wire.vectors import GOLDEN, KIND_NAMES, vectors

pytestmark = pytest.mark.parametrize("kind", KIND_NAMES)


def _answered(direction: str, kind: str, lines: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    given, answered = folder / "given.jsonl", folder / "answered.jsonl.gz"
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = CliRunner().invoke(build_app(), ["wire", direction, kind, str(given), "--out", str(answered)])
    assert result.exit_code == 0, result.output
    shown = CliRunner().invoke(build_app(), ["wire", direction, kind, str(answered)])
    assert shown.exit_code == 0, shown.output
    return [json.loads(line) for line in shown.stdout.splitlines()]


def test_all_vectors_decode_as_kafka_decodes_them(kind: str, tmp_path: Path) -> None:
    golden = [vector for vector in vectors(kind) if vector["hex"] is not None]
    bare = [{key: vector[key] for key in ("version", "what", "hex")} for vector in golden]

    answers = _answered("decode", kind, bare, tmp_path)

    assert len(golden) == 71
    assert [answer["decoded"] for answer in answers] == [vector["decoded"] for vector in golden]
    assert [answer.get("error", {}).get("java_type") for answer in answers] == [
        vector.get("error", {}).get("type") for vector in golden
    ]


def test_all_vectors_encode_to_kafkas_bytes(kind: str, tmp_path: Path) -> None:
    golden = [*vectors(kind)[:60], *vectors(kind)[71:]]
    bare = [{key: vector[key] for key in ("version", "what", "decoded")} for vector in golden]

    answers = _answered("encode", kind, bare, tmp_path)

    assert len(golden) == 64
    assert [answer["hex"] for answer in answers] == [vector["hex"] for vector in golden]
    assert [answer.get("error", {}).get("java_type") for answer in answers] == [
        vector.get("error", {}).get("type") for vector in golden
    ]


def test_a_decoded_message_is_written_with_its_keys_in_the_golden_order(kind: str) -> None:
    shown = CliRunner().invoke(build_app(), ["wire", "decode", kind, str(GOLDEN / f"wire-{kind}.vectors.jsonl.gz")])

    assert [list(json.loads(line)["decoded"]) for line in shown.stdout.splitlines()[:60]] == [
        list(vector["decoded"]) for vector in vectors(kind)[:60]
    ]
