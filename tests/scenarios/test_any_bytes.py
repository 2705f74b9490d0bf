"""Any bytes give scenarios, or a DocumentFormatError."""

from __future__ import annotations

import gzip
import io
import json
from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from assignment_api import AssignorLabError
from assignor_lab.scenarios import DocumentFormatError, read_scenarios
from tests.scenarios.documents import streams_document

VALID = json.dumps(streams_document()).encode()

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def read_anything(data: bytes) -> None:
    with suppress(DocumentFormatError):
        for scenario in read_scenarios(io.BytesIO(data)):
            if scenario.kind == "streams":
                with suppress(AssignorLabError):
                    scenario.application.compute_task_lags()


@given(st.binary())
@example(b"")
@example(b"\x1f")
@example(b"\x1f\x8b")
@example(b"null")
@example(b'{"format":1,"kind":[]}')
@example(b'{"format":1e400,"kind":"streams"}')
def test_any_bytes(data: bytes) -> None:
    read_anything(data)
    read_anything(gzip.compress(data))


@given(st.integers(0, len(VALID) - 1), st.binary(max_size=4), st.integers(0, 4))
def test_a_valid_line_with_a_few_bytes_exchanged(at: int, put: bytes, taken: int) -> None:
    read_anything(VALID[:at] + put + VALID[at + taken :])


@st.composite
def bent_documents(draw: st.DrawFn) -> Any:
    document: Any = streams_document()
    parent: Any = document
    key: Any = draw(st.sampled_from(list(document)))
    while isinstance(parent[key], (dict, list)) and parent[key] and draw(st.booleans()):
        parent = parent[key]
        key = draw(st.sampled_from(list(parent) if isinstance(parent, dict) else range(len(parent))))
    parent[key] = draw(json_values)
    return document


@given(bent_documents())
def test_a_valid_document_with_any_value_in_any_place(document: Any) -> None:
    read_anything(json.dumps(document).encode())
