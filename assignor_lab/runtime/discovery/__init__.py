"""Discovery that harms nobody: plugins that nobody trusts are imported, described and called in their own processes."""

from assignor_lab.runtime.discovery.descriptions import Description
from assignor_lab.runtime.discovery.discovered import Plugins, discovered

__all__ = ["Description", "Plugins", "discovered"]
