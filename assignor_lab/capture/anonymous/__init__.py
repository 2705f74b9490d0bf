"""Names of captured groups replaced by keyed hashes, in scenarios and in records of coordinators."""

from assignor_lab.capture.anonymous.documents import anonymous_document, anonymous_sample
from assignor_lab.capture.anonymous.names import Pseudonyms, read_pseudonyms
from assignor_lab.capture.anonymous.records import anonymous_record

__all__ = [
    "Pseudonyms",
    "anonymous_document",
    "anonymous_record",
    "anonymous_sample",
    "read_pseudonyms",
]
