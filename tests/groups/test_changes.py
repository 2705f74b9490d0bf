"""Knobs of an assignor's own settings."""

from __future__ import annotations

from assignment_api.plugins import Setting
from assignor_lab.groups.changes import setting_knobs

KEY = "assignor.mine."


def test_declared_settings_vary_by_their_type_and_their_least_number() -> None:
    declared = [
        Setting(KEY + "whole", "int", 4, "A number.", least=3),
        Setting(KEY + "share", "float", 0.5, "A share.", least=0.4),
        Setting(KEY + "switch", "bool", True, "A switch."),
        Setting(KEY + "word", "text", "1", "A word."),
    ]
    values = {each.key: each.default for each in declared}
    knobs = {knob.at(knob.values[0]).setting[0]: list(knob.values) for knob in setting_knobs(values, declared)}  # type: ignore[index]
    assert knobs == {KEY + "whole": [3, 5, 8, 40], KEY + "share": ["1", "1.5", "5"], KEY + "switch": ["false"]}
