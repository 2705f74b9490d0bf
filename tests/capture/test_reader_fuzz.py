from __future__ import annotations

import pytest

from tests.capture.reader_fuzz import fuzz


@pytest.mark.slow
def test_mutated_messages_end_in_values_or_typed_errors() -> None:
    found = fuzz(3_000)
    assert min(found.values()) > 300
