"""The output folder of a scoring run: rows, tables, and their publication in one step."""
