"""Advice on generated groups, compared with the best configuration of a long exhaustive play."""
