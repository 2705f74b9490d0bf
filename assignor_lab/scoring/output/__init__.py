"""The output folder of a scoring run: journal, tables, and the moment in which all of it appears."""
