"""Safe discovery: untrusted plugins are imported, described and called in their own processes."""

from assignor_lab.runtime.discovery.descriptions import EntryPointDescription
from assignor_lab.runtime.discovery.discovered import Plugins, discovered

__all__ = ["EntryPointDescription", "Plugins", "discovered"]
