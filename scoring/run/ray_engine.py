"""The engine beyond one machine: shards are Ray tasks, models live in one actor per GPU or node.

Results come back in the order of the shards, so outputs are those of the local engine, byte for byte. A node that is
lost takes nothing with it: its shards run again elsewhere. Scores are cached by the process that asks; embeddings are
cached by the nodes in the same folder, when they share it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from scoring.errors import ScoringError
from scoring.models import threads
from scoring.models.embeddings_cache import Vectors
from scoring.run.engines import Batch, compute_here
from scoring.run.plan import Results, Step

RETRIES = 10
"""How often a shard runs again when the node under it is lost."""
SETTINGS = ("HF_HOME", "METEOR_DIR", "SCORING_MODELS", "WORDNET_DIR", "WORD_VECTORS")
"""Settings that go with the work to other nodes."""
LOOPBACK = "127.0.0.1"
_ROOT = str(Path(__file__).resolve().parents[2])


class Cluster:
    """The cluster that RAY_ADDRESS names, or one of this machine alone with so many processes, while it runs."""

    def __init__(self, plan: Sequence[Step], jobs: int) -> None:
        self._plan, self._jobs = tuple(plan), jobs

    def run(self, batches: Iterable[Batch]) -> Iterator[Results]:
        with connected(self._jobs) as ray:
            models = _ModelActors(ray) if any(step.family.encodes for step in self._plan) else None
            run_info = {
                "key": uuid4().hex,
                # In a list, Ray hands over the reference instead of fetching the plan for every task.
                "plan": [ray.put(self._plan)],
                "signatures": _signatures(self._plan),
                "folder": str(Path.cwd()),
            }
            task = ray.remote(num_cpus=1, max_retries=RETRIES)(_compute)
            pending: deque[Any] = deque()
            try:
                for batch in batches:
                    has_work = any(piece.missing for piece in batch)
                    actors = models.actors() if models and has_work else {}
                    pending.append(task.remote(run_info, actors, batch) if has_work else [[] for _ in batch])
                    while len(pending) > _window(ray):
                        yield _result(ray, pending.popleft())
                while pending:
                    yield _result(ray, pending.popleft())
            finally:
                for result in pending:
                    if isinstance(result, ray.ObjectRef):
                        ray.cancel(result, force=False)


@contextmanager
def connected(jobs: int) -> Iterator[Any]:
    """Ray, connected to a cluster; a connection that was there before stays."""
    address = os.environ.get("RAY_ADDRESS")
    if not address or address.startswith(LOOPBACK):
        # Otherwise Ray, when it is loaded, turns the address of this machine alone into one that others can reach.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    ray = load_ray()
    if ray.is_initialized():
        yield ray
        return
    paths = [_ROOT, os.environ.get("PYTHONPATH", "")]
    variables = {name: os.environ[name] for name in SETTINGS if os.environ.get(name)}
    variables["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    if not address and " " in sys.executable:  # it would wait for them for ever
        raise ScoringError(
            f"Ray starts no processes from a path with spaces ({sys.executable}); make the environment elsewhere, "
            "or use --engine local."
        )
    # Alone, it stays on this machine: no other may connect, and there is no page to watch it.
    local_options = {} if address else {"num_cpus": jobs, "include_dashboard": False, "_node_ip_address": LOOPBACK}
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level="ERROR",
            runtime_env={"env_vars": variables},
            **local_options,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        cluster = f"The cluster at {address}" if address else "A cluster on this machine"
        raise ScoringError(
            f"{cluster} cannot be reached ({str(error).splitlines()[0]}); check RAY_ADDRESS, or use --engine local."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def load_ray() -> Any:
    """The library, told not to report its use to anybody."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # A worker is an interpreter of its own; without this Ray prints a paragraph about a change to come.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    return importlib.import_module("ray")


def _window(ray: Any) -> int:
    """Shards under way: enough to keep every node busy, few enough to keep memory flat."""
    return 2 * int(ray.cluster_resources().get("CPU", 1)) + 1


