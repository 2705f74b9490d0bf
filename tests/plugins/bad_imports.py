"""Plugins with harmful imports and good ones beside them, as distributions on a path."""

from __future__ import annotations

import time
from pathlib import Path

from tests.plugins.installing import write_distribution

__all__ = ["BAD", "GOOD", "NOTE", "install_bad", "install_good", "left_running", "running", "started"]

#: Records a bad plugin's process, or one that it started, in the file ``started``.
NOTE = """
def note_this_process():
    import os
    with open("/proc/self/stat") as stat, open({started!r}, "a") as file:
        begun = stat.read().rpartition(")")[2].split()[19]
        file.write(f"{os.getpid()} {begun} {os.readlink('/proc/self/ns/pid')}\\n")
note_this_process()
"""

_OFFER = """
from assignment_api import TaskAssignor
from assignment_api.plugins import TaskAssignorPlugin, hookimpl

@hookimpl
def assignor_lab_task_assignors():
    return [TaskAssignorPlugin({name!r}, TaskAssignor, summary="Looks good.")]
"""

#: A process that runs for an hour, unless it is ended.
_LINGER = """
import time
import os, signal, sys
def linger():
    os.setsid()
    note_this_process()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.execv(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(3600)"])
"""

#: Name to (imported code, its expected reason; ``None``: it is offered, and harms only itself).
BAD: dict[str, tuple[str, str | None]] = {
    "ends_green": ("import os\nos._exit(0)", "with exit code 0"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "sleeps": ("import time\ntime.sleep(3600)", "did not finish its import within 4 s"),
    "stops_itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "did not finish its import within 4 s"),
    "stops_its_parent": (
        "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)" + _OFFER,
        None,
    ),
    "eats_memory": ("held = [bytes(2**24) for _ in range(200)]", "MemoryError"),
    "reads_null": ("import ctypes\nctypes.string_at(0)", "was ended by SIGSEGV"),
    "writes_results": (
        "import os\nos.write(1, b'[]')\nos.closerange(3, 4096)",
        "closed the connection",
    ),
    "floods": ("import os\nwhile True: os.write(2, b'x' * 65536)", "printed more than"),
    "changes_everything": (
        "import attrs, json, os, sys\n" + _OFFER + "attrs.asdict = None\nsys.path.clear()\nos.environ.clear()\n"
        "sys.setrecursionlimit(60)\njson.loads = None",
        None,
    ),
    "keeps_a_thread": (
        _OFFER + "import threading, time\nthreading.Thread(target=lambda: time.sleep(3600)).start()",
        None,
    ),
    "ends_green_at_exit": (_OFFER + "import atexit, os\natexit.register(os._exit, 0)", None),
    "leaves_a_daemon": (
        _OFFER + _LINGER + "if os.fork() == 0:\n    if os.fork() == 0:\n        linger()\n    os._exit(0)\nos.wait()",
        None,
    ),
    "forks_many": (
        "import os, time\nfor _ in range(120):\n    if os.fork() == 0:\n        note_this_process()\n        break\n"
        "time.sleep(3600)",
        "more than 100 processes",
    ),
    "offers_too_much": (
        "from assignment_api.plugins import MetricPlugin, hookimpl\n@hookimpl\ndef assignor_lab_metrics():\n"
        "    one = MetricPlugin('m', '1', 'none', '', len)\n    return [one] * 10_000_000",
        "returned 10,000,000 items",
    ),
    "prints_while_it_eats": (
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        note_this_process()\n"
        "        held = bytearray(os.urandom(2**20) * 64)\n"
        "        while True:\n            os.write(1, b'.')\n            time.sleep(0.002)\n"
        "time.sleep(3600)",
        "more than 400 MiB of memory",
    ),
    "digs_deep": (
        "import os\nfor _ in range(1_100):\n    os.mkdir('d')\n    os.chdir('d')\n" + _OFFER,
        None,
    ),
    "litters": ("for number in range(1_000):\n    open(str(number), 'w').close()\n" + _OFFER, None),
    "forbids": (
        "import os\nos.makedirs('a/b/c')\nfor path in ('a/b/c', 'a/b', 'a', '.'):\n    os.chmod(path, 0)\n" + _OFFER,
        None,
    ),
    "leaves_zombies": (
        "import os, time\nfor _ in range(130):\n    if os.fork() == 0:\n        os._exit(0)\ntime.sleep(3600)",
        "and was stopped",
    ),
    "bombs": ("import os, time\nfor _ in range(7):\n    os.fork()\ntime.sleep(3600)", "and was stopped"),
    "has_many_threads": (
        _OFFER + "import threading, time\nthreading.stack_size(65536)\n"
        "for _ in range(100):\n    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()",
        None,
    ),
    "says_odd_things": (
        "class Odd(Exception): pass\nOdd.__name__ = 'Odd\\x1b[31m'\n"
        "raise Odd('half \\ud800 of a \\x1b[1m sign, \\x00 and \\n more')",
        ": half ",
    ),
    "is_called_odd": (_OFFER.replace("Looks good.", "half \\ud800 \\x1b[31m [bold]x[/bold] \\u202e"), None),
    "leaves_shared_memory": (
        _OFFER + "import ctypes\nassert ctypes.CDLL(None).shmget(0x6173736E, 4096, 0o1666) != -1\n"
        "open('/dev/shm/assignor-bad-import', 'w').close()",
        None,
    ),
    "turns_its_answer_round": (
        "import os, stat\nfor fd in range(3, 64):\n    try:\n        if stat.S_ISSOCK(os.fstat(fd).st_mode):\n"
        "            os.dup2(fd, 1)\n    except OSError:\n        pass\nos.write(1, b'good morning')",
        "an answer of more than",
    ),
    "stalls_halfway": (
        "import os, stat, time\nfor fd in range(3, 64):\n    try:\n        if stat.S_ISSOCK(os.fstat(fd).st_mode):\n"
        "            os.write(fd, (100).to_bytes(8, 'big') + b'{')\n    except OSError:\n        pass\n"
        "time.sleep(3600)",
        "did not finish its import within 4 s",
    ),
    "hides_in_a_namespace": (
        _OFFER + _LINGER + "import ctypes\nif os.fork() == 0:\n    ctypes.CDLL(None).unshare(0x30000000)\n"
        "    if os.fork() == 0:\n        linger()\n    os._exit(0)\nos.wait()",
        None,
    ),
    "is_no_module": (
        "import sys\nclass Evil:\n    def __getattr__(self, name):\n        raise KeyboardInterrupt(name)\n"
        "    __spec__ = None\nsys.modules[__name__] = Evil()",
        "implements no hook",
    ),
    "ends_green_from_a_thread": (
        "import os, threading, time\nthreading.Timer(0.05, os._exit, (0,)).start()\ntime.sleep(3600)",
        "with exit code 0",
    ),
    "talks_without_end": (
        "class Long(Exception):\n    def __str__(self):\n        return 'at length ' * 1_000_000\nraise Long",
        "at length at length",
    ),
    "blocks_all_signals": (
        "import ctypes, signal, time\nctypes.CDLL(None).prctl(15, b') Z 0 (')\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\ntime.sleep(3600)",
        "did not finish its import within 4 s",
    ),
    "takes_a_link_for_its_folder": (
        _OFFER
        + "import os, shutil\nhere = os.getcwd()\nos.chdir('/')\n"
        + "try:\n    shutil.rmtree(here)\n    os.symlink({precious!r}, here)\nexcept OSError:\n    pass",
        None,
    ),
    "forges_its_answer": (
        _OFFER + "import os, stat\nfor fd in range(3, 64):\n    try:\n        if stat.S_ISSOCK(os.fstat(fd).st_mode):\n"
        "            os.write(fd, (3).to_bytes(8, 'big') + b'{}x')\n    except OSError:\n        pass",
        "sent no valid answer",
    ),
}

_GOOD_ASSIGNOR = """
    from assignment_api import AssignedTask, StreamsClientAssignment, TaskAssignment, TaskAssignor
    from assignment_api.plugins import TaskAssignorPlugin, hookimpl

    class Greedy(TaskAssignor):
        def assign(self, application):
            first, *others = application.streams_client_states()
            everything = tuple(AssignedTask.active(task) for task in application.all_tasks())
            print("not among the results")
            return TaskAssignment([StreamsClientAssignment(first, everything), *map(StreamsClientAssignment, others)])

    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin("good_greedy", Greedy, aliases=["good-alias"], summary="Everything on the first.")]
"""
_GOOD_CONNECT = """
    from importlib.metadata import distribution

    from assignment_api.connect import ConnectAssignor
    from assignment_api.plugins import ConnectAssignorPlugin, discover, hookimpl

    class Incremental(ConnectAssignor):
        def __init__(self):
            ours = discover(installed=[distribution("assignor-lab")])
            self.inner = ours.connect_assignor("connect_incremental").create()

        def configure(self, configs):
            self.inner.configure(configs)

        def assign(self, rebalance):
            return self.inner.assign(rebalance)

    @hookimpl
    def assignor_lab_connect_assignors():
        return [ConnectAssignorPlugin("good_first", Incremental)]
"""
_GOOD_OTHERS = """
    from assignment_api.plugins import MetricPlugin, ScenarioFamily, discover, hookimpl

    class History:
        def __init__(self, seed):
            ours = {found.name: found.plugin for found in discover(installed=_own()).families()}
            self.inner = ours["streams_4x40"].history(seed)

        def round(self, number, previous):
            return self.inner.round(number, previous)

    def _own():
        from importlib.metadata import distribution
        return [distribution("assignor-lab")]

    @hookimpl
    def assignor_lab_metrics():
        return [MetricPlugin("good_clients", "clients", "none", "Clients that are told anything.", told)]

    def told(application, assignment):
        return sum(bool(client.tasks) for client in assignment.assignments)

    @hookimpl
    def assignor_lab_scenario_families():
        return [ScenarioFamily("good_family", "The family of four clients.", 3, History, size=lambda seed: 1.0)]

    @hookimpl
    def assignor_lab_assignment_computed(assignor, assignment):
        assert assignment is not None, assignor
"""
#: Distribution to its module.
GOOD = {
    "good-assignor": ("good_assignor_module", _GOOD_ASSIGNOR),
    "good-connect": ("good_connect_module", _GOOD_CONNECT),
    "good-others": ("good_others_module", _GOOD_OTHERS),
}


def install_good(folder: Path) -> None:
    """Writes three good plugins."""
    for name, (module, source) in GOOD.items():
        write_distribution(folder, name, {module: source}, {name: module})


def install_bad(folder: Path) -> None:
    """Writes the bad ones, one distribution each."""
    (folder / "precious").mkdir()
    (folder / "precious" / "file").write_text("precious")
    for name, (source, _) in BAD.items():
        source = source.replace("{name!r}", repr(name)).replace("{precious!r}", repr(str(folder / "precious")))
        module = NOTE.replace("{started!r}", repr(str(folder / "started"))) + source
        write_distribution(folder, f"bad-{name}", {f"bad_{name}": module}, {name: f"bad_{name}"})


def left_running(folder: Path) -> list[str]:
    """Running processes of bad plugins, from :func:`started`.

    Workers of Spark end with their JVM, just after the command: their child processes may take a moment.
    """
    limit = time.monotonic() + 5
    while (left := {*started(folder)} & running()) and time.monotonic() < limit:
        time.sleep(0.1)
    return [*left]


def started(folder: Path) -> list[str]:
    """Process id, start time and namespace of all processes that bad plugins have started.

    Namespaces begin with process id 1. Without the namespace, a process of another test could be taken for one of them.
    """
    return (folder / "started").read_text().splitlines()


def running() -> set[str]:
    """The same of all running processes; a process in a namespace has its id there."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            (numbers,) = (line for line in (path / "status").read_text().splitlines() if line.startswith("NSpid:"))
            namespace = (path / "ns" / "pid").readlink()
        except OSError:
            continue
        if fields[0] not in "ZX":
            found.add(f"{numbers.split()[-1]} {fields[19]} {namespace}")
    return found
