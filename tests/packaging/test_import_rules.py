"""Import rules beyond import-linter's contracts (pyproject.toml)."""

from __future__ import annotations

import sys

import grimp
import pytest

#: Packages that the contract and the built-ins may use in addition to the standard library.
CORE = {"attr", "attrs", "pluggy", "typeguard"}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("assignment_api", "builtin_assignors", include_external_packages=True, cache_dir=None)


def foreign_imports(graph: grimp.ImportGraph, package: str) -> dict[str, str]:
    found = {}
    for module in sorted(graph.modules):
        if module.split(".")[0] == package and not module.startswith("assignment_api.conformance"):
            for imported in graph.find_modules_directly_imported_by(module):
                found[imported.split(".")[0]] = module
    return {name: module for name, module in found.items() if name not in sys.stdlib_module_names | {package}}


def test_the_contract_imports_the_core_libraries_only(graph: grimp.ImportGraph) -> None:
    assert {name: by for name, by in foreign_imports(graph, "assignment_api").items() if name not in CORE} == {}


def test_the_built_ins_import_the_contract_and_the_core_libraries_only(graph: grimp.ImportGraph) -> None:
    allowed = CORE | {"assignment_api"}
    assert {name: by for name, by in foreign_imports(graph, "builtin_assignors").items() if name not in allowed} == {}
