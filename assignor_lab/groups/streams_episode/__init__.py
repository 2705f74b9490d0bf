"""Episodes of Streams groups as a kind of scenario: each contender decides for its own simulated group."""
