from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignmentConfigs,
    AssignmentError,
    ConsumerAssignment,
    ConsumerAssignments,
    GroupSubscription,
    MemberSubscription,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskAssignment,
    TaskAssignmentError,
    TaskAssignor,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
    TopicPartition,
)
from assignment_api.utils.validation import strict_findings
from assignor_lab.groups.streams.answers import has_followup
from assignor_lab.groups.streams.assignor_calls import StreamsOutcome, invoke
from assignor_lab.runtime.invocation import MESSAGE_LIMIT

FIRST = ProcessID.parse("00000000-0000-0000-0000-000000000001")
SECOND = ProcessID.parse("00000000-0000-0000-0000-000000000002")
TASKS = tuple(TaskId(0, partition) for partition in range(6))


@attrs.frozen
class Entry:
    answer: Callable[[ApplicationMetadata], Any]
    name: str = "example"
    distribution: str | None = "somebody-elses"

    def create(self) -> TaskAssignor:
        answer = self.answer

        class Example(TaskAssignor):
            def assign(self, application: ApplicationMetadata) -> TaskAssignment:
                return answer(application)  # type: ignore[no-any-return]

        return Example()


def application() -> ApplicationMetadata:
    tasks = [TaskInfo(task, False, False) for task in TASKS]
    clients = [StreamsClientState(FIRST, 1, lags={}), StreamsClientState(SECOND, 1, lags={})]
    return ApplicationMetadata(AssignmentConfigs(), tasks, clients)


def all_on_first(shown: ApplicationMetadata) -> TaskAssignment:
    tasks = [AssignedTask.active(task) for task in shown.all_tasks()]
    return TaskAssignment([StreamsClientAssignment.of(FIRST, tasks), StreamsClientAssignment(SECOND)])


def run(answer: Callable[[ApplicationMetadata], Any]) -> StreamsOutcome:
    return invoke(Entry(answer), application(), {})


def refusal(answer: Callable[[ApplicationMetadata], Any]) -> str:
    outcome = run(answer)
    assert outcome.answer is None
    assert outcome.failure is not None
    assert outcome.failure.type == "InvalidAnswerError"
    return outcome.failure.message


def test_an_answer_comes_back_with_its_time() -> None:
    outcome = run(all_on_first)
    assert outcome.answer is not None
    assert outcome.failure is None
    assert outcome.assign_ns > 0
    assert not has_followup(outcome.answer)


def test_a_deadline_makes_a_followup() -> None:
    def answer(shown: ApplicationMetadata) -> TaskAssignment:
        first, second = all_on_first(shown).assignments
        return TaskAssignment([first, second.with_followup_rebalance(0)])

    given = run(answer).answer
    assert given is not None
    assert has_followup(given)


@pytest.mark.parametrize(
    ("error", "java_type"),
    [
        (ValueError("broken"), None),
        (TaskAssignmentError("again, please"), "TaskAssignmentException"),
        (SystemExit(3), None),
        (GeneratorExit(), None),
        (MemoryError(), None),
        (RecursionError("deep"), None),
    ],
)
def test_whatever_is_raised_is_a_failure(error: BaseException, java_type: str | None) -> None:
    def answer(_shown: ApplicationMetadata) -> TaskAssignment:
        raise error

    failure = run(answer).failure
    assert failure is not None
    assert (failure.type, failure.java_type) == (type(error).__name__, java_type)


def test_the_user_can_still_interrupt() -> None:
    def answer(_shown: ApplicationMetadata) -> TaskAssignment:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(answer)


def test_a_call_that_never_ends_in_itself_is_a_failure() -> None:
    def answer(shown: ApplicationMetadata) -> TaskAssignment:
        return answer(shown)

    failure = run(answer).failure
    assert failure is not None
    assert failure.type == "RecursionError"
    assert sys.getrecursionlimit() > 0


def test_an_error_that_cannot_tell_its_message_is_a_failure() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def answer(_shown: ApplicationMetadata) -> TaskAssignment:
        raise MuteError

    failure = run(answer).failure
    assert failure is not None
    assert failure.message == "(no message: RuntimeError while it was made)"


def test_a_long_message_is_cut() -> None:
    def answer(_shown: ApplicationMetadata) -> TaskAssignment:
        raise ValueError("x" * 1_000_000)

    failure = run(answer).failure
    assert failure is not None
    assert len(failure.message) == MESSAGE_LIMIT


@pytest.mark.parametrize("garbage", [None, 7, "text", {}, [StreamsClientAssignment(FIRST)]])
def test_what_is_no_assignment_is_refused(garbage: Any) -> None:
    assert "expected TaskAssignment" in refusal(lambda _shown: garbage)


def test_garbage_among_the_clients_is_refused() -> None:
    assert "item 1" in refusal(lambda _shown: TaskAssignment([StreamsClientAssignment(FIRST), "garbage"]))  # type: ignore[list-item]


def test_garbage_as_the_fifth_task_is_refused() -> None:
    def answer(_shown: ApplicationMetadata) -> TaskAssignment:
        tasks: list[Any] = [AssignedTask.active(task) for task in TASKS]
        tasks[4] = "garbage"
        return TaskAssignment([StreamsClientAssignment(FIRST, tasks), StreamsClientAssignment(SECOND)])

    assert "item 4" in refusal(answer)


def test_garbage_inside_a_task_is_refused() -> None:
    def answer(_shown: ApplicationMetadata) -> TaskAssignment:
        tasks: list[Any] = [AssignedTask.active(task) for task in TASKS]
        tasks[4] = AssignedTask(TASKS[4], "active")  # type: ignore[arg-type]
        return TaskAssignment([StreamsClientAssignment(FIRST, tasks), StreamsClientAssignment(SECOND)])

    assert "task 0_4: type" in refusal(answer)


