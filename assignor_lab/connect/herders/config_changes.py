"""How a worker follows changes of the configuration (reference 6.3, step 7)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from assignment_api.connect import ConnectProtocol

if TYPE_CHECKING:
    from assignor_lab.connect.herders.herder_loop import HerderLoop

__all__ = ["apply_news"]


async def apply_news(loop: HerderLoop) -> bool:
    """Acts on what was read: restarts connectors, moves them to target states, stops tasks, asks for a rebalance.

    Args:
        loop: The worker's herder.

    Returns:
        Whether the loop has to begin anew, since a rebalance is needed.
    """
    if not loop.news:
        return False
    loop.snapshot = loop.reader.snapshot()
    rebalance = loop.news.take_rebalance()
    if rebalance:
        loop.membership.request_rejoin()
    if rebalance and loop.membership.protocol is ConnectProtocol.EAGER:
        # Everything stops before the rebalance, and starts as it is configured then.
        loop.news.take_changed()
        loop.news.take_targets()
        loop.news.take_retasked()
        return True
    with loop.stages.of("handling changes of the configuration"):
        await _bounce_changed(loop)
        _apply_targets(loop)
        await _stop_retasked(loop)
    return rebalance


async def _bounce_changed(loop: HerderLoop) -> None:
    for name in loop.news.take_changed():
        if _holds(loop, name):
            await loop.instances.stop_connector(name)
            if _holds(loop, name):
                loop.start_connector(name)


def _holds(loop: HerderLoop, name: str) -> bool:
    return loop.membership.held is not None and name in loop.membership.held.connectors


def _apply_targets(loop: HerderLoop) -> None:
    for name in loop.news.take_targets():
        if name not in loop.snapshot.connectors:
            continue
        moved = loop.instances.set_target(name, loop.snapshot.target_state(name))
        if moved is not None:
            loop.moving_to(name, asyncio.wrap_future(moved))


async def _stop_retasked(loop: HerderLoop) -> None:
    retasked, held = loop.news.take_retasked(), loop.membership.held
    if held is None or loop.membership.protocol is ConnectProtocol.EAGER:
        return
    connectors = {task.connector for task in retasked}
    tasks = [task for task in held.tasks if task.connector in connectors]
    await loop.instances.stop_all([], tasks)
    loop.restart_tasks.update(dict.fromkeys(tasks))
