"""API pages of the contract, and references to them.

One page for each module is written before Sphinx reads the sources. Each object is documented at its definition, once.
The page of a package lists its re-exports, and a reference through a package (`assignment_api.TaskId`) leads to the
definition.
"""

from __future__ import annotations

import ast
import pkgutil
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext import napoleon
from sphinx.ext.napoleon.docstring import GoogleDocstring

#: Folder of the pages, inside the documentation's sources; not under version control.
GENERATED = "api/generated"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_config_value("api_pages_package", "", "env", str)
    app.connect("builder-inited", write_pages)
    app.connect("missing-reference", follow_face)
    napoleon.GoogleDocstring = TypedGoogleDocstring
    return {"parallel_read_safe": True}


# --- pages ----------------------------------------------------------------------------------------


def write_pages(app: Sphinx) -> None:
    """Write the pages, and remove those of deleted modules."""
    package = Path(app.config.api_pages_package)
    target = Path(app.srcdir, GENERATED)
    target.mkdir(parents=True, exist_ok=True)
    pages = {}
    for source in sorted(package.rglob("*.py")):
        parts = (package.name, *source.relative_to(package).with_suffix("").parts)
        if any(part.startswith("_") and part != "__init__" for part in parts):
            continue
        name = ".".join(part for part in parts if part != "__init__")
        tree = ast.parse(source.read_text(encoding="utf-8"))
        pages[name] = face_page(name, tree) if parts[-1] == "__init__" else module_page(name)
        unlinked = [*type_names(tree), *private_classes(tree)]
        app.config.nitpick_ignore_regex.extend((r"py:.*", rf"(?:{name}\.)?{each}") for each in unlinked)
    for name, text in pages.items():
        page = target / f"{name}.md"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
    for page in target.glob("*.md"):
        if page.stem not in pages:
            page.unlink()


def module_page(name: str) -> str:
    """A page for a module with definitions."""
    return f"# `{name}`\n\n```{{eval-rst}}\n.. automodule:: {name}\n```\n"


def face_page(name: str, tree: ast.Module) -> str:
    """A page for a package: its docstring, and its re-exports."""
    root = name.split(".", maxsplit=1)[0]
    rows = [
        f"* `{alias.asname or alias.name}` from {{py:mod}}`{node.module}`"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{root}.")
        for alias in node.names
    ]
    listing = "\n".join(["## What it re-exports", "", *rows, ""]) if rows else ""
    return f"# `{name}`\n\n```{{eval-rst}}\n.. automodule:: {name}\n   :no-members:\n```\n\n{listing}"


def type_names(tree: ast.Module) -> list[str]:
    """Names of a module for types without a class.

    A type alias or type variable is data to autodoc, while annotations refer to it as to a class.
    """
    names = []
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp()):
                if name.lstrip("_")[:1].isupper() and not name.isupper():
                    names.append(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="TypeVar" | "ParamSpec"))):
                names.append(name)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                names.append(name)
            case _:
                pass
    return names


def private_classes(tree: ast.Module) -> list[str]:
    """Private classes of a module, which have no entry and occur in signatures."""
    exported: set[str] = set()
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=names) | ast.Tuple(elts=names)):
                exported.update(name.value for name in names if isinstance(name, ast.Constant))
            case _:
                pass
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name not in exported]


# --- references -----------------------------------------------------------------------------------


def follow_face(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement
) -> nodes.reference | None:
    """Resolve a reference to an imported name by its definition."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py":
        return None
    for path in (target, f"{node.get('py:module')}.{target}"):
        home = _home(path)
        if home is not None and home != target:
            domain = env.domains.python_domain
            found = domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], home, node, contnode)
            if found is not None:
                return found
    return None


def _home(path: str) -> str | None:
    """Module of the definition of a dotted path, or None."""
    if not path.startswith("assignment_api"):
        return None
    try:
        thing = pkgutil.resolve_name(path)
        return f"{thing.__module__}.{thing.__qualname__}"
    except (ImportError, AttributeError, ValueError):
        return None


# --- docstrings -----------------------------------------------------------------------------------


class TypedGoogleDocstring(GoogleDocstring):
    """Google-style docstrings of typed code: the text before a colon is no type."""

    def _parse_attribute_docstring(self) -> list[str]:
        return list(self._consume_to_end())

    def _consume_returns_section(self, *_: bool, **__: bool) -> list[tuple[str, str, list[str]]]:
        lines = self._dedent(self._consume_to_next_section())
        return [("", "", lines)] if lines else []
