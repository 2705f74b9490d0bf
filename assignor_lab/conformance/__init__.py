"""Conformance in the lab: the kit's trials with assignors as commands find them, isolated where nobody trusts them."""
