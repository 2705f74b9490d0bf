"""JSON, the shapes of documents, places in files, and durable writes."""
