"""The run in plain sentences: for decisions by a reader without knowledge of Kafka."""

from __future__ import annotations

from collections.abc import Mapping

from assignor_lab.compare.verdicts import (
    NOT_COMPARABLE,
    NOT_RANKED,
    TOO_MANY,
    alone,
    settings_words,
    verdict_of_one,
    verdict_of_several,
)
from assignor_lab.documents.wording import figure, listed, moment, plural, shortened
from assignor_lab.model.run_summary import Agreement, Assignor, ProbeCounts, Results, SummaryMetric

__all__ = [
    "OBSERVED",
    "agreement_sentences",
    "better",
    "dependence",
    "display_name",
    "label",
    "not_comparable",
    "opening",
    "reading",
    "remarks",
    "state_name",
    "trust",
    "variants",
    "verdict",
    "worst_in",
]

OBSERVED = "Kafka itself"

NAME_LIMIT = 40
MOST_VARIANTS = 8
MOST_WORST = 3

_SOURCES = {"log": "log file", "recording": "recording", "scenarios": "scenario file", "family": "generated family"}
#: Start of the assumption about unknown racks.
_NO_RACKS = "racks unknown"
_MANY = {"generated family": "generated families"}


def display_name(assignor: Assignor) -> str:
    return OBSERVED if assignor.kind == "observed" else assignor.name


def label(metric: SummaryMetric) -> str:
    """The metric's name as words: ``stateful_actives_moved`` is *Stateful actives moved*."""
    words = metric.name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def better(metric: SummaryMetric) -> str:
    return {"lower": "lower is better", "higher": "higher is better"}.get(metric.direction, "neither good nor bad")


def state_name(scenario: str, number: int, time_ms: int | None = None) -> str:
    """A state by its scenario, its round unless the scenario's name contains it, and its time."""
    name = scenario if not number or scenario.endswith(f"round-{number}") else f"{scenario}, round {number}"
    return name if time_ms is None else f"{name}, {moment(time_ms)}"


def opening(results: Results) -> str:
    kinds: dict[str, int] = {}
    for source in results.sources:
        if source.states:
            count = max(source.files, 1) if source.kind == "log" else source.sources
            kinds[source.kind] = kinds.get(source.kind, 0) + count
    origins = []
    for kind, count in kinds.items():
        one = _SOURCES.get(kind, "source")
        origins.append(plural(count, one, _MANY.get(one)))
    origin = f" from {listed(origins)}" if origins else ""
    asked = [each for each in results.assignors if each.kind != "observed" and each.status != "not_loaded"]
    verb = "was" if results.states == 1 else "were"
    agreeing = {each.assignor for each in results.agreement if each.compared}
    kafka = any(each.kind == "observed" for each in results.assignors) and (agreeing or not results.agreement)
    compared = f", beside the decision of {OBSERVED}" if kafka else ""
    return f"{results.counted(results.states)}{origin} {verb} put to {plural(len(asked), 'assignor')}{compared}."


def not_comparable(results: Results) -> list[str]:
    """Assignors with incomparable answers, the reasons and the remedies: to be shown before anything else."""
    names = _names(results)
    sentences = []
    for each in results.not_comparable:
        everywhere = each.states == results.states
        where = f"all {results.counted(each.states)}" if everywhere and each.states > 1 else f"this {results.unit}"
        if not everywhere:
            where = f"{figure(each.states)} of {results.counted(results.states)}"
        subjects = listed([names.get(name, shortened(name, NAME_LIMIT)) for name in each.assignors])
        fact, _, remedy = each.reason.partition(": ")
        remedy = f" To compare them, {remedy}." if remedy else ""
        sentences.append(
            f"Not comparable: {subjects} in {where}. There {fact}, so "
            f"{'its' if len(each.assignors) == 1 else 'their'} decisions are unknown.{remedy}"
        )
    return sentences


