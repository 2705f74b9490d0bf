"""Fixtures of all explanation tests: the captured states, the plugins, and no configuration."""

from __future__ import annotations

import pytest

from assignment_api.plugins import ConfigSources, config_sources
from assignor_lab.runtime.discovery import Plugins, discovered
from tests.captured_states import orders, tagged, warm

__all__ = ["orders", "tagged", "warm"]


@pytest.fixture(scope="module")
def sources() -> ConfigSources:
    return config_sources(None, [], environ={})


@pytest.fixture(scope="module")
def plugins(sources: ConfigSources) -> Plugins:
    return discovered(sources.effective())
