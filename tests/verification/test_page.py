"""The page of ``assignor ui`` begins with the verification of a past, or with the banner."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignment_api.plugins import config_sources
from assignor_lab.runtime.discovery import discovered
from assignor_lab.web.opened import opened
from assignor_lab.web.view_answers import ViewAnswers
from tests.capture.flight_recording import write_recording
from tests.verification.test_scored import FLIGHT, exchange_racks
from tests.web.pages import TOKEN, Page


@pytest.mark.slow
@pytest.mark.parametrize("is_wrong", [False, True])
def test_every_view_begins_with_it(*, is_wrong: bool, tmp_path: Path) -> None:
    write_recording(tmp_path / "past", "classic")
    if is_wrong:
        exchange_racks(tmp_path / "past")
    file = tmp_path / "flight.properties"
    file.write_text(FLIGHT, encoding="utf-8")
    config = config_sources(file, (), environ={}, start=tmp_path)
    plugins = discovered(config.effective())
    found = opened([str(tmp_path / "past")], plugins.registry, config, lambda _sentence: None)
    asking = ViewAnswers(found, plugins, config)
    try:
        page = Page(asking)
        page.get(f"/?token={TOKEN}")
        for address in ("/", "/history?s=0", "/state?s=0&n=0"):
            text = page.get(address).text
            shown = "reproduces 2 of 10 recorded decisions" if is_wrong else "Decisions: 10 of 10 reproduced"
            assert shown in text
            assert ('role="alert"' in text) is is_wrong
            assert ("Likely cause: racks." in text) is is_wrong
    finally:
        asking.close()
