"""The model in the middle: values of a group's past that readers make and views show. No input, no output, no clock."""
