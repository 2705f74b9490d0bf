"""Random episodes of Streams groups, and the safety rules that none of them may violate."""
