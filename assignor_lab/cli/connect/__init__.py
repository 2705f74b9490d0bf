"""The commands under ``assignor connect``, one file each."""
