"""Episodes of Streams groups as a kind of scenario: each competitor decides for its own simulated group."""
