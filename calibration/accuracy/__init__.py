"""Predictions of ``assignor plan`` beside recorded changes of real groups."""