def test_a_deadline_that_is_no_number_is_refused() -> None:
    def answer(_shown: ApplicationMetadata) -> TaskAssignment:
        return TaskAssignment([StreamsClientAssignment(FIRST, (), "soon"), StreamsClientAssignment(SECOND)])  # type: ignore[arg-type]

    assert "followup_rebalance_deadline_ms" in refusal(answer)


def test_a_deadline_wider_than_64_bits_is_refused() -> None:
    first = StreamsClientAssignment(FIRST, (), 10**30)
    assert "64-bit" in refusal(lambda _shown: TaskAssignment([first, StreamsClientAssignment(SECOND)]))


def test_an_answer_that_kafka_refuses_is_refused() -> None:
    def answer(_shown: ApplicationMetadata) -> TaskAssignment:
        return TaskAssignment([StreamsClientAssignment(FIRST)])

    outcome = run(answer)
    assert outcome.validation is AssignmentError.MISSING_PROCESS_ID
    assert outcome.failure is not None
    assert outcome.failure.java_type == "StreamsException"


class Observer(TaskAssignor):
    def __init__(self, seen: list[Any]) -> None:
        self.seen = seen

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        return all_on_first(application)

    def on_assignment_computed(
        self, assignment: ConsumerAssignments, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        self.seen.append((assignment, subscription, error))


@attrs.frozen
class ObserverEntry:
    seen: list[Any]
    name: str = "observer"
    distribution: str | None = "somebody-elses"

    def create(self) -> TaskAssignor:
        return Observer(self.seen)


def test_the_callback_is_shown_every_consumer() -> None:
    source = TaskTopicPartition("in", 3, is_source=True, is_changelog=False)
    tasks = [TaskInfo(TASKS[3], is_stateful=False, is_logged=False, topic_partitions=(source,))]
    first = StreamsClientState(
        FIRST,
        1,
        consumers=["b", "a"],
        lags={},
        rack_id="r",
        previous_active_tasks=[TASKS[3]],
        previous_tasks_by_consumer={"b": (TASKS[3],)},
    )
    state = ApplicationMetadata(AssignmentConfigs(), tasks, [first, StreamsClientState(SECOND, 1, lags={})])
    seen: list[Any] = []
    assert invoke(ObserverEntry(seen), state, {}).failure is None
    [(assignment, subscription, error)] = seen
    assert error is AssignmentError.NONE
    assert assignment.members == {"a": ConsumerAssignment((TopicPartition("in", 3),)), "b": ConsumerAssignment()}
    assert list(subscription.members) == ["a", "b"]
    assert subscription.members["b"] == MemberSubscription((TopicPartition("in", 3),), rack_id="r")


def test_what_kafka_lets_pass_is_found_on_demand() -> None:
    def answer(_shown: ApplicationMetadata) -> TaskAssignment:
        return TaskAssignment([StreamsClientAssignment(FIRST), StreamsClientAssignment(SECOND)])

    outcome = run(answer)
    assert outcome.failure is None
    assert outcome.answer is not None
    assert [finding.task for finding in strict_findings(application(), outcome.answer)] == list(TASKS)


def test_an_assignor_that_changes_its_input_is_found_out() -> None:
    def answer(shown: ApplicationMetadata) -> TaskAssignment:
        info = next(iter(shown.task_infos().values()))
        object.__setattr__(info, "is_stateful", True)
        return all_on_first(shown)

    outcome = run(answer)
    assert outcome.input_mutated
    assert outcome.failure is not None
    assert outcome.failure.type == "InputMutatedError"


def test_an_assignor_that_changes_a_client_is_found_out() -> None:
    def answer(shown: ApplicationMetadata) -> TaskAssignment:
        object.__setattr__(shown.streams_client_states()[FIRST], "num_stream_threads", 7)
        return all_on_first(shown)

    outcome = run(answer)
    assert outcome.input_mutated
    assert outcome.failure is not None
    assert outcome.failure.type == "InputMutatedError"


def test_an_assignor_that_breaks_its_input_is_found_out() -> None:
    def answer(shown: ApplicationMetadata) -> TaskAssignment:
        given = all_on_first(shown)
        shown._tasks = None  # type: ignore[assignment]
        return given

    assert run(answer).input_mutated


def test_an_assignor_that_tries_to_change_its_input_in_the_open_fails() -> None:
    def answer(shown: ApplicationMetadata) -> TaskAssignment:
        shown.streams_client_states().clear()  # type: ignore[attr-defined]
        return all_on_first(shown)

    failure = run(answer).failure
    assert failure is not None
    assert failure.type == "AttributeError"


@attrs.frozen
class Configured:
    """An assignor without declared settings, which reads its configuration with ``read``."""

    read: Callable[[Any], object]
    name: str = "mine"
    distribution: str | None = "somebody-elses"

    def create(self) -> TaskAssignor:
        read = self.read

        class Example(TaskAssignor):
            def configure(self, configs: Any) -> None:
                read(configs)

            def assign(self, application: ApplicationMetadata) -> TaskAssignment:
                return all_on_first(application)

        return Example()


@pytest.mark.parametrize(
    ("read", "unread"),
    [
        (lambda configs: configs.get("assignor.mine.depth"), ("assignor.mine.dpeth",)),
        (dict, ()),
        (lambda _configs: None, ("assignor.mine.depth", "assignor.mine.dpeth")),
    ],
)
def test_unread_settings_of_an_assignor_without_declarations_are_reported(
    read: Callable[[Any], object], unread: tuple[str, ...]
) -> None:
    configs = {"assignor.mine.depth": "1", "assignor.mine.dpeth": "2", "num.standby.replicas": 0}
    assert invoke(Configured(read), application(), configs).unread == unread
