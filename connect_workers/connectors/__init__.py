"""The connectors that come with the lab."""

from connect_workers.connectors.files import FileSinkConnector, FileSourceConnector
from connect_workers.connectors.generator import FailingSourceConnector, GeneratorSourceConnector

__all__ = ["FailingSourceConnector", "FileSinkConnector", "FileSourceConnector", "GeneratorSourceConnector"]
