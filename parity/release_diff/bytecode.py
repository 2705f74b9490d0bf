"""Bytecode of released classes, without what compilers and moved packages change.

Names of classes lose their packages, constants their numbers, jumps their offsets, and lambdas and accessors their
numbers. A method is equal if its remaining instructions are. If the class files of two versions were written for
different versions of Java, only calls and fields are compared, of a class together with its inner ones, since compilers
concatenate texts and reach private members of inner classes in other ways.
"""

from __future__ import annotations

import re
import subprocess
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

__all__ = ["ClassShape", "changed_methods", "is_recompiled", "methods_in", "shapes_of"]

_INSTRUCTION = re.compile(r"^\s+(\d+): (\w+)\s*([^/]*?)(?:\s*// (.*))?$")
_PACKAGES = re.compile(r"(?:\w+[/.])+(?=[\w$]+)")
_NUMBERED = re.compile(r"(lambda\$\w+?|access)\$\d+")
_METHOD = re.compile(r"^  (?! )(.*);$")
_CASE = re.compile(r"^\s+(-?\d+|default): (\d+)$")
#: Written by compilers in different ways: concatenation of texts, and access to private members.
_COMPILED = re.compile(
    r"StringBuilder|makeConcat|access|requireNonNull|getClass|nestHost|\$assertionsDisabled|lambda|<init>"
    r"|(?:toString|valueOf):\("
)
_MAJOR = slice(6, 8)
_ARITHMETIC = ("idiv", "irem", "ldiv", "ddiv", "imul", "lmul")


@attrs.frozen
class ClassShape:
    """A class, or an inner one with it.

    Args:
        methods: Signature to the instructions of each method with it.
        java: Version of the class file.
    """

    methods: Mapping[str, tuple[tuple[str, ...], ...]]
    java: int


def shapes_of(jars: Iterable[Path], names: Iterable[str]) -> dict[str, ClassShape]:
    """The named classes with their inner ones; missing classes are left out."""
    wanted = tuple(name.replace(".", "/") for name in names)
    found: dict[str, ClassShape] = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            entries = {
                entry.removesuffix(".class"): archive.read(entry)[_MAJOR]
                for entry in archive.namelist()
                if entry.endswith(".class") and entry.removesuffix(".class").partition("$")[0] in wanted
            }
        if entries:
            text = subprocess.run(
                ["javap", "-p", "-c", "-cp", str(jar), *(entry.replace("/", ".") for entry in entries)],
                check=True, capture_output=True, text=True,
            ).stdout  # fmt: skip
            for name, methods in methods_in(text).items():
                key = name.replace(".", "/")
                if key in entries:
                    found[name] = ClassShape(methods, int.from_bytes(entries[key]))
    return found


def methods_in(text: str) -> dict[str, dict[str, tuple[tuple[str, ...], ...]]]:
    """Class to the instructions of its methods, in javap's output."""
    found: dict[str, dict[str, tuple[tuple[str, ...], ...]]] = {}
    for part in re.split(r"^Compiled from .*$", text, flags=re.MULTILINE)[1:]:
        head = next(line for line in part.splitlines() if line.endswith("{"))
        name = re.search(r"(?:class|interface) ([\w.$]+)", head)
        if name is None:
            continue
        bodies: dict[str, list[list[str]]] = {}
        lines: list[str] = []
        for line in part.splitlines():
            if (method := _METHOD.match(line)) is not None:
                lines = []
                bodies.setdefault(_plain(method[1]), []).append(lines)
            else:
                lines.append(line)
        found[name[1]] = {
            signature: tuple(sorted(tuple(_instructions(body)) for body in several))
            for signature, several in bodies.items()
        }
    return found


def _plain(text: str) -> str:
    return _NUMBERED.sub(r"\1", _PACKAGES.sub("", text))


def _instructions(lines: Iterable[str]) -> list[str]:
    parsed: list[tuple[int, str, str, str | None]] = []
    for line in lines:
        if (found := _INSTRUCTION.match(line)) is not None:
            parsed.append((int(found[1]), found[2], found[3].strip(), found[4]))
        elif (case := _CASE.match(line)) is not None:
            parsed.append((-1, "case", f"{case[1]} {case[2]}", None))
    places = {offset: str(number) for number, (offset, *_) in enumerate(parsed)}
    made = []
    for _, code, operand, comment in parsed:
        plain = code.removesuffix("_w")
        if code == "case":
            value, _, target = operand.partition(" ")
            operand = f"{value} {places.get(int(target), '?')}"
        elif plain.startswith(("if", "goto")):
            operand = places.get(int(operand), "?") if operand.isdigit() else operand
        elif comment is not None:
            operand = re.sub(r"#\d+:", "", _plain(comment))
        made.append(f"{plain} {operand}".strip())
    return made


def changed_methods(old: ClassShape | None, new: ClassShape | None) -> list[str]:
    """Signatures of methods that differ, or one word if the class is there once only."""
    if old is None or new is None:
        return [] if old is new else ["(new class)" if old is None else "(gone)"]
    if old.java != new.java:
        return [] if _rough(old) == _rough(new) else ["(calls, fields or texts)"]
    names = [name for name in {**old.methods, **new.methods} if old.methods.get(name) != new.methods.get(name)]
    return sorted(names)


def is_recompiled(old: Iterable[ClassShape], new: Iterable[ClassShape]) -> bool:
    """True if a class and its inner ones differ by the compiler's version of Java alone."""
    before, after = list(old), list(new)
    if {shape.java for shape in before} == {shape.java for shape in after}:
        return False
    return _members(before) == _members(after)


def _members(shapes: Iterable[ClassShape]) -> Counter[str]:
    """Numbers of divisions, and one for each name of a member that is called or read."""
    found: Counter[str] = Counter()
    for shape in shapes:
        for name, count in _rough(shape).items():
            if name in _ARITHMETIC:
                found[name] += count
            else:
                member, _, types = name.partition(":")
                found[f"{re.split(r'[.$]', member)[-1]}:{types}"] = 1
    return found


def _rough(shape: ClassShape) -> Counter[str]:
    """Calls, fields and numbers of a class file, whatever its version of Java."""
    kept: Counter[str] = Counter()
    for several in shape.methods.values():
        for body in several:
            for line in body:
                code, _, operand = line.partition(" ")
                if code.startswith(("invoke", "getfield", "putfield")) and not _COMPILED.search(operand):
                    kept[re.sub(r"^(?:Interface)?Method |^Field |^InvokeDynamic ", "", operand)] += 1
                elif code in _ARITHMETIC:
                    kept[code] += 1
    return kept
