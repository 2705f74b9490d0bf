"""Episodes of Streams groups as a kind of scenario: each competitor decides for a simulated group of its own."""
