"""A task assignor controlled by a file, in its own process."""

from __future__ import annotations

import time
from pathlib import Path

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignor,
)

MOOD = Path(__file__).with_name("mood")


class Moody(TaskAssignor):
    """Assigns tasks in turn."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        mood = MOOD.read_text().strip() if MOOD.exists() else "good"
        if mood == "hanging" and len(application.all_tasks()) > 1:
            time.sleep(3_600)
        if mood == "slow":
            time.sleep(0.5)
        if mood == "talkative":
            print("I was asked")
        clients = list(application.streams_client_states())
        tasks = list(application.all_tasks())
        if mood == "forgetful":
            tasks.pop()
        held: dict[object, list[AssignedTask]] = {client: [] for client in clients}
        for number, task in enumerate(tasks):
            held[clients[number % len(clients)]].append(AssignedTask.active(task))
        if mood == "doubling":
            held[clients[0]] = [AssignedTask.active(task) for task in tasks]
        return TaskAssignment(tuple(StreamsClientAssignment(client, held[client]) for client in clients))
