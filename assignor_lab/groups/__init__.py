"""Kinds of groups: everything that differs between Streams, streams groups and Connect."""
