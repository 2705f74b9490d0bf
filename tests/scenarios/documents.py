from __future__ import annotations

import copy
import io
import json
from typing import Any

import pytest

from assignor_lab.scenarios import DocumentFormatError, Place, Scenario, read_scenarios, scenario_from_document

PROCESS_1 = "00000000-0000-0000-0000-000000000001"
PROCESS_2 = "00000000-0000-0000-0000-000000000002"

_STREAMS: dict[str, Any] = {
    "format": 1,
    "kind": "streams",
    "id": "small",
    "config": {"num.standby.replicas": 1, "rack.aware.assignment.tags": ["zone"]},
    "tasks": [
        {
            "id": "0_0",
            "stateful": True,
            "logged": True,
            "stores": ["totals"],
            "partitions": [
                {"topic": "in", "partition": 0, "source": True, "changelog": False, "racks": ["r1", "r2"]},
                {"topic": "log", "partition": 0, "source": False, "changelog": True, "racks": ["r1"]},
            ],
        },
        {
            "id": "1_0",
            "stateful": False,
            "logged": False,
            "stores": [],
            "partitions": [{"topic": "other", "partition": 0, "source": True, "changelog": False, "racks": None}],
        },
    ],
    "clients": [
        {
            "process_id": PROCESS_2,
            "rack": "r1",
            "tags": {"zone": "a"},
            "host": "host1:8080",
            "threads": 2,
            "consumers": ["c2", "c1"],
            "previous_active": ["0_0", "1_0"],
            "previous_standby": [],
            "lags": {"0_0": -2},
            "previous_by_consumer": {"c1": ["0_0"]},
        },
        {
            "process_id": PROCESS_1,
            "rack": None,
            "tags": {},
            "host": None,
            "threads": 1,
            "consumers": [],
            "previous_active": [],
            "previous_standby": ["0_0"],
            "lags": {"0_0": 17},
            "previous_by_consumer": None,
        },
    ],
}


def streams_document(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(_STREAMS), **changes}


def scenario(**changes: Any) -> Scenario:
    return scenario_from_document(streams_document(**changes), Place("test.jsonl", 1))


def refusal_of_bytes(data: bytes) -> DocumentFormatError:
    with pytest.raises(DocumentFormatError) as caught:
        list(read_scenarios(io.BytesIO(data)))
    return caught.value


def refusal(document: Any) -> DocumentFormatError:
    """The error for a file with this document as its only line."""
    return refusal_of_bytes(json.dumps(document).encode())
