"""Names of captured groups replaced by keyed hashes, in scenarios of every kind."""

from assignor_lab.scenarios.anonymous.documents import anonymous_document, anonymous_sample
from assignor_lab.scenarios.anonymous.names import NAMES_DECIDE, Pseudonyms, is_pseudonym, read_pseudonyms

__all__ = [
    "NAMES_DECIDE",
    "Pseudonyms",
    "anonymous_document",
    "anonymous_sample",
    "is_pseudonym",
    "read_pseudonyms",
]
