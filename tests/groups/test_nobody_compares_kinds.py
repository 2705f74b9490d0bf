"""Above the package ``groups``, no code branches on the kind of group."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from assignor_lab.groups.entries import entries

LAB = Path(__file__).parents[2] / "assignor_lab"
#: Lower packages, and those about one kind: Kafka's rules, formats, simulations.
BELOW = {"documents", "kafka", "scenarios", "runtime", "simulation", "groups"}
KINDS = {entry.name for entry in entries()} | {"streams-episode"}
PLUGINS = {entry.plugins for entry in entries()}
TEMPLATE = re.compile(r"[=!]=\s*[\"']({})[\"']".format("|".join(map(re.escape, sorted(KINDS | PLUGINS)))))


def sources_above(suffix: str) -> list[Path]:
    return sorted(path for path in LAB.rglob(f"*{suffix}") if path.relative_to(LAB).parts[0] not in BELOW)


def texts(node: ast.AST) -> set[str]:
    return {inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and isinstance(inner.value, str)}


def choices(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.pattern, set[str]]]:
    """Each comparison, match or lookup, and the forbidden names in it.

    Plugins have kinds, too: a list of plugins may have headings for them, but no code chooses by them.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield node, KINDS | PLUGINS
        elif isinstance(node, ast.match_case):
            yield node.pattern, KINDS | PLUGINS
        elif isinstance(node, ast.Subscript):
            yield node.slice, KINDS | PLUGINS
        elif isinstance(node, ast.Dict):
            yield from ((key, KINDS) for key in node.keys if key is not None)


def is_word(path: Path, names: set[str]) -> bool:
    """True for words of the command line: a command, an extra, a protocol, or a layout of `assignor new`."""
    words = {
        LAB / "cli" / "app.py": {"connect"},
        LAB / "cli" / "missing_extras.py": {"connect"},
        LAB / "cli" / "simulate.py": {"streams"},
        LAB / "new" / "laying_out.py": {"streams", "connect", "consumer"},
    }
    return names <= words.get(path, set())


def comparisons(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(LAB)}, line {choice.lineno}: {ast.unparse(choice)}"
        for choice, names in choices(tree)
        if (named := texts(choice) & names) and "group.protocol" not in texts(choice) and not is_word(path, named)
    ]


def test_the_rooms_above_are_looked_at() -> None:
    rooms = {path.relative_to(LAB).parts[0] for path in sources_above(".py")}
    assert {"capture", "cli", "connect", "report", "run.py", "scoring"} <= rooms
    assert {"streams", "streams-group", "connect", "connect-episode"} <= KINDS


@pytest.mark.parametrize("path", sources_above(".py"), ids=lambda path: str(path.relative_to(LAB)))
def test_no_module_compares_kinds(path: Path) -> None:
    assert comparisons(path) == []


@pytest.mark.parametrize("path", [*sources_above(".j2"), *sources_above(".js")], ids=lambda path: path.name)
def test_no_page_compares_kinds(path: Path) -> None:
    assert TEMPLATE.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('if scenario.kind == "connect": pass', True),
        ('if kind in ("streams", "x"): pass', True),
        ('handlers = {"streams-group": 1}', True),
        ('match kind:\n    case "connect-episode": pass', True),
        ('row.kind != "task-assignor"', True),
        ('document = make("connect")', False),
    ],
)
def test_what_counts_as_a_comparison(code: str, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.groups.test_nobody_compares_kinds.LAB", tmp_path)
    path = tmp_path / "code.py"
    path.write_text(code)
    assert bool(comparisons(path)) is found
