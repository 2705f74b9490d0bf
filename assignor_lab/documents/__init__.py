"""JSON, checks of documents, places in files, and durable writes."""
