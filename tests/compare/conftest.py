from tests.captured_states import tagged

__all__ = ["tagged"]
