"""Findings in words and as documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assignor_lab.clients.promises import PROMISES
from assignor_lab.clients.sketches import GroupSketch
from assignor_lab.clients.survey import Answer, Finding, StrategySurvey

__all__ = ["answer_sentences", "finding_name", "group_sentences", "survey_document"]


def finding_name(survey: StrategySurvey, finding: Finding) -> str:
    """Library, strategy and promise, as a name for files."""
    return f"{survey.library}-{survey.strategy}-{finding.promise}".replace(" ", "-").replace("'", "")


def group_sentences(sketch: GroupSketch) -> Iterator[str]:
    """The topics, then a sentence for each member in the order of the JoinGroup response."""
    yield "Topics: " + (", ".join(f"{name} with {count}" for name, count in sketch.topics.items()) or "none known")
    for member in sketch.members:
        words = [f"{member.id} subscribes {', '.join(member.topics)}"]
        if member.instance_id is not None:
            words.append(f"is static as {member.instance_id}")
        if member.held:
            words.append(f"had {_partitions(member.held)} in generation {member.generation}")
        yield "; ".join(words)


def answer_sentences(library: str, finding: Finding) -> Iterator[str]:
    """The answers of the library and of Java to the smallest group."""
    yield finding.failure if finding.answer is None else f"{library}: {_placed(finding.answer)}"
    if finding.restarted is not None:
        yield f"{library} after a restart of the static members: {_placed(finding.restarted)}"
    yield f"Java: {_placed(finding.java)}"


def _placed(answer: Answer) -> str:
    return "; ".join(f"{member} {_partitions(held) or 'nothing'}" for member, held in sorted(answer.items()))


def _partitions(held: Mapping[str, tuple[int, ...]]) -> str:
    return " ".join(f"{topic}-{number}" for topic, numbers in sorted(held.items()) for number in sorted(numbers))


def survey_document(survey: StrategySurvey) -> dict[str, object]:
    """The survey for ``--json``."""
    return {
        "library": survey.library,
        "version": survey.version,
        "strategy": survey.strategy,
        "groups": survey.groups,
        "differing": survey.differing,
        "unstable": survey.unstable,
        "findings": [
            {
                "promise": finding.promise,
                "sentence": PROMISES[finding.promise],
                "groups": finding.groups,
                "smallest": finding.smallest.document(
                    survey.strategy, finding.reporting, finding_name(survey, finding)
                ),
                "answer": finding.answer and {member: dict(held) for member, held in finding.answer.items()},
                "failure": finding.failure or None,
                "restarted": finding.restarted and {member: dict(held) for member, held in finding.restarted.items()},
                "java": {member: dict(held) for member, held in finding.java.items()},
            }
            for finding in survey.findings
        ],
    }
