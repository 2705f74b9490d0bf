"""Messages of plain consumers beside the vectors of Kafka's own classes."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.kafka.wire import KINDS, decode_lines, encode_lines

GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "consumer"
OF_VECTOR = {
    "subscription": "consumer-subscription",
    "assignment": "consumer-assignment",
    "sticky_user_data": "consumer-sticky-user-data",
    "cooperative_user_data": "consumer-cooperative-user-data",
}


def vectors(name: str) -> list[dict[str, Any]]:
    with gzip.open(GOLDEN / f"wire-{name}.vectors.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [vector for vector in map(json.loads, lines) if vector["hex"] is not None]


def line(vector: dict[str, Any], *keys: str) -> io.BytesIO:
    return io.BytesIO(json.dumps({key: vector[key] for key in keys}).encode() + b"\n")


@pytest.mark.parametrize("name", ["subscription", "assignment", "user-data"])
def test_bytes_are_read_and_refused_as_by_kafka(name: str) -> None:
    for vector in vectors(name):
        (found,) = decode_lines(KINDS[OF_VECTOR[vector["what"]]], line(vector, "version", "hex"))
        assert found["decoded"] == vector["decoded"], vector
        error = found.get("error")
        assert (error and error["java_type"]) == (vector["error"] and vector["error"]["type"]), vector


@pytest.mark.parametrize("name", ["subscription", "assignment", "user-data"])
def test_kafkas_own_bytes_are_written_again(name: str) -> None:
    own = [vector for vector in vectors(name) if vector["damage"] is None]
    assert own
    for vector in own:
        (found,) = encode_lines(KINDS[OF_VECTOR[vector["what"]]], line(vector, "version", "decoded"))
        assert found["hex"] == vector["hex"], vector