def _signatures(plan: Sequence[Step]) -> dict[str, str]:
    return {metric.name: step.family.signature(metric.base) for step in plan for metric in step.all_metrics}


def _result(ray: Any, item: Any) -> Results:
    if not isinstance(item, ray.ObjectRef):
        return item  # type: ignore[no-any-return]
    try:
        return ray.get(item)  # type: ignore[no-any-return]
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ScoringError):
            raise error.cause from None
        raise
    except ray.exceptions.RayError as error:
        raise ScoringError(
            f"A shard was lost with its node {RETRIES} times ({type(error).__name__}; out of memory?); with a cache "
            "what was scored is kept, and the same command goes on."
        ) from error


class _ModelActors:
    """One actor per GPU, or per node without one, each with its own copy of the models."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._actors: dict[str, list[Any]] = {}

    def actors(self) -> dict[str, list[Any]]:
        """The actors of each node that is alive now."""
        nodes = {node["NodeID"]: node["Resources"] for node in self._ray.nodes() if node["Alive"]}
        self._actors = {node: actors for node, actors in self._actors.items() if node in nodes}
        for node, resources in nodes.items():
            if node not in self._actors and resources.get("CPU", 0) > 0:
                self._actors[node] = self._start(node, int(resources["CPU"]), int(resources.get("GPU", 0)))
        return self._actors

    def _start(self, node: str, cores: int, gpus: int) -> list[Any]:
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        place = strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        actor_class = self._ray.remote(num_cpus=0, num_gpus=1 if gpus else 0, scheduling_strategy=place)(ModelActor)
        return [actor_class.remote(cores) for _ in range(max(gpus, 1))]


class ModelActor:
    """Runs models for the tasks of one node."""

    def __init__(self, cores: int) -> None:
        threads.use(cores)

    def run(
        self, name: str, sequences: Sequence[Sequence[int]], layers: Sequence[str], is_half: bool
    ) -> list[list[Vectors]]:
        from scoring.models.torch_runner import LocalBackend

        return LocalBackend().run(name, sequences, layers, is_half)


class _ActorBackend:
    """The encoder's backend inside a task: asks the actor of its node."""

    def __init__(self, ray: Any, actors: Sequence[Any]) -> None:
        self._ray, self._actors, self._next = ray, actors, 0

    def run(
        self, name: str, sequences: Sequence[Sequence[int]], layers: Sequence[str], is_half: bool
    ) -> list[list[Vectors]]:
        self._next += 1
        actor = self._actors[self._next % len(self._actors)]
        try:
            return self._ray.get(actor.run.remote(name, sequences, layers, is_half))  # type: ignore[no-any-return]
        except self._ray.exceptions.RayActorError:
            # The actor is lost (out of memory?) but this process lives: it does the work itself.
            return ModelActor(1).run(name, sequences, layers, is_half)


_plans: dict[str, tuple[Step, ...]] = {}


def _compute(run_info: Mapping[str, Any], actors: Mapping[str, Sequence[Any]], batch: Batch) -> Results:
    """One shard, on some node."""
    ray = load_ray()
    if run_info["key"] not in _plans:
        _plans.clear()
        _plans[run_info["key"]] = _take_plan(ray, run_info)
    node_actors = actors.get(ray.get_runtime_context().get_node_id())
    if node_actors:
        from scoring.models.encoder import use_backend

        use_backend(_ActorBackend(ray, node_actors))
    return compute_here(_plans[run_info["key"]], batch)


def _take_plan(ray: Any, run_info: Mapping[str, Any]) -> tuple[Step, ...]:
    """The plan, once per process; a node that would score in another way refuses."""
    threads.use(1)
    if Path(run_info["folder"]).is_dir():
        os.chdir(run_info["folder"])
    plan: tuple[Step, ...] = ray.get(run_info["plan"][0])
    for name, signature in _signatures(plan).items():
        if signature != run_info["signatures"].get(name):
            raise ScoringError(
                f"The node {ray.util.get_node_ip_address()} would score {name} in another way ({signature} instead of "
                f"{run_info['signatures'].get(name)}); install the same versions and models on every node."
            )
    return plan
