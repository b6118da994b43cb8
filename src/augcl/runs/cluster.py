"""Trainings on a Dask cluster: a worker gets a task and its data, and sends its files back.

No disk is shared. A worker first looks for the data where the caller has them, then by name in its
own folders; the bytes must be the same. Only if a worker finds none are the data sent, once to each
worker. A task runs in a temporary folder of its worker, and the caller writes the files into its
own folder. Dask runs the tasks of a lost worker elsewhere.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from distributed import Client, Future, KilledWorker, LocalCluster, WorkerPlugin, get_worker, wait
from distributed.worker import Worker

from augcl.data.catalogue import known_name
from augcl.data.loading import files_of, moved
from augcl.errors import InputError
from augcl.files import atomic_path
from augcl.runs.run import versions
from augcl.runs.workers import LOCAL, Ended, Task, Trouble
from augcl.training.progress import print_warning
from augcl.training.threads import deaf_workers

CONNECT, FIRST_WORKER = 15, 60
"""Seconds to wait for the scheduler, and for its first worker."""
TICK = 1.0
"""Seconds after which a new or a lost worker is noticed."""
LARGEST = 4 << 30
"""Bytes of the largest data that are sent to workers."""

Files = dict[str, bytes]


@contextmanager
def connected(where: str) -> Iterator[Cluster]:
    """Yield the cluster at an address, of a scheduler file, or of N processes here ("local:N")."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is told here
    local = LOCAL.fullmatch(where)
    with ExitStack() as stack:
        if local:
            with deaf_workers(signal.SIGINT):  # started here
                here = LocalCluster(
                    n_workers=int(local[1]),
                    threads_per_worker=1,
                    memory_limit=0,  # as with --jobs: the system says when memory ends
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            stack.enter_context(here)
            client = stack.enter_context(Client(here))
        else:
            given = {"scheduler_file": where} if Path(where).is_file() else {"address": where}
            try:
                client = stack.enter_context(Client(**given, timeout=CONNECT))
            except (OSError, ValueError, KeyError) as error:
                raise InputError(
                    f"no Dask scheduler answers at {where} ({error}): start one with dask scheduler"
                ) from None
            try:
                client.wait_for_workers(1, timeout=FIRST_WORKER)
            except TimeoutError:
                raise InputError(
                    f"the Dask scheduler at {where} has no workers: start some with dask worker "
                    f"{client.scheduler.address} --nthreads 1"
                ) from None
        cluster = Cluster(client)
        stack.callback(cluster.take_back_data)
        yield cluster


class Cluster:
    """The workers of a Dask scheduler: `Workers` that may come and go."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.addresses = self._addresses()
        self.data: dict[tuple[str, str | None], Data | None] = {}
        self.sent: set[Data] = set()

    @property
    def count(self) -> int:
        return max(1, len(self.addresses))

    def outcomes(self, tasks: Sequence[Task]) -> Generator[Ended, None, None]:
        """Run the tasks, each worker one at a time; yield each as soon as it has ended."""
        waiting = deque(tasks)
        running: dict[Future, tuple[Task, Files, ExitStack]] = {}
        try:
            while waiting or running:
                self._notice_workers()
                for _ in range(len(waiting)):
                    if len(running) >= self.count:
                        break
                    task, claim = waiting.popleft(), ExitStack()
                    if claim.enter_context(task.claim(wait=False)):
                        files = {str(f.relative_to(task.out)): f.read_bytes() for f in task.begun()}
                        running[self._submit(task, files)] = task, files, claim
                        continue
                    claim.close()
                    if task.wait and not task.finished:  # another process is computing it
                        waiting.append(task)
                    else:
                        yield task, None
                for future in self._ended(running):
                    task, files, claim = running.pop(future)
                    answer = self._answer(future)
                    if answer.lacks is not None:
                        self._send(answer.lacks)
                        running[self._submit(task, files)] = task, files, claim
                        continue
                    with claim:
                        for text in answer.warnings:
                            print_warning(text)
                        if answer.trouble is None:
                            _unpack(answer.files, task.out, replacing=files)
                    yield task, answer.trouble
            self._notice_workers()
        finally:
            if running and self.client.status == "running":
                self.client.cancel(list(running), force=True)
            for _, _, claim in running.values():
                claim.close()

    def take_back_data(self) -> None:
        """Let the workers delete the data that they were sent."""
        for data in self.sent:
            with suppress(Exception):  # the scheduler may be gone, and its workers clean up too
                self.client.unregister_worker_plugin(self._delivery(data))

    def _submit(self, task: Task, files: Files) -> Future:
        key = (task.dataset or "", task.data_dir)
        if key not in self.data:
            self.data[key] = None if task.dataset is None else Data.of(task.dataset, task.data_dir)
        order = Order(task, self.data[key], files, versions(), self.client.id)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # the files of a checkpoint
            # Every submission is a training of its own, even if an equal one has run before.
            return self.client.submit(_computed_there, order, pure=False)

    def _ended(self, running: dict[Future, tuple[Task, Files, ExitStack]]) -> list[Future]:
        if not running:
            time.sleep(TICK)
            return []
        with suppress(TimeoutError):
            wait(list(running), timeout=TICK, return_when="FIRST_COMPLETED")
        return [future for future in running if future.status != "pending"]

    def _answer(self, future: Future) -> Answer:
        try:
            answer: Answer = future.result()
        except KilledWorker:
            return Answer(trouble=Trouble("its process ended, on several workers one by one"))
        except ModuleNotFoundError as error:
            text = f"a worker has no {error.name}: install the same augcl there as here"
            return Answer(trouble=Trouble.of(InputError(text)))
        except Exception as error:
            return Answer(trouble=Trouble.of(error))
        return answer

    def _send(self, data: Data) -> None:
        """Send data once to each worker, and to those that come later."""
        if data in self.sent:  # by now they have arrived where they were missing
            return
        files = {
            str(file.relative_to(Path(path).parent)): file.read_bytes()
            for path in data.paths
            for file in _regular_files(Path(path))
        }
        self.client.register_plugin(Delivery(data, files, self.client.id), self._delivery(data))
        self.sent.add(data)

    def _delivery(self, data: Data) -> str:
        return f"augcl-{self.client.id}-{data.digest}"

    def _addresses(self) -> set[str]:
        try:
            return set(self.client.nthreads())
        except OSError:
            raise InputError(
                "the Dask scheduler is gone: when it is back, the same command (of augcl train, "
                "with --resume) continues"
            ) from None

    def _notice_workers(self) -> None:
        """Count the workers; tell the user about lost ones."""
        now = self._addresses()
        for lost in sorted(self.addresses - now):
            print_warning(f"the worker {lost} is lost: its trainings start again elsewhere")
        if self.addresses and not now:
            print_warning("no worker is left: waiting for new ones")
        self.addresses = now


@dataclass(frozen=True)
class Data:
    """A data set on the disk of the caller: `dataset` as the user gave it, its files, a hash."""

    dataset: str
    paths: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, dataset: str, data_dir: str | None) -> Data | None:
        """Describe what is read from the disk; None if every worker has it or downloads it."""
        paths = files_of(dataset, data_dir=data_dir)
        if not paths:
            return None
        size = sum(file.stat().st_size for path in paths for file in _regular_files(path))
        if size > LARGEST:
            raise InputError(
                f"{dataset} has {size >> 30} GB, too much to send: copy it to every worker, below "
                "the folder that $AUGCL_DATA names there"
            )
        absolute = [path.absolute() for path in paths]
        return cls(dataset, tuple(map(str, absolute)), _digest(absolute))

    @property
    def key(self) -> str:
        return known_name(self.dataset) or self.dataset

    def here(self, received: Path) -> Path | None:
        """Return where this process finds the same bytes; None if nowhere."""
        places = [[Path(path) for path in self.paths]]
        with suppress(InputError):
            places.append(files_of(self.dataset))
        places.append([received / Path(path).name for path in self.paths])
        for paths in places:
            with suppress(OSError):
                if paths and _digest(paths) == self.digest:
                    return paths[0]
        return None


def _regular_files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file())
    return [path]


def _digest(paths: Sequence[Path]) -> str:
    """Return a hash of names and contents; raise OSError if one does not exist."""
    files = [(path, file, file.stat()) for path in paths for file in _regular_files(path)]
    marks = [
        (str(file), str(file.relative_to(path.parent)), stat.st_mtime_ns, stat.st_size)
        for path, file, stat in files
    ]
    return _hash(tuple(marks))


@lru_cache(maxsize=64)  # a changed file has another time or size
def _hash(files: tuple[tuple[str, str, int, int], ...]) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for file, name, _, size in files:
        whole.update(f"{name}\0{size}\0".encode())
        with open(file, "rb") as content:
            while piece := content.read(1 << 22):
                whole.update(piece)
    return whole.hexdigest()


class Delivery(WorkerPlugin):  # type: ignore[misc]
    """Data that every worker, also one that starts later, writes to its own folder."""

    def __init__(self, data: Data, files: Files, sender: str) -> None:
        self.data, self.files, self.sender = data, files, sender

    def setup(self, worker: Worker) -> None:
        _unpack(self.files, _received(worker, self.sender, self.data))
        self.files = {}  # they are on the disk now

    def teardown(self, worker: Worker) -> None:
        shutil.rmtree(_received(worker, self.sender, self.data), ignore_errors=True)


def _received(worker: Worker, sender: str, data: Data | None) -> Path:
    return Path(worker.local_directory) / sender / ("none" if data is None else data.digest)


@dataclass(frozen=True)
class Order:
    """What a worker needs to compute a task."""

    task: Task
    data: Data | None
    files: Files
    versions: dict[str, str]
    sender: str


@dataclass(frozen=True)
class Answer:
    """What a worker sends back; `lacks`: the data that it did not find."""

    files: Files = field(default_factory=dict)
    trouble: Trouble | None = None
    warnings: tuple[str, ...] = ()
    lacks: Data | None = None


_ONE_TASK = threading.Lock()  # a worker may have several threads, and tasks set process-wide things


def _computed_there(order: Order) -> Answer:
    """Compute a task on a worker."""
    with _ONE_TASK, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default", UserWarning)
        try:
            answer = _compute(order)
        except Exception as error:
            answer = Answer(trouble=Trouble.of(error))
    told = [str(one.message) for one in said if issubclass(one.category, UserWarning)]
    return Answer(answer.files, answer.trouble, tuple(dict.fromkeys(told)), answer.lacks)


def _compute(order: Order) -> Answer:
    _compare_versions(order.versions)
    places = {}
    if order.data is not None:
        place = order.data.here(_received(get_worker(), order.sender, order.data))
        if place is None:
            return Answer(lacks=order.data)
        places = {order.data.key: place}
    with tempfile.TemporaryDirectory(prefix="augcl-") as folder, moved(places):
        out = Path(folder)
        _unpack(order.files, out)
        order.task.compute(out, None)
        written = [file for file in out.rglob("*") if file.is_file() and file.suffix != ".lock"]
        written.sort(key=lambda file: file.stat().st_mtime_ns)  # a record is written last
        return Answer({str(file.relative_to(out)): file.read_bytes() for file in written})


def _compare_versions(caller: dict[str, str]) -> None:
    here, where = versions(), get_worker().address
    if here["augcl"] != caller["augcl"]:
        raise InputError(
            f"the worker {where} has augcl {here['augcl']}, but {caller['augcl']} asks for the "
            "training: install the same version on both"
        )
    other = [
        f"{name} {here[name]}, not {caller[name]}" for name in here if here[name] != caller[name]
    ]
    if other:
        warnings.warn(f"the worker {where} has {', '.join(other)}: digits may differ", stacklevel=2)


def _unpack(files: Files, folder: Path, replacing: Files | None = None) -> None:
    """Write files below a folder, in their order; remove those that they replace."""
    for name in (replacing or {}).keys() - files.keys():
        (folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # other files are in it
            (folder / name).parent.rmdir()
    for name, content in files.items():
        if os.path.isabs(name) or ".." in Path(name).parts:
            raise InputError(f"a worker sent the file {name}, which is not below its folder")
        with atomic_path(folder / name) as temporary:
            temporary.write_bytes(content)
