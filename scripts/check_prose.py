"""Check that docstrings, comments and Markdown pages are written in plain English.

An area is a top-level folder, or a file of the root. The check measures its code (docstrings and comments), its
messages (other strings of its code) and its docs (Markdown without code blocks and tables). It counts three groups of
words per 1,000 words, and the words of a sentence at the 90th percentile. A line of Markdown has one sentence or at
most 160 characters. `LIMITS` holds the limits.

Usage: check_prose.py [--worst N] [PATH...]
The exit code is 1 if an area is over a limit. With a PATH, the figures are printed too.
"""

from __future__ import annotations

import argparse
import ast
import heapq
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import attrs

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ("pronouns", "talk", "what", "sentence", "lines")
#: Per 1,000 words pronouns, talk, what; words of a sentence at the 90th percentile; long lines of several sentences.
LIMITS = {"code": (1.0, 1.0, 2.0, 20, 0), "messages": (1.0, 1.0, 2.0, 25, 0), "docs": (1.5, 1.5, 2.0, 28, 0)}
SUFFIXES = {"code": ".py", "messages": ".py", "docs": ".md"}
LINE_CHARACTERS = 160

_GROUPS = {
    # Pronouns where a member, an assignor or a caller could be named.
    "pronouns": "who whom whose whoever whomever nobody somebody anybody everybody anyone someone everyone",
    # Software does not talk: it reads, reports, requests, receives, returns.
    "talk": "tell tells told telling say says said saying ask asks asked asking hear hears heard",
    # A clause where a noun would do.
    "what": "what whatever",
}
_GROUP = {name: re.compile(rf"\b(?:{'|'.join(words.split())})\b", re.IGNORECASE) for name, words in _GROUPS.items()}
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*x])")
_LIST_ITEM = re.compile(r"(?:^|\s)(?:[*-]|\d+\.)\s+(?=\S)")
_MARKDOWN_CODE = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^>]*>")
_DOCSTRING_CODE = re.compile(r"``?[^`]*``?|:\w+:")
_DOCSTRING_PART = re.compile(r"\n\s*\n|\n(?=\s*\w+: )")
#: Generated or installed files, at any depth.
_SKIPPED = frozenset({".venv", "build", "_build", "generated", "node_modules", ".git"})
#: Areas with test data and word lists in their strings.
_WITHOUT_MESSAGES = frozenset({"scripts", "tests"})


@attrs.frozen
class Passage:
    """A paragraph, list item or comment line with the place of its first line."""

    path: Path
    line: int
    text: str

    def words(self) -> int:
        return len(_WORD.findall(self.text))

    def count(self, group: str) -> int:
        return len(_GROUP[group].findall(self.text))

    def sentences(self) -> list[int]:
        """Return the words of each sentence that has at least three."""
        parts = _SENTENCE_END.split(" ".join(self.text.split()))
        return [words for words in (len(_WORD.findall(part)) for part in parts) if words > 2]


