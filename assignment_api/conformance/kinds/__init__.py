"""What differs by kind of group: the small worlds in which histories are played, and the checks of answers."""
