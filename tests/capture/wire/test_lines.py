from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.cli.main import main
from tests.capture.wire.vectors import vectors

GOOD = vectors("subscription")[0]


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["wire", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def written(folder: Path, *documents: Any) -> Path:
    file = folder / "messages.jsonl"
    file.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return file


def test_other_keys_stay_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"note": "mine", "hex": GOOD["hex"], "more": [1, {"a": None}]}

    assert run("decode", "subscription", written(tmp_path, line)) == 0

    assert list(json.loads(capsys.readouterr().out).items()) == [*line.items(), ("decoded", GOOD["decoded"])]


def test_an_old_error_goes_when_the_message_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"hex": GOOD["hex"], "decoded": None, "error": {"type": "Old", "java_type": None, "message": "gone"}}

    assert run("decode", "subscription", written(tmp_path, line)) == 0

    assert json.loads(capsys.readouterr().out) == {"hex": GOOD["hex"], "decoded": GOOD["decoded"]}


def test_a_refused_message_says_at_which_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("decode", "assignment", written(tmp_path, {"hex": "0000000b0000000bffffffff"})) == 0

    assert json.loads(capsys.readouterr().out) == {
        "hex": "0000000b0000000bffffffff",
        "decoded": None,
        "error": {
            "type": "CorruptMessageError",
            "java_type": "TaskAssignmentException",
            "message": "byte 8: -1 active tasks in a message of 12 bytes",
        },
    }


def test_lines_without_a_message_stay_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("decode", "subscription", written(tmp_path, {"hex": None, "id": 1})) == 0
    assert run("encode", "subscription", written(tmp_path, {"decoded": None, "id": 2})) == 0

    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"hex": None, "id": 1},
        {"decoded": None, "id": 2},
    ]


@pytest.mark.parametrize(
    ("direction", "line", "reason"),
    [
        ("decode", {"version": 1}, 'hex: required key "hex" is missing'),
        ("decode", {"hex": "0g"}, "hex: expected pairs of hexadecimal digits"),
        ("decode", {"hex": "abc"}, "hex: expected pairs of hexadecimal digits"),
        ("decode", {"hex": 5}, "hex: expected a text, found 5"),
        ("decode", [1], "expected a message (a JSON object), found a list"),
        ("encode", {"version": 1}, 'decoded: required key "decoded" is missing'),
        ("encode", {"version": 1, "decoded": {"version": 1}}, "is missing"),
        ("encode", {"version": 2, "decoded": GOOD["decoded"]}, "version: is 2 (a number), but decoded.version is 1"),
        (
            "encode",
            {"decoded": {**GOOD["decoded"], "task_offset_sums": {"x": 1}}},
            '"x" is no task id',
        ),
        ("encode", {"decoded": {**GOOD["decoded"], "unique_field": 128}}, "decoded.unique_field: expected a whole"),
        ("encode", {"decoded": {**GOOD["decoded"], "process_id": "1"}}, "is no process id"),
    ],
)
def test_a_line_that_is_no_message_ends_with_2_and_its_place(
    direction: str, line: Any, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"

    assert run(direction, "subscription", written(tmp_path, GOOD, line), "--out", out) == 2

    error = capsys.readouterr().err
    assert "messages.jsonl, line 2" in error
    assert reason in error
    assert not out.exists()


def test_an_unknown_kind_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("decode", "telegram", written(tmp_path, GOOD)) == 2

    assert "'telegram' is no kind of message: subscription, assignment" in capsys.readouterr().err
