"""Documents of episodes of Streams groups, to values and back."""
