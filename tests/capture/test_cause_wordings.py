"""The wording of a cause in releases 2.6 to 4.4, both protocols."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.capture.histories.past import read_past

_CLIENT = "orders-b0000000-0000-4000-8000-000000000002"
_THREAD = f"{_CLIENT}-StreamThread-1"
_CONSUMER = f"[Consumer clientId={_THREAD}-consumer, groupId=orders]"
_STATIC = f"[Consumer instanceId=b1-1, clientId={_THREAD}-consumer, groupId=orders]"
_POLL = (
    "poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured "
    "max.poll.interval.ms"
)
_ENDS = (
    f"stream-thread [{_THREAD}] State transition from RUNNING to PENDING_SHUTDOWN",
    f"stream-thread [{_THREAD}] State transition from PENDING_SHUTDOWN to DEAD",
)
_TIMED_OUT = f"thread 1 of {_CLIENT} did not poll within max.poll.interval.ms and left"
_NO_ASSIGNMENT = "no assignment was made: "


def _sentences(folder: Path, lines: tuple[str, ...], layout: str) -> tuple[list[str], list[str]]:
    texts = {
        "logger behind": "[2024-05-06 10:20:0{number},000] INFO {line} (org.apache.kafka.Any)",
        "logger before": "2024-05-06 10:20:0{number}.000  INFO 1 --- [-StreamThread-1] o.apache.kafka.Any : {line}",
    }
    log = folder / "b.log"
    log.write_text("\n".join(texts[layout].format(number=number, line=line) for number, line in enumerate(lines)))
    past = read_past([str(Path(__file__).parents[1] / "data/public/streams/05-poll-timeout/node-a.log.gz"), str(log)])
    found = [event for _, event in past.events]
    return [each.type for each in found], [each.sentence for each in found]


@pytest.mark.parametrize("layout", ["logger behind", "logger before"])
@pytest.mark.parametrize(
    ("lines", "type_", "sentence"),
    [
        ((f"{_CONSUMER} This member will leave the group because consumer {_POLL}.",), "poll_timed_out", _TIMED_OUT),
        (
            (f"{_CONSUMER} Member x-1 sending LeaveGroup request to coordinator b:9092 due to consumer {_POLL}",),
            "poll_timed_out",
            _TIMED_OUT,
        ),
        ((f"{_CONSUMER} Consumer {_POLL}",), "poll_timed_out", _TIMED_OUT),
        (
            (f"{_STATIC} Received fatal exception: group.instance.id gets fenced",),
            "member_fenced",
            f"{_CLIENT} was fenced: another process has joined with its group.instance.id",
        ),
        (
            (f"{_CONSUMER} StreamsGroupHeartbeatRequest failed for member Xabc because epoch 4 is fenced.",),
            "member_fenced",
            f"{_CLIENT} was fenced: the coordinator had given it up",
        ),
        (
            (f"{_CONSUMER} StreamsGroupHeartbeatRequest failed because member Xabc is unknown.",),
            "member_fenced",
            f"{_CLIENT} was fenced: its session had ended, and the coordinator no longer knew it",
        ),
        (
            (*_ENDS, f"stream-client [{_CLIENT}] All stream threads have died. The instance will be in error state."),
            "thread_died",
            f"thread 1 of {_CLIENT} died",
        ),
        (
            (f"stream-thread [{_THREAD}] Shutting down unclean", *_ENDS),
            "thread_died",
            f"thread 1 of {_CLIENT} died",
        ),
        (
            (f"stream-thread [{_THREAD}-consumer] Source topic clicks is missing/unknown during rebalance, please",),
            "decision_failed",
            f"{_NO_ASSIGNMENT}source topic clicks is missing: create it",
        ),
        (
            (f"{_CONSUMER} Membership is in the following statuses: (1) Source topics clicks, views are missing.",),
            "decision_failed",
            f"{_NO_ASSIGNMENT}source topics clicks and views are missing: create them",
        ),
        (
            (f"stream-thread [{_THREAD}] Following topics do not have the same number of partitions: [{{b=3, f=6}}]",),
            "decision_failed",
            f"{_NO_ASSIGNMENT}topics of one sub-topology have different numbers of partitions: b=3, f=6",
        ),
        (
            (
                f"{_CONSUMER} Request joining group due to: rebalance failed due to 'Invalid topology: stream-thread "
                f"[{_THREAD}-consumer] Topics not co-partitioned: [orders,users]' (TopologyException)",
            ),
            "decision_failed",
            f"{_NO_ASSIGNMENT}topics orders and users are joined, and have different numbers of partitions",
        ),
        (
            (f"{_CONSUMER} Request joining group due to: rebalance failed due to java.lang.NullPointerException",),
            "decision_failed",
            f"{_NO_ASSIGNMENT}the leader failed: NullPointerException",
        ),
    ],
)
def test_a_cause_is_read_in_the_words_of_its_release(
    lines: tuple[str, ...], type_: str, sentence: str, layout: str, tmp_path: Path
) -> None:
    assert _sentences(tmp_path, lines, layout) == ([type_], [sentence])


def test_a_status_that_each_heartbeat_repeats_is_one_event(tmp_path: Path) -> None:
    line = f"{_CONSUMER} Membership is in the following statuses: (1) Source topics clicks are missing."
    log = tmp_path / "b.log"
    log.write_text("".join(f"2024-05-06 10:20:{second:02},000 WARN {line}\n" for second in range(0, 60, 6)))

    (event,) = (event for _, event in read_past([str(log)]).events)
    assert event.at.latest_ms == 1_714_990_800_000
