"""typeguard without checkers from installed distributions.

typeguard imports every entry point of its own group when it is imported. That would run untrusted code in the lab's
process, against the policy.
"""

from __future__ import annotations

import os

_SWITCH = "TYPEGUARD_DISABLE_PLUGIN_AUTOLOAD"

_was = os.environ.get(_SWITCH)
os.environ[_SWITCH] = "1"
try:
    from typeguard import CollectionCheckStrategy, TypeCheckError, check_type
finally:
    if _was is None:
        del os.environ[_SWITCH]
    else:
        os.environ[_SWITCH] = _was

__all__ = ["CollectionCheckStrategy", "TypeCheckError", "check_type"]
