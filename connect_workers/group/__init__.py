"""A live worker's group: coordinator, membership, assignors."""
