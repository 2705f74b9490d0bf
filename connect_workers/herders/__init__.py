"""Herders: the contract, the standalone one, the distributed one."""
