"""An application as bytes: to send it to another process, and to see whether somebody changed it.

The tasks are a part of their own, since they seldom change between the rounds of a history and need not be made anew
then.
"""

from __future__ import annotations

import pickle

from assignment_api import ApplicationMetadata
from assignor_lab.runtime.plain_application import plain_application, plain_tasks

__all__ = ["fingerprint", "packed_application"]


def fingerprint(application: ApplicationMetadata) -> tuple[bytes, ...]:
    """Everything that an assignor is shown, for comparison within this process."""
    ids = [info.id for info in application.task_infos().values()]
    keys = (
        [(task.subtopology, task.partition, task.topology_name) for task in ids],
        [process.id.int for process in application.streams_client_states()],
    )
    return (*packed_application(application), pickle.dumps(keys, protocol=5))


def packed_application(application: ApplicationMetadata) -> tuple[bytes, bytes]:
    """The application and its tasks, each as bytes: pickled plain data."""
    plain = plain_application(application)
    # As plain tuples: the names of their parts need not travel.
    whole = (plain.ids, [tuple(client) for client in plain.clients], *plain[2:])
    return (
        pickle.dumps(whole, protocol=5),
        pickle.dumps(plain_tasks(list(application.task_infos().values())), protocol=5),
    )
