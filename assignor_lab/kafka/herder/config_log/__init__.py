"""Config log for a herder: records, end of the log, and effects of a change."""
