"""Everything that runs assignors: scenarios, scoring, capture, reports and the command `assignor`."""
