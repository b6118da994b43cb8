"""How the agent of RL-S2V learns: games, updates, and now and then a look at what it can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from augcl.attacks.agent import Agent
from augcl.training.checkpoint import Snapshot
from augcl.training.loop import same_settings
from augcl.training.progress import progress_bar

CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True)
class Schedule:
    """What happens when; see `RLS2V` for its parameters."""

    updates: int
    burn_in: int
    copy_every: int
    evaluate_every: int
    epsilon: tuple[float, float]
    epsilon_share: float

    def epsilon_at(self, update: int) -> float:
        """The probability of a random choice in an update, counted from 0.

        >>> schedule = Schedule(100, 1, 1, 1, epsilon=(1.0, 0.05), epsilon_share=0.5)
        >>> [schedule.epsilon_at(update) for update in (0, 25, 50, 99)]
        [1.0, 0.525, 0.05, 0.05]
        """
        start, end = self.epsilon
        falling = self.updates * self.epsilon_share
        done = min(1.0, update / falling) if falling else 1.0
        return start * (1 - done) + end * done


def train_agent(
    agent: Agent,
    model: Any,
    schedule: Schedule,
    *,
    accuracy: Callable[[], float],
    settings: dict[str, Any],
    folder: Path | None = None,
    resume: bool = False,
    progress: bool = True,
) -> None:
    """Let the agent play against the model and learn.

    At every evaluation `accuracy` tells what the agent leaves of the model, and the state in which
    that is lowest is remembered. With a `folder` there is a checkpoint, too; with `resume` the
    agent goes on from there, if it is one of the same settings.
    """
    file = None if folder is None else folder / CHECKPOINT
    if file is not None and resume and file.exists():
        snapshot = Snapshot.read(file)
        same_settings(snapshot.facts["settings"], settings, file.parent)
        agent.restore(snapshot)
    with progress_bar("RL-S2V", schedule.updates, show=progress) as report:
        if not agent.replay.seen:
            for _ in range(schedule.burn_in):
                agent.play(model, epsilon=1.0)
        losses: list[Tensor] = []
        for update in range(agent.updates, schedule.updates):
            epsilon = schedule.epsilon_at(update)
            agent.play(model, epsilon=epsilon)
            losses.append(agent.learn())
            agent.updates = done = update + 1
            if done % schedule.copy_every == 0:
                agent.copy_target()
            if done % schedule.evaluate_every and done < schedule.updates:
                continue
            found = accuracy()
            agent.best.see(found, done, agent.network)
            loss = float(torch.stack(losses).mean())
            losses.clear()
            agent.history.append(
                {"update": done, "loss": loss, "epsilon": epsilon, "accuracy": found}
            )
            report(done, f"accuracy of the victim {100 * found:.1f} %")
            if file is not None:
                agent.snapshot(settings).write(file)
