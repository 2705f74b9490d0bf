"""The page in the browser: states and episodes, changed and asked again, with the Python that the commands use."""
