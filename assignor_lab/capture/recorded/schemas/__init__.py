"""Layouts of brokers' answers that kafka-python does not bring along, in the form in which it reads them."""
