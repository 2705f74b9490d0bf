"""Documents of decisions and episodes to values of a history, and back."""
