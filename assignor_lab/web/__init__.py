"""The pages of ``assignor ui``: states and episodes, changed and decided again, with the code of the commands."""
