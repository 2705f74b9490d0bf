"""The best order of a rolling restart: order, batches, pauses and surge, found by plays with the same draws."""
