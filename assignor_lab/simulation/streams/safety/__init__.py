"""Random episodes of Streams groups, and the rules of safety that none of them may break."""
