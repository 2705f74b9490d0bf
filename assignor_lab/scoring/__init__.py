"""Scores assignors on Spark: states in, one row for each state and assignor out."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assignor_lab.capture.histories.past_terms import PastTerms
    from assignor_lab.scoring.frames.dataframe import score
    from assignor_lab.scoring.frames.frame_summary import FrameError, summary
    from assignor_lab.scoring.frames.shown_summary import ShownSummary as RunSummary
    from assignor_lab.scoring.sources.parts import Generated

__all__ = ["FrameError", "Generated", "PastTerms", "RunSummary", "score", "summary"]


def __getattr__(name: str) -> Any:
    # Start Spark before any other import; its starter is in a folder of this package.
    if name == "score":
        from assignor_lab.scoring.frames.dataframe import score

        return score
    if name == "Generated":
        from assignor_lab.scoring.sources.parts import Generated

        return Generated
    if name in ("FrameError", "summary"):
        from assignor_lab.scoring.frames import frame_summary

        return getattr(frame_summary, name)
    if name == "RunSummary":
        from assignor_lab.scoring.frames.shown_summary import ShownSummary as RunSummary

        return RunSummary
    if name == "PastTerms":
        from assignor_lab.capture.histories.past_terms import PastTerms

        return PastTerms
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
