from tests.captured_states import orders, tagged, warm

__all__ = ["orders", "tagged", "warm"]