@attrs.frozen
class Prose:
    """The text of one area, of one kind (a key of `LIMITS`)."""

    area: str
    kind: str
    passages: Sequence[Passage]
    #: Markdown lines over 160 characters that hold more than one sentence.
    long_lines: Sequence[Passage]

    def figures(self) -> tuple[float, ...]:
        """Return the measured figures in the order of `FIGURES`."""
        words = sum(each.words() for each in self.passages) or 1
        rates = [1000 * sum(each.count(group) for each in self.passages) / words for group in _GROUPS]
        lengths = sorted(length for each in self.passages for length in each.sentences())
        percentile = lengths[min(len(lengths) - 1, int(0.9 * len(lengths)))] if lengths else 0
        return (*rates, percentile, len(self.long_lines))

    def worst(self, figure: str, count: int) -> list[Passage]:
        """Return the passages that weigh most in the figure, the worst first."""
        if figure == "lines":
            return list(self.long_lines[:count])
        weight: Callable[[Passage], int] = (
            (lambda each: max(each.sentences(), default=0)) if figure == "sentence" else lambda each: each.count(figure)
        )
        return [each for each in heapq.nlargest(count, self.passages, key=weight) if weight(each)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that docstrings, comments and pages are in plain English.")
    parser.add_argument("paths", nargs="*", type=Path, help="measure these instead of the repository")
    parser.add_argument("--worst", type=int, default=5, help="places shown for a figure over its limit")
    options = parser.parse_args()
    measured = list(read_paths(options.paths) if options.paths else read_root(ROOT))
    if options.paths:
        print("\n".join(summary(each) for each in measured))
    found = [line for each in measured for line in faults(each, options.worst)]
    print("\n".join(found) or "Every area is within its limits of plain English.")
    return 1 if found else 0


# --- reading --------------------------------------------------------------------------------------


def read_root(root: Path) -> Iterator[Prose]:
    return read_paths(each for each in sorted(root.iterdir()) if each.name not in _SKIPPED)


def read_paths(paths: Iterable[Path]) -> Iterator[Prose]:
    """Measure each path by itself, once for each kind of text in it."""
    for path in paths:
        for kind, suffix in SUFFIXES.items():
            files = _files(path, suffix)
            if files and not (kind == "messages" and path.name in _WITHOUT_MESSAGES):
                yield _read(path.name, kind, files)


def _read(area: str, kind: str, files: Sequence[Path]) -> Prose:
    texts = [(each, each.read_text(encoding="utf-8")) for each in files]
    if kind == "docs":
        blanked = [(path, _without_fences(text)) for path, text in texts]
        passages = [each for path, text in blanked for each in _markdown_passages(path, text)]
        return Prose(area, kind, passages, [each for path, text in blanked for each in _long_lines(path, text)])
    passages_of = _messages if kind == "messages" else _python_passages
    return Prose(area, kind, [each for path, text in texts for each in passages_of(path, text)], ())


def _files(path: Path, suffix: str) -> list[Path]:
    if path.is_file():
        return [path] if path.suffix == suffix else []
    inside = (each for each in path.rglob(f"*{suffix}") if not _SKIPPED.intersection(each.relative_to(path).parts))
    return sorted(inside)


def _without_fences(text: str) -> str:
    """Return Markdown with its code blocks as empty lines, so that line numbers stay."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = line[:3] if line.startswith(("```", "~~~")) else ""
        lines.append("" if fence or mark else line)
        if mark and not fence:
            fence = mark
        elif mark == fence:
            fence = ""
    return "\n".join(lines)


def _markdown_passages(path: Path, text: str) -> Iterator[Passage]:
    first, block = 1, list[str]()
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.strip():
            first = first if block else number
            block.append(line)
            continue
        prose = _MARKDOWN_CODE.sub(" x ", " ".join(each for each in block if _is_prose(each)))
        yield from _worth_measuring(Passage(path, first, item) for item in _LIST_ITEM.split(prose))
        block = []


def _is_prose(line: str) -> bool:
    """Return False for tables, headings, HTML, link definitions and pictures."""
    return not line.lstrip().startswith(("|", "#", "<", "[", "!"))


def _long_lines(path: Path, text: str) -> Iterator[Passage]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LINE_CHARACTERS and _is_prose(line):
            passage = Passage(path, number, _MARKDOWN_CODE.sub(" x ", line))
            if len(passage.sentences()) > 1:
                yield passage


def _python_passages(path: Path, text: str) -> Iterator[Passage]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            parts = _DOCSTRING_PART.split(ast.get_docstring(node) or "")
            place = node.body[0].lineno if node.body else 1
            yield from _worth_measuring(Passage(path, place, _DOCSTRING_CODE.sub(" x ", part)) for part in parts)
    comments = (each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type == tokenize.COMMENT)
    yield from _worth_measuring(Passage(path, each.start[0], each.string.lstrip("#: ")) for each in comments)


def _messages(path: Path, text: str) -> Iterator[Passage]:
    """Return the string literals that are sentences: not docstrings, and of several words."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    skipped |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    found = (
        Passage(path, node.lineno, _DOCSTRING_CODE.sub(" x ", literal))
        for node in nodes
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in skipped
        if " " in (literal := _literal(node))
    )
    yield from _worth_measuring(found)


def _literal(node: ast.JoinedStr | ast.Constant) -> str:
    """Return the text of a string with " x " for each inserted value; empty for other constants."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else " x " for part in node.values)
    return node.value if isinstance(node.value, str) else ""


def _worth_measuring(passages: Iterable[Passage]) -> Iterator[Passage]:
    return (each for each in passages if each.words() > 3)


# --- judging --------------------------------------------------------------------------------------


def faults(prose: Prose, worst: int = 5) -> list[str]:
    lines = []
    for figure, value, limit in zip(FIGURES, prose.figures(), LIMITS[prose.kind], strict=True):
        if value > limit:
            lines.append(f"{prose.area} ({prose.kind}): {figure} {_rounded(value)}, the limit is {_rounded(limit)}")
            lines += [_place(each) for each in prose.worst(figure, worst)]
    return lines


def summary(prose: Prose) -> str:
    figures = zip(FIGURES, prose.figures(), strict=True)
    words = sum(each.words() for each in prose.passages)
    return f"{prose.area} ({prose.kind}): {words} words, " + ", ".join(
        f"{key} {_rounded(value)}" for key, value in figures
    )


def _place(passage: Passage) -> str:
    path = passage.path.relative_to(ROOT) if passage.path.is_relative_to(ROOT) else passage.path
    return f"  {path}:{passage.line}: {' '.join(passage.text.split())[:200]}"


def _rounded(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


if __name__ == "__main__":
    sys.exit(main())
