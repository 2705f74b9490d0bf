"""Lines that name causes, in the forms of several releases and layouts, as events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assignor_lab.capture.errors import NoDecisionError
from assignor_lab.capture.histories.past import read_past
from tests.capture.public_cases import decisions, run, unpacked

MEMBER = "b-1-StreamThread-1-consumer-22222222-bbbb-4000-8000-000000000002"
CONSUMER = "[Consumer clientId=b-1-StreamThread-1-consumer, groupId=orders]"
THREAD = "stream-thread [b-1-StreamThread-1]"
ASSIGNOR = "stream-thread [b-1-StreamThread-1-consumer]"
CLIENT = "stream-client [b-1]"
JOINED = (
    f"{CONSUMER} Successfully joined group with generation Generation{{generationId=7, memberId='{MEMBER}', "
    "protocol='stream'}"
)
TIMED_OUT = (
    "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the "
    "configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time"
)


def written(folder: Path, *lines: str) -> Path:
    """Each line one second after the other; lines that begin with a blank belong to the line before."""
    file = folder / "app.log"
    second = 0
    text = ""
    for line in lines:
        if line.startswith(" "):
            text += line[1:] + "\n"
            continue
        text += f"2024-05-06 10:00:{second:02},000 [main] ERROR o.a.k - {line}\n"
        second += 1
    file.write_text(text)
    return file


def found(*files: Path) -> list[tuple[str, str]]:
    return [(each.type, each.sentence) for _, each in read_past([str(file) for file in files]).events]


CASES: dict[str, tuple[list[str], list[tuple[str, str]]]] = {
    "missing source topics in the leader's exception alone": (
        [
            f"{ASSIGNOR} Caught an error in the task assignment. Returning an error assignment.",
            " org.apache.kafka.streams.errors.MissingSourceTopicException: Missing source topics.",
            f"{THREAD} Received error code INCOMPLETE_SOURCE_TOPIC_METADATA",
        ],
        [
            (
                "decision_failed",
                "no assignment was made: source topics are missing: create them before the application starts",
            )
        ],
    ),
    "error of the assignor in the leader's own log": (
        [
            f"{ASSIGNOR} Caught an error in the task assignment. Returning an error assignment.",
            " org.apache.kafka.streams.errors.TaskAssignmentException: the plugin ran out of capacity",
            " \tat com.example.MyAssignor.assign(MyAssignor.java:10)",
            JOINED,
            f"{THREAD} Received error code ASSIGNMENT_ERROR",
        ],
        [
            (
                "decision_failed",
                "no assignment was made: the leader's assignor failed: TaskAssignmentException: the plugin ran out of "
                "capacity",
            )
        ],
    ),
    "poll timeout of a static member": (
        [f"[Consumer instanceId=b-1-1, clientId=b-1-StreamThread-1-consumer, groupId=orders] {TIMED_OUT}"],
        [("poll_timed_out", "thread 1 of b-1 did not poll within max.poll.interval.ms and left")],
    ),
    "poll timeout, and its request to leave": (
        [
            f"{CONSUMER} {TIMED_OUT}",
            f"{CONSUMER} Member {MEMBER} sending LeaveGroup request to coordinator k:9092 (id: 2147483646 rack: null) "
            "due to consumer poll timeout has expired.",
            f"{CONSUMER} Request joining group due to: consumer pro-actively leaving the group",
        ],
        [("poll_timed_out", "thread 1 of b-1 did not poll within max.poll.interval.ms and left")],
    ),
    "a member that leaves for another reason": (
        [
            f"{CONSUMER} Member {MEMBER} sending LeaveGroup request to coordinator k:9092 (id: 2147483646 rack: null) "
            "due to an operator removed it",
        ],
        [("member_left", "a member of b-1 left: an operator removed it")],
    ),
    "missing source topics of 4.3": (
        [
            JOINED,
            f"{ASSIGNOR} Subtopology 0 has missing source topics [in, in.2] and will be excluded from the current "
            "assignment, this can be due to the consumer client's metadata being stale",
            f"{THREAD} Received error code INCOMPLETE_SOURCE_TOPIC_METADATA",
            " org.apache.kafka.streams.errors.MissingSourceTopicException: One or more source topics were missing "
            "during rebalance",
        ],
        [("decision_failed", "no assignment was made: source topics in and in.2 are missing: create them")],
    ),
    "missing source topics of 3.1": (
        [
            JOINED,
            f"{ASSIGNOR} The following source topics are missing/unknown: [in]. Please make sure all source topics "
            "have been pre-created before starting the Streams application. ",
        ],
        [("decision_failed", "no assignment was made: source topic in is missing: create it")],
    ),
    "missing source topic of 2.6": (
        [
            JOINED,
            f"{ASSIGNOR} in is unknown yet during rebalance, please make sure they have been pre-created before "
            "starting the Streams application.",
        ],
        [("decision_failed", "no assignment was made: source topic in is missing: create it")],
    ),
    "missing source topics at a follower": (
        [JOINED, f"{THREAD} Received error code INCOMPLETE_SOURCE_TOPIC_METADATA"],
        [
            (
                "decision_failed",
                "no assignment was made: source topics are missing, which the leader's log names: create them",
            )
        ],
    ),
    "an exception of the assignor": (
        [
            JOINED,
            f"{CONSUMER} Request joining group due to: rebalance failed due to 'Index 3 out of bounds' "
            "(IndexOutOfBoundsException)",
        ],
        [
            (
                "decision_failed",
                "no assignment was made: the leader's assignor failed: Index 3 out of bounds "
                "(IndexOutOfBoundsException)",
            )
        ],
    ),
    "an answer with an error": (
        [
            JOINED,
            f"{ASSIGNOR} Rebalance failed due to task assignor returning assignment with error MISSING_PROCESS_ID",
        ],
        [("decision_failed", "no assignment was made: the task assignor's answer has the error MISSING_PROCESS_ID")],
    ),
    "steps of the protocol": (
        [
            f"{CONSUMER} Request joining group due to: need to re-join with the given member-id: {MEMBER}",
            f"{CONSUMER} Request joining group due to: rebalance failed due to 'The group member needs to have a valid "
            "member id before actually entering a consumer group.' (MemberIdRequiredException)",
            f"{CONSUMER} Request joining group due to: group is already rebalancing",
            f"{CONSUMER} Request joining group due to: need to revoke partitions [in-1] as indicated by the current "
            "assignment and re-join",
        ],
        [],
    ),
    "changed topics": (
        [f"{CONSUMER} Request joining group due to: cached metadata has changed from (version5: {{}}) at"],
        [
            (
                "rejoin_requested",
                "thread 1 of b-1 joins again: cached metadata has changed from (version5: {}) at",
            )
        ],
    ),
    "changed topics with all partitions, as Kafka 4.3 and 3.4 write them": (
        [
            f"{CONSUMER} Request joining group due to: cached metadata has changed from (version4: "
            "{few=[racks=[r1, r2], racks=[r1]], new=[]}) at the beginning of the rebalance to (version5: "
            "{few=[racks=[r1, r2], racks=[r1]], new=[NO_RACKS]})",
            f"{CONSUMER} Request joining group due to: cached metadata has changed from (version4: {{few=2}}) at the "
            "beginning of the rebalance to (version5: {few=4})",
        ],
        [
            (
                "rejoin_requested",
                "thread 1 of b-1 joins again: cached metadata has changed: new has 1 partition (0 before)",
            ),
            (
                "rejoin_requested",
                "thread 1 of b-1 joins again: cached metadata has changed: few has 4 partitions (2 before)",
            ),
        ],
    ),
    "a dead thread of 2.6": (
        [
            f"{THREAD} Encountered the following exception during processing and the thread is going to shut down: ",
            " org.apache.kafka.streams.errors.StreamsException: Exception caught in process. taskId=0_1",
            " \tat org.apache.kafka.streams.processor.internals.StreamTask.process(StreamTask.java:1)",
            " Caused by: java.lang.IllegalStateException: bad record",
            f"{THREAD} State transition from RUNNING to PENDING_SHUTDOWN",
            f"{THREAD} State transition from PENDING_SHUTDOWN to DEAD",
        ],
        [("thread_died", "thread 1 of b-1 died: IllegalStateException: bad record")],
    ),
    "a replaced thread": (
        [
            f"{CLIENT} Replacing thread in the streams uncaught exception handler",
            " org.apache.kafka.streams.errors.StreamsException: java.lang.NullPointerException",
            " Caused by: java.lang.NullPointerException",
            f"{THREAD} State transition from PENDING_SHUTDOWN to DEAD",
        ],
        [("thread_replaced", "thread 1 of b-1 died and was replaced: NullPointerException")],
    ),
    "a handler that closes the application": (
        [
            f"{CLIENT} Encountered the following exception during processing and sent shutdown request for the entire "
            "application.",
            " java.lang.IllegalArgumentException: no",
        ],
        [
            (
                "shutdown_requested",
                "the exception handler of b-1 closes the application: IllegalArgumentException: no",
            )
        ],
    ),
    "an orderly stop": (
        [
            f"{CLIENT} State transition from RUNNING to PENDING_SHUTDOWN",
            f"{CONSUMER} Member {MEMBER} sending LeaveGroup request to coordinator k:9092 (id: 2147483646 rack: null) "
            "due to the consumer is being closed",
            f"{THREAD} State transition from PENDING_SHUTDOWN to DEAD",
            f"{CLIENT} State transition from PENDING_SHUTDOWN to NOT_RUNNING",
        ],
        [],
    ),
    "a fenced thread": (
        [
            f"{THREAD} Detected that the thread is being fenced. This implies that this thread missed a rebalance and "
            "dropped out of the consumer group. Will close out all assigned tasks and rejoin the consumer group.",
        ],
        [("member_fenced", "b-1 was fenced: it missed a rebalance and dropped out of the group")],
    ),
    "a coordinator of 3.7": (
        [
            f"[GroupCoordinator 1]: Member {MEMBER} in group orders has failed, removing it from the group",
            f"[GroupCoordinator 1]: Member MemberMetadata(memberId={MEMBER}, groupInstanceId=None, "
            "clientId=b-1-StreamThread-1-consumer, clientHost=/10.0.0.7) has left group orders through explicit "
            "`LeaveGroup`; client reason: consumer poll timeout has expired. (kafka.coordinator.group.Coordinator)",
        ],
        [
            ("member_expired", "the session of a member of b-1 ended without a heartbeat"),
            ("poll_timed_out", "thread 1 of b-1 did not poll within max.poll.interval.ms and left"),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_line_with_a_cause_is_an_event(case: str, tmp_path: Path) -> None:
    lines, expected = CASES[case]
    if not expected:
        lines = [*lines, f"{CONSUMER} {TIMED_OUT}"]
        expected = [("poll_timed_out", "thread 1 of b-1 did not poll within max.poll.interval.ms and left")]

    assert found(written(tmp_path, *lines)) == expected


@pytest.mark.parametrize(
    "case", ["missing source topics of 4.3", "a dead thread of 2.6", "an exception of the assignor"]
)
@pytest.mark.parametrize("layout", ["compose", "kubectl", "quoted", "table", "json"])
def test_the_layout_changes_no_event(layout: str, case: str, tmp_path: Path) -> None:
    lines, expected = CASES[case]
    text = written(tmp_path, *lines).read_text()
    file = tmp_path / "export"
    prefix = {"compose": "app-1  | ", "kubectl": "[pod/b/app] ", "quoted": "> "}.get(layout)
    records = text.replace("\n2024", "\0002024").rstrip("\n").split("\0")
    if prefix is not None:
        file.write_text("".join(f"{prefix}{line}\n" for line in text.splitlines()))
    elif layout == "table":
        rows = "".join(f'"{record.replace(chr(34), chr(34) * 2)}",x\n' for record in reversed(records))
        file.write_text(f"Message,Host\n{rows}")
    else:
        made = []
        for record in records:
            message, _, trace = record.partition("\n")
            made.append(json.dumps({"message": message, "stack_trace": trace} if trace else {"message": message}))
        file.write_text("\n".join(made))

    assert found(file) == expected


def test_a_failed_assignment_beside_decisions_is_a_warning_of_import(tmp_path: Path) -> None:
    failed = written(tmp_path, *CASES["missing source topics of 3.1"][0])
    log = unpacked("05-poll-timeout", "node-a.log", tmp_path)

    documents, problems = decisions(log, failed)

    assert len(documents) == 4
    assert len(problems) == 1
    assert "2024-05-06 10:00:01.000Z: no assignment was made: source topic in is missing: create it" in problems[0]


def test_the_generation_of_a_failed_assignment_is_the_last_joined_one(tmp_path: Path) -> None:
    with pytest.raises(NoDecisionError, match=r"FAILED at 2024-05-06 10:00:01\.000Z, generation 7"):
        decisions(written(tmp_path, *CASES["missing source topics of 3.1"][0]))


@pytest.mark.parametrize(
    ("case", "rule"),
    [
        ("poll timeout of a static member", "poll timeout"),
        ("missing source topic of 2.6", "failed assignment"),
        ("a dead thread of 2.6", "dead thread"),
        ("a replaced thread", "dead thread"),
        ("a handler that closes the application", "dead thread"),
    ],
)
def test_check_fails_for_causes(case: str, rule: str, tmp_path: Path) -> None:
    file = str(written(tmp_path, *CASES[case][0]))

    checked = run("check", file, "--json")
    shown = run("history", file)

    assert checked.exit_code == 1
    assert [each["rule"] for group in json.loads(checked.stdout)["groups"] for each in group["findings"]] == [rule]
    assert "2024-05-06 10:00:0" in shown.stdout


JUL = (
    "Nov 27, 2026 9:14:03 PM org.apache.kafka.clients.consumer.internals.ConsumerCoordinator logInfo\n"
    "INFO: {joined}\n"
    "Nov 27, 2026 9:14:59\u202fPM org.apache.kafka.streams.processor.internals.StreamThread setState\n"
    "INFO: {thread} State transition from RUNNING to PENDING_SHUTDOWN\n"
    "Nov 27, 2026 9:15:00 PM org.apache.kafka.streams.processor.internals.StreamThread completeShutdown\n"
    "INFO: {thread} Shutting down unclean\n"
    "Nov 27, 2026 9:15:01 PM org.apache.kafka.streams.processor.internals.StreamThread setState\n"
    "INFO: {thread} State transition from PENDING_SHUTDOWN to DEAD\n"
)
JVM_LINE = (
    'Exception in thread "b-1-StreamThread-1" org.apache.kafka.streams.errors.StreamsException: Exception caught in '
    "process. taskId=0_1, processor=KSTREAM-SOURCE-0000000000, topic=orders, partition=1, offset=42\n"
    "\tat org.apache.kafka.streams.processor.internals.StreamTask.process(StreamTask.java:400)\n"
    "Caused by: java.lang.ArithmeticException: / by zero\n"
    "\tat example.Totals.apply(Totals.java:12)\n"
)


def events_of_text(folder: Path, text: str) -> list[tuple[str, int, str]]:
    file = folder / "app.log"
    file.write_text(text, "utf-8")
    return [(each.type, each.at.latest_ms, each.sentence) for _, each in read_past([str(file)]).events]


def test_lines_of_java_util_logging_have_the_time_of_their_header(tmp_path: Path) -> None:
    (found,) = events_of_text(tmp_path, JUL.format(joined=JOINED, thread=THREAD))
    assert found == ("thread_died", 1_795_814_101_000, "thread 1 of b-1 died")


@pytest.mark.parametrize("logged", [True, False], ids=["in the log", "beside the log"])
def test_the_line_of_the_jvm_is_the_cause_of_a_threads_death(tmp_path: Path, *, logged: bool) -> None:
    """With a handler of Java's own kind, the JVM alone names the exception, after the thread's last line."""
    text = JUL.format(joined=JOINED, thread=THREAD) + JVM_LINE
    if not logged:
        text = text.replace(f"INFO: {THREAD} Shutting down unclean\n", "INFO: nothing\n")
    (found,) = events_of_text(tmp_path, text)
    assert found == (
        "thread_died",
        1_795_814_101_000,
        "thread 1 of b-1 died: ArithmeticException: / by zero",
    )


def test_a_jvms_line_alone_has_the_time_of_the_line_before_it(tmp_path: Path) -> None:
    lines = [
        f"2024-05-06 10:00:00,000 [main] INFO o.a.k - {JOINED}",
        "2024-05-06 10:07:30,250 [b-1-StreamThread-1] INFO example.Totals - order 42",
    ]
    (found,) = events_of_text(tmp_path, "\n".join(lines) + "\n" + JVM_LINE)
    assert found == ("thread_died", 1_714_990_050_250, "thread 1 of b-1 died: ArithmeticException: / by zero")


def test_a_jvms_line_of_another_container_keeps_to_its_own_lines(tmp_path: Path) -> None:
    lines = [
        f"b  | 2024-05-06 10:00:00,000 [main] INFO o.a.k - {JOINED}",
        "a  | 2024-05-06 10:09:00,000 [main] INFO example.Totals - another container",
        *(f"b  | {line}" for line in JVM_LINE.splitlines()),
    ]
    (found,) = events_of_text(tmp_path, "\n".join(lines) + "\n")
    assert found[:2] == ("thread_died", 1_714_989_600_000)


def test_a_thread_of_the_application_is_none_of_streams(tmp_path: Path) -> None:
    text = f"2024-05-06 10:00:00,000 [main] INFO o.a.k - {JOINED}\n"
    with pytest.raises(NoDecisionError):
        events_of_text(tmp_path, text + 'Exception in thread "main" java.lang.IllegalStateException: no\n')


def test_a_thread_that_died_once_may_later_stop_in_order(tmp_path: Path) -> None:
    """The same client id starts again: the old exception is no cause of the next end."""
    dead = f"{THREAD} State transition from PENDING_SHUTDOWN to DEAD"
    file = written(
        tmp_path,
        f"{THREAD} Encountered the following exception during processing and the thread is going to shut down: ",
        " java.lang.ArithmeticException: / by zero",
        dead,
        *["something else"] * 20,
        f"{CLIENT} State transition from RUNNING to PENDING_SHUTDOWN",
        dead,
    )
    assert [each for each in found(file) if each[0] == "thread_died"] == [
        ("thread_died", "thread 1 of b-1 died: ArithmeticException: / by zero")
    ]
