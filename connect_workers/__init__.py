"""Live Connect workers: their herders, their group, their logs on disk, and their REST interface."""
