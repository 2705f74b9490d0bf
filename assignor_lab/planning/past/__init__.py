"""Past changes of a group: found in its history, predicted from the state before each, compared with the recording."""
