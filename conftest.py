"""Rules for every test of this repository, including the example plugins' tests.

A skipped test proves nothing, so skips, expected failures and skipped modules are failures here, with their reasons.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Generator
from functools import cache
from importlib import metadata
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).parent

#: Files of more than ten seconds, the longest first.
LONG_FILES = (
    "capture/live/test_guarded_broker.py",  # the first of the brokers' files, which stay together
    "scoring/test_places.py",
    "new/test_from_the_wheel.py",
    "groups/streams_group/test_group_command.py",
    "plugins/test_bad_imports.py",
    "scoring/test_score_command.py",
    "scoring/test_scoring_on_spark.py",
    "scoring/test_score_gates_command.py",
    "scoring/test_resume.py",
    "scoring/test_connect_command.py",
    "scoring/test_repetition.py",
    "scoring/test_one_answer.py",
    "scoring/test_isolated_scoring.py",
    "scoring/test_without_spark.py",
    "scoring/test_data_source.py",
    "scoring/test_readers.py",
    "scoring/test_exclusion.py",
    "capture/test_topology_recordings.py",
    "verification/test_verified.py",
    "capture/connect_log/test_departures.py",
    "conformance/test_command.py",
    "runtime/test_isolation.py",
    "groups/streams_group/test_isolated_groups.py",
    "groups/connect/test_isolated_connect.py",
    "groups/connect/test_connect_answering.py",
    "scenarios/test_event_families.py",
    "scenarios/test_streams_group_families.py",
    "scenarios/test_reading.py",
    "scenarios/test_unwritable_files.py",
    "builtin_assignors/test_high_availability_golden.py",
    "builtin_assignors/test_group_sticky.py",
    "builtin_assignors/test_connect_golden.py",
    "parity/test_cases.py",
    "cli/test_bench.py",
    "cli/test_help.py",
    "explain/test_explain.py",
)


#: `make test-services` keeps these files in one process each: brokers' tests wait half of their time.
SERVICES = {
    "broker": (
        "tests/capture/live/",
        "tests/connect/",
        "tests/connect_workers/",
        "tests/serving/test_real",
        "tests/serving/test_optimal",
    ),
    "browser": ("tests/report/test_browser", "tests/web/test_in_a_browser"),
}
#: `--fast` runs this many parameter sets of each test, the first ones.
FAST_CASES = 1
#: `--fast` runs this many examples of each test with Hypothesis.
FAST_EXAMPLES = 5
#: A file of tests that `--fast` leaves out as a whole.
SLOW_FILE = re.compile(r"^pytestmark = .*\bmark\.(?:slow|services)\b", re.MULTILINE)
#: Audit events of a process that starts another one.
PROCESS_EVENTS = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn"})


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make test-fast`."""
    parser.addoption(
        "--fast",
        action="store_true",
        help="leave out tests marked services, spark or slow; of the others, run a sample of parameters and examples",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Remove the terminal's width from the environment, which processes of xdist inherit.

    Raises:
        pytest.UsageError: if tests of an example plugin are named that is not installed.
    """
    os.environ.pop("COLUMNS", None)
    if config.getoption("--fast"):
        hypothesis.settings.register_profile("fast", deadline=None, max_examples=FAST_EXAMPLES)
        hypothesis.settings.load_profile("fast")
    named = [Path(each.partition("::")[0]).absolute() for each in config.invocation_params.args]
    for missing in _not_installed():
        if any(each in (missing, missing.parent) or missing in each.parents for each in named):
            raise pytest.UsageError(_left_out(missing))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out tests of an example plugin that is not installed, and with `--fast` files that are slow as a whole."""
    left_out = collection_path in _not_installed() or (
        config.getoption("--fast")
        and collection_path.suffix == ".py"
        and SLOW_FILE.search(collection_path.read_text(encoding="utf-8")) is not None
    )
    return True if left_out else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the example plugins with left-out tests."""
    for missing in _not_installed():
        terminalreporter.write_line(f"left out: {_left_out(missing)}", yellow=True)


@cache
def _not_installed() -> tuple[Path, ...]:
    """Folders of the example plugins without an installed distribution."""
    return tuple(file.parent for file in sorted(ROOT.glob("plugins/*/pyproject.toml")) if not _is_installed(file))


def _is_installed(project: Path) -> bool:
    try:
        metadata.distribution(_project_name(project))
    except metadata.PackageNotFoundError:
        return False
    return True


def _project_name(file: Path) -> str:
    name: str = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["name"]
    return name


def _left_out(folder: Path) -> str:
    return f"the tests in {folder.relative_to(ROOT)}: the plugin is not installed, run `make plugins`"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by their fixtures, sort them, and leave out most of them with `--fast`.

    Long files come first, so that no process has a long one at the end. Tests with a browser come last: Playwright
    leaves a loop running, and no other runs in its thread after that.
    """
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "spark" in fixtures:
            item.add_marker("spark")
        if item.get_closest_marker("services"):
            item.add_marker("browser" if "browser" in fixtures else "kafka")
    if config.getoption("--fast"):
        kept = _sample(items)
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept
    places = {ROOT / "tests" / name: place for place, name in enumerate(LONG_FILES)}

    def place(item: pytest.Item) -> tuple[bool, int]:
        return "browser" in getattr(item, "fixturenames", ()), places.get(item.path, len(places))

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """With `-m services`, keep tests of brokers in one process, and those of the browser, too."""
    if config.getoption("markexpr") != "services":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ServiceScheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return next((service for service, files in SERVICES.items() if file.startswith(files)), file)

    return ServiceScheduling(config, log)


def _sample(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests of `--fast`, in their order."""
    kept: list[pytest.Item] = []
    cases: Counter[str] = Counter()
    for item in items:
        function, _, _ = item.nodeid.partition("[")
        cases[function] += 1
        if cases[function] <= FAST_CASES and not any(map(item.get_closest_marker, ("services", "spark", "slow"))):
            kept.append(item)
    return kept


@pytest.fixture(scope="session", autouse=True)
def fast_surroundings(request: pytest.FixtureRequest) -> Generator[None]:
    """With `--fast`, hide the example plugins, and fail tests that start processes."""
    if not request.config.getoption("--fast"):
        yield
        return
    sys.addaudithook(_refuse_process)
    found, examples = metadata.Distribution.discover, {_project_name(file) for file in ROOT.glob("plugins/*/*.toml")}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            metadata.Distribution,
            "discover",
            lambda **terms: (each for each in found(**terms) if each.name not in examples),
        )
        yield


def _refuse_process(event: str, _: tuple[object, ...]) -> None:
    if event in PROCESS_EVENTS:
        raise RuntimeError("a test of `make test-fast` starts no process: mark it with pytest.mark.slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn skipped and xfailed tests into failures."""
    report = yield
    if report.skipped or hasattr(report, "wasxfail"):
        reason = getattr(report, "wasxfail", None) or _reason(report)
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: a test may neither be skipped nor expected to fail ({reason})"
        if hasattr(report, "wasxfail"):
            del report.wasxfail
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn modules that skip themselves into failures."""
    report = yield
    if report.outcome == "skipped":
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid}: a module may not skip its tests ({_reason(report)})"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The text of `pytest.skip`."""
    match report.longrepr:
        case (_, _, str(text)):
            return text
        case other:
            return str(other)
