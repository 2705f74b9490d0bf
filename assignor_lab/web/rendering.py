"""Templates of the page: the report's and its own."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader

from assignor_lab.documents.wording import plural
from assignor_lab.report.html import templates

__all__ = ["environment", "render"]


def render(template: str, **values: Any) -> str:
    return environment().get_template(template).render(plural=plural, **values)


@cache
def environment() -> Environment:
    """The templates; every text is escaped and made printable."""
    report = templates()
    assert report.loader is not None
    loader = ChoiceLoader([PackageLoader("assignor_lab.web", "templates"), report.loader])
    return report.overlay(loader=loader)
