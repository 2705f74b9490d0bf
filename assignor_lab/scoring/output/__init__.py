"""The output folder of a scoring run: journal, tables, and their publication in one step."""
