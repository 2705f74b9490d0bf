"""How long the installed assignors take: `make bench`."""
