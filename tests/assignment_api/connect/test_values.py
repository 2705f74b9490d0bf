from __future__ import annotations

import pickle

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api.connect import (
    NO_JOBS,
    WILDCARD,
    ConfiguredJobs,
    ConnectAssignment,
    ConnectConfigError,
    ConnectorTaskId,
    ConnectorTaskIdFormatError,
    ConnectProtocol,
    InvalidConnectGroupError,
    Jobs,
    Rebalance,
    StaticJobs,
    Worker,
    WorkerAssignment,
)


def task(text: str) -> ConnectorTaskId:
    return ConnectorTaskId.parse(text)


@pytest.mark.parametrize(
    ("text", "connector", "number"),
    [
        ("c-0", "c", 0),
        ("a-1-0", "a-1", 0),
        ("--7", "-", 7),
        ("-7", "", 7),
        ("größe 1-2147483647", "größe 1", 2**31 - 1),
    ],
)
def test_the_last_dash_of_a_task_id_counts(text: str, connector: str, number: int) -> None:
    assert task(text) == ConnectorTaskId(connector, number)
    assert str(task(text)) == text


@pytest.mark.parametrize("text", ["", "c", "c-", "c-x", "c--", "c-1 ", "c-+1", "c-2147483648", "c-٣", "c-1\n"])
def test_a_text_that_is_no_task_id_is_refused(text: str) -> None:
    with pytest.raises(ConnectorTaskIdFormatError, match="such as files-0"):
        task(text)


@given(st.text(max_size=8), st.integers(0, 2**31 - 1))
def test_every_task_id_reads_back(connector: str, number: int) -> None:
    made = ConnectorTaskId(connector, number)
    assert task(str(made)) == made
    assert pickle.loads(pickle.dumps(made)) == made


def test_task_ids_are_ordered_by_number_and_names_by_code_unit() -> None:
    names = ["a-10", "a-2", "\uff5e-0", "\U0001f600-0"]
    assert [str(each) for each in sorted(map(task, names))] == ["a-2", "a-10", "\U0001f600-0", "\uff5e-0"]


def test_jobs_keep_their_order_and_each_job_once() -> None:
    jobs = Jobs(["b", "a", "b"], [task("b-1"), task("b-0"), task("b-1")])
    assert (jobs.connectors, len(jobs)) == (("b", "a"), 4)
    assert jobs.minus(Jobs(["b"], [task("b-1")])) == Jobs(["a"], [task("b-0")])
    assert NO_JOBS.plus(jobs).plus(jobs) == jobs
    assert jobs.sorted() == Jobs(["a", "b"], [task("b-0"), task("b-1")])


def test_what_is_configured_comes_in_kafkas_order() -> None:
    configured = ConfiguredJobs({"b": 1, "a-1": 0, "a": 2})
    assert configured.connectors() == ("a", "a-1", "b")
    assert list(map(str, configured.tasks())) == ["a-0", "a-1", "b-0"]
    assert len(configured) == 6
    assert task("a-1") in configured
    assert task("a-2") not in configured
    assert "a-1" in configured
    assert configured.jobs() == Jobs(configured.connectors(), configured.tasks())


def test_a_negative_number_of_tasks_is_refused() -> None:
    with pytest.raises(InvalidConnectGroupError, match="'a' has -1 tasks"):
        ConfiguredJobs({"a": -1})


def test_values_do_not_change() -> None:
    counts = {"a": 1}
    configured = ConfiguredJobs(counts)
    counts["a"] = 7
    assert configured.task_counts == {"a": 1}
    with pytest.raises(TypeError):
        configured.task_counts["a"] = 2  # type: ignore[index]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        NO_JOBS.connectors = ("a",)  # type: ignore[misc]


# --- workers ---------------------------------------------------------------------------------------


