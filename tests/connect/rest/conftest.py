"""Coroutines as tests run in an asyncio loop of their own."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
