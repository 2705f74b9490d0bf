"""Conformance in the lab: the kit's trials with assignors of the commands, isolated if untrusted."""
