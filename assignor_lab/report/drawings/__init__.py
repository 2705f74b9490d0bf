"""Drawings as plain numbers; the templates turn them into SVG."""
