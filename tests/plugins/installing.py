from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
MISBEHAVING = ROOT / "tests" / "distributions" / "assignor-misbehaving"


def install(project: Path, folder: Path) -> Path:
    """Builds ``project`` and installs it into ``folder`` with pip, as a third party does, without an index."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    command += ["--no-deps", "--no-build-isolation", "--target", str(folder), str(project)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def write_distribution(
    folder: Path, name: str, modules: Mapping[str, str], entry_points: Mapping[str, str], version: str = "1.0"
) -> Path:
    """Writes an installed distribution into ``folder``: its modules and its metadata."""
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(dedent(text), encoding="utf-8")
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    metadata.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    points = "".join(f"{point} = {target}\n" for point, target in entry_points.items())
    metadata.joinpath("entry_points.txt").write_text(f"[assignment_api]\n{points}")
    return metadata


def installed_in(*folders: Path) -> list[Distribution]:
    """The distributions in ``folders``, and the one under test with the built-ins."""
    own = [found for found in distributions() if found.name == "assignor-lab"][:1]
    return own + list(distributions(path=[str(folder) for folder in folders]))