def verdict(results: Results) -> str:
    ranked = results.ranking.overall
    compared = [
        each
        for each in results.assignors
        if each.rows > each.failed_rows + each.stateless_rows + each.not_comparable_rows
    ]
    if results.not_comparable and all(each.kind == "observed" for each in compared):
        return (
            NOT_COMPARABLE
            if not compared
            else (f"Only the decision of {OBSERVED} can be measured: there is no other assignor to compare it with.")
        )
    if not ranked and results.ranking.by_metric:
        return TOO_MANY
    if not ranked:
        return NOT_RANKED
    names = _names(results)
    if results.headline is None:
        return f"{plural(len(ranked), 'assignor')} were compared, by an older release: see the measures one by one."
    first = [place.assignor for place in ranked if place.place == 1]
    failed = [names[each.name] for each in results.assignors if each.status == "failed"]
    if len(ranked) == 1 and failed:
        return f"{names[first[0]]} is the only contender with an answer: {listed(failed)} had none."
    if len(ranked) == 1:
        return alone(names[first[0]])
    of_ranked = {place.assignor: names[place.assignor] for place in ranked}
    headline = results.headline
    if results.states == 1 and headline.baseline in names:
        settings = {each.name: settings_words(each.settings) for each in results.assignors if each.settings}
        return verdict_of_one(headline.figures, names, headline.baseline, results.unit, settings)
    return verdict_of_several(headline.figures, of_ranked, headline.baseline, first, headline.unit)


def reading(results: Results) -> list[str]:
    """How pasts of groups were read, and the limits of figures over them."""
    decisions = sum(source.decisions for source in results.sources)
    if decisions:
        return [
            f"Played as {'a history' if results.states == 1 else 'histories'}: the events behind "
            f"{plural(decisions, 'recorded decision')} stay, and each assignor continues from its own answers. "
            "(score --mode independent decides each recorded state by itself, beside Kafka's decision.)"
        ]
    sentences = _alone(results)
    if sentences and results.histories is not None:
        sentences[0] += (
            " (score --mode played plays the group's events, and each assignor continues from its own answers.)"
        )
    return sentences


def _alone(results: Results) -> list[str]:
    if results.headline is None or not results.headline.alone:
        return []
    every = results.headline.alone == results.states
    which = "" if every else f" ({figure(results.headline.alone)} of them)"
    sentences = [
        f"Each decision alone{which}: figures are means for one recorded state, and do not add up to a history."
    ]
    if results.settings_difference:
        sentences.append(
            f"{OBSERVED} decided under its own settings, {_other_settings(results)}. A copy that the other settings "
            "add, such as a further standby, counts as new in each decision, since the group never had it."
        )
    return sentences


def _other_settings(results: Results) -> str:
    variants = [each for each in results.assignors if each.settings]
    names = _names(results)
    settings = [f"{names[each.name]} as {shortened(each.summary or '', 200).rstrip('.')}" for each in variants]
    if variants and not results.config:
        return listed(settings)
    given = listed([f"{each.key}={each.value}" for each in results.config]) or "other settings"
    return ", and ".join([f"the assignors under {shortened(given, 200)}", *([listed(settings)] if settings else [])])


def variants(results: Results) -> str:
    """Meaning of the variants' names, in one sentence; empty without variants, or if it is stated elsewhere."""
    configured = [each for each in results.assignors if each.settings and each.status != "not_loaded"]
    if not configured or (results.headline is not None and results.headline.alone and results.settings_difference):
        return ""
    names = _names(results)
    described = [
        f"{names[each.name]} is {shortened(each.summary or '', 200).rstrip('.')}" for each in configured[:MOST_VARIANTS]
    ]
    more = (
        [f"{figure(len(configured) - MOST_VARIANTS)} more are under Participants"]
        if len(configured) > MOST_VARIANTS
        else []
    )
    return f"{'; '.join([*described, *more])}."


def agreement_sentences(results: Results) -> list[str]:
    """In how many decisions each assignor agrees with Kafka's own.

    All assignors that cannot be compared with Kafka share one sentence; it is left out if :func:`not_comparable` has
    it.
    """
    names = _names(results)
    covered = {name for each in results.not_comparable if each.states == results.states for name in each.assignors}
    sentences = [_agreement(each, names) for each in results.agreement if each.compared]
    unknown = [each.assignor for each in results.agreement if not each.compared and each.assignor not in covered]
    if unknown:
        subjects = listed([names.get(name, shortened(name, NAME_LIMIT)) for name in unknown])
        sentences.append(f"The agreement of {subjects} with Kafka's own decisions is unknown.")
    return sentences


