"""The steps that the client-side assignors of consumer groups share; private to the built-ins."""

from builtin_assignors._consumer_steps.numbering import NumberedGroup, in_turn, numbered

__all__ = ["NumberedGroup", "in_turn", "numbered"]
