"""Snapshot of the public surface of `assignment_api`, and a check for breaking changes.

The surface is the exports of `assignment_api` and its subpackages. It is stored as one stub file, which people can read
in a diff and griffe can compare.

Usage: api_snapshot.py [--write [--unreleased]]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parent.parent
SNAPSHOT = ROOT / "tests" / "api" / "assignment_api.pyi.txt"
PACKAGE = "assignment_api"
_COLOUR = re.compile(r"\x1b\[\d+m")
#: Literals of texts without commas, the only ones in this package.
_LITERAL = re.compile(r"Literal\[([^\[\]]*)\]")
_ATTRS_CLASS = ("attrs.frozen", "attrs.define", "attrs.mutable")


def main() -> int:
    """Compare, or with `--write` accept the present surface."""
    parser = argparse.ArgumentParser(description="Compare the public surface of assignment_api with its snapshot.")
    parser.add_argument("--write", action="store_true", help="accept the present surface")
    parser.add_argument(
        "--unreleased", action="store_true", help="accept a break without a new major version: no user has it yet"
    )
    options = parser.parse_args()
    present = render()
    recorded = SNAPSHOT.read_text(encoding="utf-8") if SNAPSHOT.exists() else ""
    if not options.write:
        found = complaint(recorded, present)
        print(found or "The public surface of assignment_api is the recorded one.")
        return 1 if found else 0
    broken = unannounced_breaks(recorded, present) if recorded else []
    if broken and not options.unreleased:
        print(_refusal(broken))
        return 1
    SNAPSHOT.parent.mkdir(parents=True, exist_ok=True)
    SNAPSHOT.write_text(present, encoding="utf-8")
    print(f"wrote {SNAPSHOT.relative_to(ROOT)}")
    return 0


# --- comparing ------------------------------------------------------------------------------------


def complaint(recorded: str, present: str) -> str | None:
    """The remedy for a difference, or None if there is none."""
    if broken := unannounced_breaks(recorded, present):
        return _refusal(broken)
    if recorded != present:
        return "The public surface of assignment_api grew: run `make api-snapshot` and commit the snapshot."
    return None


def unannounced_breaks(recorded: str, present: str) -> list[str]:
    """Changes that break plugins without a new major SPI version."""
    old, new = _parse(recorded), _parse(present)
    if _major(new) > _major(old):
        return []
    found = [
        _COLOUR.sub("", each.explain(griffe.ExplanationStyle.ONE_LINE)).split(": ", maxsplit=1)[-1]
        for each in griffe.find_breaking_changes(old, new)
        if each.obj.name != "SPI_VERSION"
    ]
    found += _changed_types(old, new)
    # griffe checks callers; a new abstract method breaks implementations.
    old_abstract = set(_abstract_methods(old))
    old_classes = {path.rpartition(".")[0] for path in _paths(old)}
    found += [
        f"{path}: an abstract method was added"
        for path in _abstract_methods(new)
        if path not in old_abstract and path.rpartition(".")[0] in old_classes
    ]
    return found


def _changed_types(old: griffe.Module, new: griffe.Module) -> Iterator[str]:
    """Changed types; griffe compares names, kinds and defaults."""
    after = dict(_callables(new))
    for path, before in _callables(old):
        if path not in after:
            continue
        if str(before.returns) != str(after[path].returns):
            yield f"{path}: returns {after[path].returns} instead of {before.returns}"
        for parameter in before.parameters:
            if parameter.name in after[path].parameters:
                now = after[path].parameters[parameter.name].annotation
                if not _accepts(str(parameter.annotation), str(now)):
                    yield f"{path}({parameter.name}): takes {now} instead of {parameter.annotation}"


def _accepts(before: str, now: str) -> bool:
    """True if a parameter still accepts its old values: the same type, a union with more members, or more literals."""
    return set(_members(before)) <= set(_members(now))


def _members(annotation: str) -> Iterator[str]:
    for part in annotation.split(" | "):
        literals = _LITERAL.fullmatch(part)
        if literals is None:
            yield part
        else:
            yield from (f"Literal[{value.strip()}]" for value in literals[1].split(","))


def _callables(module: griffe.Module) -> Iterator[tuple[str, griffe.Function]]:
    for function in module.functions.values():
        yield function.path, function
    for each in module.classes.values():
        for function in each.functions.values():
            yield function.path, function


def _refusal(broken: list[str]) -> str:
    listing = "\n".join(f"  {each}" for each in broken)
    return (
        f"The public surface of assignment_api breaks plugins:\n{listing}\n"
        "Keep the old form working, or raise the major number of SPI_VERSION (assignment_api/version.py), note it in "
        "CHANGELOG.md, and run `make api-snapshot`."
    )


def _parse(stub: str) -> griffe.Module:
    return griffe.visit(PACKAGE, filepath=Path(f"{PACKAGE}.pyi"), code=stub)


def _major(module: griffe.Module) -> int:
    version = module.members.get("SPI_VERSION")
    if not isinstance(version, griffe.Attribute):
        return 0
    return int(str(version.value).strip("'\"").split(".")[0])


def _abstract_methods(module: griffe.Module) -> list[str]:
    return [
        function.path
        for each in module.classes.values()
        for function in each.functions.values()
        if any("abstractmethod" in str(decorator.value) for decorator in function.decorators)
    ]


def _paths(module: griffe.Module) -> Iterator[str]:
    for each in module.classes.values():
        yield from (member.path for member in each.members.values())


# --- rendering ------------------------------------------------------------------------------------


def render() -> str:
    package = griffe.load(PACKAGE, search_paths=[str(ROOT)], resolve_aliases=True)
    assert isinstance(package, griffe.Module)
    lines = ["# The public surface of assignment_api: written by `make api-snapshot`, compared by the tests.", ""]
    shown: dict[str, str] = {}
    for face in _faces(package):
        lines += [f"# --- {face.path} ---", ""]
        for name in sorted(str(export) for export in face.exports or ()):
            thing = face.members[name]
            target = thing.final_target if isinstance(thing, griffe.Alias) else thing
            # In one flat stub the exports of later packages need unique names.
            here = name if face is package else f"{face.path.removeprefix(PACKAGE + '.').replace('.', '__')}__{name}"
            if target.path in shown:
                lines += [f"{here} = {shown[target.path]}", ""]
            else:
                shown[target.path] = here
                lines += [*_render(here, target), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _faces(package: griffe.Module) -> Iterator[griffe.Module]:
    """The package and its subpackages with an `__all__`, outer ones first."""
    if package.exports:
        yield package
    for name in sorted(package.modules):
        module = package.modules[name]
        if not name.startswith("_") and module.is_init_module:
            yield from _faces(module)


def _render(name: str, thing: griffe.Object | griffe.Alias) -> list[str]:
    if isinstance(thing, griffe.Class):
        return _render_class(name, thing)
    if isinstance(thing, griffe.Function):
        return _render_function(name, thing)
    if isinstance(thing, griffe.Attribute):
        return [_render_attribute(name, thing)]
    return [f"{name}: module"]


def _render_class(name: str, thing: griffe.Class) -> list[str]:
    decorators = [str(decorator.value) for decorator in thing.decorators]
    bases = ", ".join(str(base) for base in thing.bases)
    body: list[str] = []
    # A class with its own constructor shows it among its members.
    if any(decorator.startswith(_ATTRS_CLASS) and "init=False" not in decorator for decorator in decorators):
        body.append(f"def __init__(self, {', '.join(_fields(thing))}): ...")
    for member in thing.members.values():
        if isinstance(member, griffe.Alias) or not _is_promised(member):
            continue
        body += _render(member.name, member)
    return [
        *(f"@{decorator}" for decorator in decorators),
        f"class {name}({bases}):" if bases else f"class {name}:",
        *(f"    {line}" for line in body or ["..."]),
    ]


def _is_promised(member: griffe.Object) -> bool:
    """True for names without an underscore, and for special methods of a value."""
    return not member.name.startswith("_") or member.name in {"__init__", "__len__", "__iter__", "__call__"}


def _fields(thing: griffe.Class) -> list[str]:
    parameters = []
    for member in thing.attributes.values():
        value = str(member.value) if member.value is not None else ""
        annotation = str(member.annotation)
        if member.annotation is None or "ClassVar" in annotation:
            continue
        if "property" in member.labels or "instance-attribute" not in member.labels or "init=False" in value:
            continue
        by_field = value.startswith("attrs.field(")
        optional = ("default=" in value or "factory=" in value) if by_field else bool(value)
        # attrs accepts a private field by its name without the underscore.
        parameters.append(f"{member.name.lstrip('_')}: {annotation}" + (" = ..." if optional else ""))
    return parameters


def _render_function(name: str, thing: griffe.Function) -> list[str]:
    returns = f" -> {thing.returns}" if thing.returns is not None else ""
    lines = [f"@{decorator.value}" for decorator in thing.decorators]
    return [*lines, f"def {name}({_parameters(thing)}){returns}: ..."]


def _parameters(thing: griffe.Function) -> str:
    parts: list[str] = []
    kinds = [parameter.kind for parameter in thing.parameters]
    for place, parameter in enumerate(thing.parameters):
        kind = parameter.kind
        if kind is griffe.ParameterKind.keyword_only and not any(
            before in (griffe.ParameterKind.keyword_only, griffe.ParameterKind.var_positional)
            for before in kinds[:place]
        ):
            parts.append("*")
        star = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(kind, "")
        annotation = f": {parameter.annotation}" if parameter.annotation is not None else ""
        default = f" = {parameter.default}" if parameter.default is not None and not star else ""
        parts.append(f"{star}{parameter.name}{annotation}{default}")
        if kind is griffe.ParameterKind.positional_only and kinds[place + 1 : place + 2] != [kind]:
            parts.append("/")
    return ", ".join(parts)


def _render_attribute(name: str, thing: griffe.Attribute) -> str:
    annotation = f": {thing.annotation}" if thing.annotation is not None else ""
    if "property" in thing.labels:
        return f"{name}{annotation}  # property"
    if thing.value is None or str(thing.value).startswith("attrs."):
        return f"{name}{annotation or ': object'}"
    return f"{name}{annotation} = {thing.value}"


if __name__ == "__main__":
    sys.exit(main())