def _agreement(agreement: Agreement, names: Mapping[str, str]) -> str:
    subject = names.get(agreement.assignor, shortened(agreement.assignor, NAME_LIMIT))
    if agreement.equal == agreement.compared:
        return f"{subject} decides exactly as Kafka did, in all {_compared(agreement)}."
    equal = figure(agreement.equal) if agreement.equal else "none"
    condition = ", under other settings than Kafka had" if agreement.caveats else ""
    return f"{subject} decides as Kafka did in {equal} of {_compared(agreement)}{condition}."


def _compared(agreement: Agreement) -> str:
    one = "comparable decision" if agreement.not_comparable else "decision"
    return plural(agreement.compared, one)


def remarks(results: Results) -> list[str]:
    """Facts that a reader needs before believing the ranking."""
    sentences = []
    for assignor in results.assignors:
        name = shortened(display_name(assignor), NAME_LIMIT)
        if assignor.status == "not_loaded":
            sentences.append(f"{name} could not be loaded and took no part.")
        elif assignor.failed_rows:
            sentences.append(
                f"{name} had no answer in {figure(assignor.failed_rows)} of {results.counted(assignor.rows)}."
            )
    for family, rows in _failing_families(results).items():
        sentences.append(
            f"Family {shortened(family, NAME_LIMIT)} gave no state for {plural(rows, 'row')}: see failures."
        )
    if results.states > results.ranking.states > 0:
        sentences.append(
            f"Compared are the {results.counted(results.ranking.states)} to which all have an answer that can be."
        )
    return sentences


def _failing_families(results: Results) -> dict[str, int]:
    found: dict[str, int] = {}
    for failure in results.failures:
        if failure.family is not None:
            found[failure.family] = found.get(failure.family, 0) + failure.rows
    return found


def worst_in(results: Results, scenario: str, number: int) -> str:
    """The measures with their worst value in a state, in words; those of the headline first, empty if none."""
    if results.states == 1:
        return ""
    known = {each.name: each for each in results.metrics}
    found = {
        each.metric
        for each in results.aggregates
        if each.worst is not None
        and (each.worst.scenario, each.worst.round) == (scenario, number)
        and each.min != each.max  # if all are alike, none is the worst
    }
    first = [] if results.headline is None else [each.metric for each in results.headline.figures]
    order = [name for name in dict.fromkeys((*first, *known)) if name in found and name in known]
    labels = [label(known[name]).lower() for name in order[:MOST_WORST]]
    more = [f"{figure(len(order) - MOST_WORST)} more"] if len(order) > MOST_WORST else []
    return listed([*labels, *more])


def trust(results: Results) -> str:
    """Assumptions behind the figures, to be shown beside them; empty without any."""
    if not results.assumptions:
        return ""
    number = plural(len(results.assumptions), "assumption")
    verb = "stands" if len(results.assumptions) == 1 else "stand"
    if results.played:
        sentence = f"Worked out by playing, not measured: {number} {verb} behind these figures"
    else:
        sentence = f"Where the source is silent, {number} had to be made"
    if not results.not_comparable and any(each.text.startswith(_NO_RACKS) for each in results.assumptions):
        sentence += "; racks are unknown, so that an assignor which looks at them may decide otherwise"
    return f"{sentence}."


def dependence(probe: ProbeCounts) -> str:
    held = (
        (probe.deterministic, "chance"),
        (probe.same_hash_seed, "the hash seed"),
        (probe.same_order, "the order of clients and tasks"),
        (probe.pure, "earlier calls, or it changes its input"),
    )
    found = [f"{phrase} ({probe.n - times} of {probe.n})" for times, phrase in held if times < probe.n]
    return "; ".join(found) or f"nothing (in {plural(probe.n, 'decision')})"


def _names(results: Results) -> dict[str, str]:
    return {each.name: shortened(display_name(each), NAME_LIMIT) for each in results.assignors}
