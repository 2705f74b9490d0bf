"""The simulated Connect cluster beside a recorded run of the published experiment."""
