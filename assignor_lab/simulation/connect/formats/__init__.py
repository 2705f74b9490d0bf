"""Documents of episodes of Connect groups to values, and of their plays."""
