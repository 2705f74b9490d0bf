"""Groups of the streams protocol, assigned by the broker (KIP-1071)."""
