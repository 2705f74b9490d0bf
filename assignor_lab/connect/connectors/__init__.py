"""The connectors that come with the lab."""

from assignor_lab.connect.connectors.files import FileSinkConnector, FileSourceConnector
from assignor_lab.connect.connectors.generator import FailingSourceConnector, GeneratorSourceConnector

__all__ = ["FailingSourceConnector", "FileSinkConnector", "FileSourceConnector", "GeneratorSourceConnector"]
