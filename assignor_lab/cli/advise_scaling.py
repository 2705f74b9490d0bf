"""``assignor advise SOURCE --scaling``: the policy of an autoscaler."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.plan_scaling import scaled_group
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.advising.scaling_policy import PolicyAdvice
    from assignor_lab.opened.reading import ReadGroup
    from assignor_lab.planning.making import Options
    from assignor_lab.planning.scaling.answer import InputTerms

__all__ = ["Counts", "Scaling", "ScaledObjectFile", "advise_scaling"]

Scaling = Annotated[
    bool, typer.Option("--scaling", help="Choose the policy of an autoscaler: give --load, --capacity and --to.")
]
Counts = Annotated[str, typer.Option("--to", metavar="A..B", help="scaling: replica counts to choose from.")]
ScaledObjectFile = Annotated[
    Path | None, typer.Option("--scaled-object", metavar="FILE", help="scaling: write a ScaledObject of KEDA: YAML.")
]


def advise_scaling(
    source: str,
    group: str,
    read: ReadGroup,
    options: Options,
    to: str,
    terms: InputTerms,
    seed: int,
    verified: object,
    file: Path | None,
    *,
    as_json: bool,
) -> None:
    """Prints the policy, and writes it."""
    from assignor_lab.advising.scaling_policy import advised_policy
    from assignor_lab.documents.durable import write_durably
    from assignor_lab.planning.scaling.answer import day_player
    from assignor_lab.planning.scaling.counts import parse_counts
    from assignor_lab.planning.scaling.scaled_object import scaled_object

    scaled, assumptions = scaled_group(read, options)
    player, counts, notes = day_player(scaled, parse_counts(to or "1..12"), terms, seed)
    advice = advised_policy(counts, player.curve, player.throughput, scaled.commit_s, player.cost, seed)
    manifest = scaled_object(advice.chosen.policy, group, scaled.unit)
    if as_json:
        print_json(_document(advice, source, group, verified, [*assumptions, *notes], manifest))
    else:
        for sentence in (*assumptions, *notes):
            note(f"assumed: {sentence}")
        _print(advice, scaled.unit, manifest)
    if file is not None:
        write_durably(file, manifest.encode())


def _print(advice: PolicyAdvice, unit: str, manifest: str) -> None:
    from assignor_lab.planning.scaling.policy_words import POLICY_COLUMNS, day_rows, days_sentence
    from assignor_lab.planning.scaling.scaled_object import HPA_COLUMNS, hpa_rows

    print_sentence(advice.sentence)
    print_sentence(days_sentence(advice.chosen, advice.keda, unit))
    console().print(table(POLICY_COLUMNS, day_rows([advice.chosen, advice.keda, *advice.constants])))
    console().print(table(HPA_COLUMNS, hpa_rows(advice.chosen.policy)))
    for line in manifest.splitlines():
        print_line(line)


def _document(
    advice: PolicyAdvice, source: str, group: str, verified: object, assumptions: list[str], manifest: str
) -> dict[str, object]:
    from assignor_lab.planning.scaling.policy_words import day_document
    from assignor_lab.planning.scaling.scaled_object import hpa_rows

    return {
        "source": source,
        "group": group,
        "verified": verified,
        "sentence": advice.sentence,
        "chosen": day_document(advice.chosen),
        "keda": day_document(advice.keda),
        "constants": [day_document(each) for each in advice.constants],
        "tried": advice.tried,
        "worst_day": {"lag_share": round(advice.lag_share, 4), "hours_share": round(advice.hours_share, 4)},
        "horizontal_pod_autoscaler": [
            {"lag": lag, "replicas": int(replicas)} for lag, replicas in hpa_rows(advice.chosen.policy)
        ],
        "scaled_object": manifest,
        "assumptions": assumptions,
    }
