"""A live Connect cluster of this project's own: workers, their herders, their logs on disk."""
