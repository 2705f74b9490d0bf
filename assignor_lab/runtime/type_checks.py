"""typeguard, without the checkers that installed distributions add to it.

typeguard imports every entry point of its own group as soon as it is imported itself. That would be code that nobody
trusts, in the lab's process, whatever the policy says.
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
