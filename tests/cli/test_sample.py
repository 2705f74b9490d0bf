"""``assignor sample``: the files of the tutorials."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.cli.main import main
from assignor_lab.scenarios import read_scenarios


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["sample", *words])
    return int(left.value.code or 0)


def test_the_sample_has_logs_settings_and_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path / "sample")) == 0
    assert len(list((tmp_path / "sample" / "logs").glob("*.log.gz"))) == 4
    assert (tmp_path / "sample" / "application.properties").is_file()
    assert len(list(read_scenarios(tmp_path / "sample" / "states.jsonl"))) == 24
    assert capsys.readouterr().err == ""


def test_a_folder_that_exists_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path)) == 2
    assert "name a new folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
