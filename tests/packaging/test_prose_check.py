"""The check of plain English measures and fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.check_prose import Prose, faults, read_paths, summary

RIDDLE = "Whoever asks is told what nobody can say, and what that is tells nobody what the caller asked for at all."
PLAIN = "The assignor returns one assignment per member. Members without tasks are included."


def measured(path: Path, text: str, kind: str = "") -> Prose:
    path.write_text(text, encoding="utf-8")
    found = {prose.kind: prose for prose in read_paths([path])}
    return found[kind or next(iter(found))]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("module.py", f'"""{RIDDLE}"""\n'),
        ("module.py", f'def assign():\n    """Assign.\n\n    {RIDDLE}\n    """\n'),
        ("module.py", f"# {RIDDLE}\n"),
        ("page.md", f"{RIDDLE}\n"),
        ("page.md", f"1. {RIDDLE}\n2. {PLAIN}\n"),
    ],
    ids=["module", "function", "comment", "paragraph", "list"],
)
def test_riddles_are_over_the_limits(tmp_path: Path, name: str, text: str) -> None:
    found = "\n".join(faults(measured(tmp_path / name, text)))
    for figure in ("pronouns", "talk", "what"):
        assert f": {figure} " in found
    assert f"{name}:" in found
    assert "Whoever asks is told" in found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("module.py", f'"""{PLAIN}"""\n'),
        ("module.py", f'TEXT = "{RIDDLE}"\n'),
        ("module.py", '"""Read `who_asked`, then return ``what`` as it is."""\n'),
        ("page.md", f"{PLAIN}\n"),
        ("page.md", f"{PLAIN}\n\n```\n{RIDDLE}\n```\n\n| {RIDDLE} |\n"),
        ("page.md", f"{PLAIN} [Source](https://example.org/who-tells-what).\n"),
    ],
    ids=["docstring", "literal", "names", "paragraph", "code and table", "link"],
)
def test_plain_text_and_code_pass(tmp_path: Path, name: str, text: str) -> None:
    assert faults(measured(tmp_path / name, text)) == []


def test_long_sentences_are_over_the_limit(tmp_path: Path) -> None:
    found = faults(measured(tmp_path / "page.md", f"{'word ' * 29}word.\n"))
    assert found[0] == "page.md (docs): sentence 30, the limit is 28"


def test_long_line_of_two_sentences_fails_and_of_one_passes(tmp_path: Path) -> None:
    path, sentence = tmp_path / "page.md", f"{'assignments ' * 13}end."
    assert faults(measured(path, f"{sentence}\n")) == []
    assert faults(measured(path, f"{sentence} Another sentence follows.\n"))[0].startswith("page.md (docs): lines 1")


def test_list_items_that_begin_with_code_are_passages_of_their_own(tmp_path: Path) -> None:
    items = "".join(f"- `name{number}` {'word ' * 20}\n" for number in range(3))
    assert faults(measured(tmp_path / "page.md", items)) == []


@pytest.mark.parametrize(
    "source",
    [
        f'raise ValueError("{RIDDLE}")\n',
        f'print(f"{{name}}: {RIDDLE}")\n',
        f'HELP = ("{RIDDLE[:50]}"\n    "{RIDDLE[50:]}")\n',
    ],
    ids=["literal", "with a value", "of two lines"],
)
def test_messages_have_limits_of_their_own(tmp_path: Path, source: str) -> None:
    path = tmp_path / "module.py"
    found = "\n".join(faults(measured(path, source, "messages")))
    assert "module.py (messages): pronouns" in found
    assert f"{path}:1: " in found
    assert faults(measured(path, source, "code")) == []


def test_docstrings_names_and_inserted_values_are_no_messages(tmp_path: Path) -> None:
    error = 'ValueError(f"{who}, {what} and {told} differ a lot")'
    source = f'"""{RIDDLE}"""\nPLACE = "lab.asked.what:tell"\nraise {error}\n'
    assert summary(measured(tmp_path / "module.py", source, "messages")).startswith(
        "module.py (messages): 7 words, pronouns 0, talk 0, what 0"
    )


def test_strings_of_tests_are_not_measured(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_names.py").write_text(f'LINE = "{RIDDLE}"\n', encoding="utf-8")
    assert [prose.kind for prose in read_paths([folder])] == ["code"]