def test_static_assignments_of_a_configuration() -> None:
    read = StaticJobs.from_config({"static.connectors": "a, b ,a", "static.tasks": ["a-1-0", " a-1"]})
    assert read == StaticJobs(("a", "b"), (ConnectorTaskId("a-1", 0), ConnectorTaskId("a", 1)))
    assert read.is_set
    assert not read.is_empty
    assert read.jobs() == Jobs(("a", "b"), read.tasks or ())


def test_a_key_that_is_there_and_empty_is_not_a_key_that_is_missing() -> None:
    assert StaticJobs.from_config({}) == WILDCARD
    assert not WILDCARD.is_set
    empty = StaticJobs.from_config({"static.connectors": " "})
    assert empty == StaticJobs(connectors=())
    assert (empty.is_set, empty.is_empty) == (True, True)


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"static.tasks": "a-0,b"}, "configuration static.tasks: 'b' is not the id of a connector's task"),
        ({"static.tasks": 3}, "configuration static.tasks: Expected a comma separated list"),
        ({"static.connectors": [1]}, "configuration static.connectors: Expected a comma separated list"),
    ],
)
def test_wrong_static_assignments_are_a_configuration_error(configs: dict[str, object], message: str) -> None:
    with pytest.raises(ConnectConfigError, match=message):
        StaticJobs.from_config(configs)


# --- protocols -------------------------------------------------------------------------------------


def test_what_each_protocol_offers() -> None:
    assert [protocol.wire_name for protocol in ConnectProtocol.STATIC.offered()] == [
        "static",
        "sessioned",
        "compatible",
        "default",
    ]
    assert [protocol.version for protocol in ConnectProtocol.SESSIONED.offered()] == [2, 1, 0]
    assert ConnectProtocol.EAGER.offered() == (ConnectProtocol.EAGER,)
    assert [protocol.is_incremental for protocol in ConnectProtocol] == [False, True, True, True]


def test_the_protocol_is_read_in_any_case() -> None:
    assert ConnectProtocol.from_config("Sessioned") is ConnectProtocol.SESSIONED
    for value in ("cooperative", "", None, 2):
        with pytest.raises(ConnectConfigError, match="use one of eager, compatible, sessioned, static"):
            ConnectProtocol.from_config(value)


# --- rebalances and answers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "time", "message"),
    [([], 1, "no worker"), ([Worker("w"), Worker("w")], 1, "'w' occurs twice"), ([Worker("w")], -1, "epoch")],
)
def test_a_rebalance_that_cannot_be_is_refused(workers: list[Worker], time: int, message: str) -> None:
    with pytest.raises(InvalidConnectGroupError, match=message):
        Rebalance(ConfiguredJobs({}), workers, time_ms=time)


def test_what_workers_own_after_an_answer_is_new_first() -> None:
    rebalance = Rebalance(ConfiguredJobs({"a": 3}), [Worker("w", Jobs(["a"], [task("a-1"), task("a-0")])), Worker("v")])
    answer = ConnectAssignment(
        {"w": WorkerAssignment(Jobs((), [task("a-2")]), Jobs(["a"], [task("a-0")])), "v": WorkerAssignment()}
    )
    assert answer.has_revocations
    assert answer.owned_after(rebalance) == {"w": Jobs((), [task("a-2"), task("a-1")]), "v": NO_JOBS}


# --- workers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://Connect-1.example:8083/", "connect-1.example"), ("https://192.0.2.1:8443", "192.0.2.1"),
        ("http://[2001:db8::1]:8083/", "2001:db8::1"), ("", ""), ("null:-1", ""), ("http://[::1", ""),
    ],
)  # fmt: skip
def test_a_worker_has_the_host_of_its_url(url: str, host: str) -> None:
    assert Worker("m", url=url).host == host


def test_a_returning_worker_is_found_by_its_url_and_labels() -> None:
    before, after = (Worker(member, url="http://a:1/", labels={"zone": "x"}) for member in ("m-1", "m-2"))
    assert before.member_id != after.member_id
    assert (before.url, before.labels) == (after.url, after.labels)
    with pytest.raises(TypeError):
        before.labels["zone"] = "y"  # type: ignore[index]
