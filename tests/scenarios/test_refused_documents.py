"""Every deviation from the format is refused; the error names the key and the remedy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.documents import PROCESS_2, refusal, streams_document

MISSING = object()
Path = tuple[str | int, ...]


def bent(path: Path, value: Any) -> dict[str, Any]:
    """The valid document with one value replaced, added or (``MISSING``) taken out."""
    document = streams_document()
    parent: Any = document
    for step in path[:-1]:
        parent = parent[step]
    if value is MISSING:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return document


CLIENT: Path = ("clients", 0)
TASK: Path = ("tasks", 0)
PARTITION: Path = (*TASK, "partitions", 0)

CASES: list[tuple[Path, Any, str, str]] = [
    # unknown and missing keys
    (("task",), [], "task", "unknown key"),
    (("task",), [], "task", 'did you mean "tasks"?'),
    (("wörkload",), {}, '["w\\u00f6rkload"]', 'did you mean "workload"?'),
    (("zzzzzzzzz",), {}, "zzzzzzzzz", "known keys are format, kind, id"),
    (("id",), MISSING, "id", "missing"),
    (("config",), MISSING, "config", "missing"),
    (("format",), MISSING, "format", "missing"),
    (("kind",), MISSING, "kind", "missing"),
    ((*CLIENT, "lag"), {}, "clients[0].lag", 'did you mean "lags"?'),
    ((*CLIENT, "lags"), MISSING, "clients[0].lags", "missing"),
    ((*CLIENT, "rack"), MISSING, "clients[0].rack", "missing"),
    ((*TASK, "stores"), MISSING, "tasks[0].stores", "missing"),
    ((*PARTITION, "racks"), MISSING, "tasks[0].partitions[0].racks", "missing"),
    (("config", "num.standby.replica"), 1, 'config["num.standby.replica"]', 'did you mean "num.standby.replicas"?'),
    (("config", "security.protocol"), "SSL", 'config["security.protocol"]', "unknown key"),
    # format and kind
    (("format",), 2, "format", "reads format 1"),
    (("format",), "1", "format", "unknown format"),
    (("format",), True, "format", "unknown format"),
    (("format",), 1.0, "format", "unknown format"),
    (("kind",), "stream", "kind", "did you mean"),
    (("kind",), "tables", "kind", "known kinds are streams, connect"),
    (("kind",), None, "kind", "unknown kind null"),
    # null where it may not be
    (("id",), None, "id", "found null"),
    (("tasks",), None, "tasks", "found null"),
    (("clients",), None, "clients", "found null"),
    (("config",), None, "config", "found null"),
    (("config", "num.standby.replicas"), None, 'config["num.standby.replicas"]', "found null"),
    ((*CLIENT, "threads"), None, "clients[0].threads", "found null"),
    ((*CLIENT, "tags"), None, "clients[0].tags", "found null"),
    ((*CLIENT, "consumers"), None, "clients[0].consumers", "found null"),
    ((*CLIENT, "previous_active"), None, "clients[0].previous_active", "found null"),
    ((*CLIENT, "previous_by_consumer", "c1"), None, "clients[0].previous_by_consumer.c1", "found null"),
    ((*CLIENT, "lags", "0_0"), None, 'clients[0].lags["0_0"]', "found null"),
    ((*TASK, "stateful"), None, "tasks[0].stateful", "found null"),
    ((*PARTITION, "topic"), None, "tasks[0].partitions[0].topic", "found null"),
    # wrong JSON types
    (("id",), 7, "id", "expected a text, found 7 (a number)"),
    (("tasks",), {}, "tasks", "expected a list, found an object"),
    (("clients",), ["x"], "clients[0]", 'expected an object, found "x" (a text)'),
    (("config",), [], "config", "expected an object, found a list"),
    (("config", "num.standby.replicas"), "1", 'config["num.standby.replicas"]', "expected a whole number"),
    (("config", "num.standby.replicas"), True, 'config["num.standby.replicas"]', "found true (a boolean)"),
    (("config", "num.standby.replicas"), 1.5, 'config["num.standby.replicas"]', "expected a whole number"),
    (("config", "rack.aware.assignment.tags"), "zone", 'config["rack.aware.assignment.tags"]', "expected a list"),
    (("config", "rack.aware.assignment.strategy"), 1, 'config["rack.aware.assignment.strategy"]', "expected a text"),
    ((*TASK, "stateful"), 1, "tasks[0].stateful", "expected true or false"),
    ((*TASK, "stores"), ["a", 1], "tasks[0].stores[1]", "expected a text"),
    ((*TASK, "partitions"), {}, "tasks[0].partitions", "expected a list"),
    ((*PARTITION, "partition"), "0", "tasks[0].partitions[0].partition", "expected a whole number"),
    ((*PARTITION, "partition"), -1, "tasks[0].partitions[0].partition", "from 0 to 2147483647"),
    ((*PARTITION, "source"), "yes", "tasks[0].partitions[0].source", "expected true or false"),
    ((*PARTITION, "racks"), "r1", "tasks[0].partitions[0].racks", "expected a list"),
    ((*PARTITION, "racks"), [None], "tasks[0].partitions[0].racks[0]", "found null"),
    ((*CLIENT, "threads"), "2", "clients[0].threads", "expected a whole number"),
    ((*CLIENT, "threads"), True, "clients[0].threads", "found true (a boolean)"),
    ((*CLIENT, "threads"), -1, "clients[0].threads", "from 0 to 2147483647"),
    ((*CLIENT, "threads"), 2**31, "clients[0].threads", "from 0 to 2147483647"),
    ((*CLIENT, "tags"), {"zone": 1}, "clients[0].tags.zone", "expected a text"),
    ((*CLIENT, "lags"), [], "clients[0].lags", "expected an object"),
    ((*CLIENT, "lags", "0_0"), True, 'clients[0].lags["0_0"]', "found true (a boolean)"),
    ((*CLIENT, "lags", "0_0"), 1.0, 'clients[0].lags["0_0"]', "expected a whole number"),
    ((*CLIENT, "lags", "0_0"), "0", 'clients[0].lags["0_0"]', "expected a whole number"),
    ((*CLIENT, "lags", "0_0"), 2**63, 'clients[0].lags["0_0"]', "expected a whole number from"),
    ((*CLIENT, "lags", "0_0"), 10**200, 'clients[0].lags["0_0"]', "a number of more than 38 digits"),
    # ids and end points
    ((*TASK, "id"), "0-0", "tasks[0].id", "is no task id"),
    ((*TASK, "id"), "", "tasks[0].id", "is no task id"),
    ((*TASK, "id"), "0_99999999999", "tasks[0].id", "is no task id"),
    ((*CLIENT, "previous_active"), ["0_0", "one"], "clients[0].previous_active[1]", "is no task id"),
    ((*CLIENT, "lags"), {"0_0": 1, "x": 2}, "clients[0].lags.x", "is no task id"),
    ((*CLIENT, "previous_by_consumer"), {"c1": ["x"]}, "clients[0].previous_by_consumer.c1[0]", "is no task id"),
    ((*CLIENT, "process_id"), "1", "clients[0].process_id", "is no process id"),
    ((*CLIENT, "process_id"), PROCESS_2 + " ", "clients[0].process_id", "is no process id"),
    ((*CLIENT, "host"), "host1", "clients[0].host", 'expected "host:port"'),
    ((*CLIENT, "host"), ":8080", "clients[0].host", 'expected "host:port"'),
    ((*CLIENT, "host"), "host1:99999", "clients[0].host", 'expected "host:port"'),
    ((*CLIENT, "host"), "host1:٨٠", "clients[0].host", 'expected "host:port"'),
    # repetitions
    (("tasks", 1, "id"), "0_0", "tasks[1]", "task 0_0 occurs twice"),
    (("clients", 1, "process_id"), PROCESS_2, "clients[1]", "occurs twice"),
    ((*CLIENT, "consumers"), ["c1", "c1"], "clients[0].consumers[1]", "occurs twice"),
    (("clients", 1, "consumers"), ["c1"], "clients[1].consumers", "belongs to clients[0] already"),
    ((*CLIENT, "previous_standby"), ["1_0", "1_0"], "clients[0].previous_standby[1]", "occurs twice"),
    ((*CLIENT, "lags"), {"0_0": 1, "0_00": 2}, 'clients[0].lags["0_00"]', "occurs twice"),
    # parts that contradict one another
    ((*TASK, "stateful"), False, "tasks[0].stateful", "there are 1 stores"),
    ((*TASK, "stores"), [], "tasks[0].stateful", "correct stateful or stores"),
    ((*TASK, "logged"), False, "tasks[0].logged", "correct logged or partitions"),
    (("tasks", 1, "logged"), True, "tasks[1].logged", "there are 0 changelogs"),
    (("tasks", 1, "partitions"), [], "tasks[1].partitions", "no source partition"),
    ((*PARTITION, "source"), False, "tasks[0].partitions[0]", "neither a source nor a changelog"),
    ((*TASK, "partitions", 1, "topic"), "in", "tasks[0].partitions[1]", "occurs twice in the task"),
    (
        ("tasks", 1, "partitions", 0, "topic"),
        "in",
        "tasks[1].partitions[0].racks",
        "other racks here than in task 0_0",
    ),
    ((*CLIENT, "lags"), None, "clients[0].lags", "null in some clients only"),
    (("clients", 1, "lags"), None, "clients[1].lags", "null in some clients only"),
    # optional parts
    (("observed",), None, "observed", "found null"),
    (("observed",), {"assignment": {}, "followup": False}, "observed.threads", "missing"),
    (("observed",), {"assignment": None, "followup": None, "threads": None}, "observed.assignment", "found null"),
    (
        ("observed",),
        {"assignment": {"x": {}}, "followup": None, "threads": None},
        "observed.assignment.x",
        "no process",
    ),
    (("source",), {"offset": 1}, "source.offset", "unknown key"),
    (("source",), {"time_ms": -1}, "source.time_ms", "from 0"),
    (("source",), {"time_ms": None}, "source.time_ms", "found null"),
    (("assumptions",), "racks unknown", "assumptions", "expected a list"),
    (("assignment",), {PROCESS_2: {"active": []}}, f'assignment["{PROCESS_2}"].standby', "missing"),
    (("params",), {"tasks": "some"}, "params.tasks", '"all", "stateful", "stateless"'),
    (("workload",), {"tasks": {"x": {}}}, "workload.tasks.x", "is no task id"),
    (("workload",), {"tasks": {"0_0": {"weight": -1}}}, 'workload.tasks["0_0"].weight', "from 0"),
    (("workload",), {"restore_bytes_per_s": True}, "workload.restore_bytes_per_s", "expected a number"),
]


@pytest.mark.parametrize(("path", "value", "key", "reason"), CASES)
def test_a_document_that_is_not_in_the_format_is_refused_at_its_key(
    path: Path, value: Any, key: str, reason: str
) -> None:
    error = refusal(bent(path, value))
    assert error.key == key
    assert reason in error.reason
    assert error.line == 1
    assert str(error).startswith(f"<stream>, line 1, {key}: ")


@pytest.mark.parametrize("document", [None, 1, "x", [], [streams_document()]])
def test_a_line_that_is_no_object_is_refused(document: Any) -> None:
    assert "expected a scenario (a JSON object)" in refusal(document).reason


CONNECT = {
    "format": 1,
    "kind": "connect",
    "id": "c",
    "protocol": "sessioned",
    "max_delay_ms": 300000,
    "rounds": [
        {
            "time_ms": 1,
            "connectors": {"files": 2},
            "members": [
                {
                    "id": "w1",
                    "owned": {"connectors": [], "tasks": []},
                    "static": {"connectors": None, "tasks": None},
                }
            ],
        }
    ],
}
GROUP = {
    "format": 1,
    "kind": "streams-group",
    "id": "g",
    "config": {},
    "subtopologies": [{"id": "0", "tasks": 4, "stateful": True}],
    "members": [],
}


def deep(levels: int) -> Any:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({**CONNECT, "protocol": "lazy"}, "protocol"),
        ({**CONNECT, "round": []}, "round"),
        ({**CONNECT, "rounds": [{**CONNECT["rounds"][0], "new_leader": 1}]}, "rounds[0].new_leader"),  # type: ignore[index]
        ({**CONNECT, "rounds": [{**CONNECT["rounds"][0], "connectors": {"a": -1}}]}, "rounds[0].connectors.a"),  # type: ignore[index]
        ({**GROUP, "members": [{"id": "m"}]}, "members[0].instance_id"),
        ({**GROUP, "config": {"num.standby.replicas": "1"}}, 'config["num.standby.replicas"]'),
        ({**GROUP, "subtopologies": [{"id": 0, "tasks": 1, "stateful": True}]}, "subtopologies[0].id"),
        ({"format": 1, "kind": "streams-episode", "id": "e", "initial": GROUP, "events": []}, "until_ms"),
        (
            {"format": 1, "kind": "streams-episode", "id": "e", "initial": GROUP, "events": [], "until_ms": 1},
            "initial.subtopologies",
        ),
        (
            {
                "format": 1,
                "kind": "connect-episode",
                "id": "e",
                "initial": CONNECT,
                "events": [{"at_ms": 1}],
                "until_ms": 1,
            },
            "events[0].type",
        ),
        (
            {
                "format": 1,
                "kind": "connect-episode",
                "id": "e",
                "initial": CONNECT,
                "events": [{"at_ms": 1, "type": "crash", "what": deep(70)}],
                "until_ms": 1,
            },
            "events[0].what",
        ),
    ],
)
def test_documents_of_the_other_kinds_are_checked_too(document: Any, key: str) -> None:
    assert refusal(document).key == key
