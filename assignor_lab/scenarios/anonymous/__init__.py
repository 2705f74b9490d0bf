"""Names of captured groups replaced by keyed hashes, in scenarios of every kind."""

from assignor_lab.scenarios.anonymous.documents import anonymous_document, anonymous_sample
from assignor_lab.scenarios.anonymous.names import Pseudonyms, read_pseudonyms

__all__ = ["Pseudonyms", "anonymous_document", "anonymous_sample", "read_pseudonyms"]
