from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from assignment_api import AssignorLabError
from assignor_lab.advising.configurations import (
    ASSIGNOR,
    BATCH,
    CLOSE,
    LEAVE,
    MEMBERS,
    PROBING,
    PROTOCOL,
    SESSION,
    STANDBYS,
    STATIC,
    STRATEGY,
    STREAMS_SESSION,
    TRANSACTIONAL,
    name_of,
    under,
)
from assignor_lab.advising.mix import DEFAULT_MIX, Mix
from assignor_lab.advising.space import SpaceError, narrowed, read_within, release_of, space_of, with_own_settings
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.planning.state import under_other_protocol
from tests.advising.groups import recorded_group

GROUP = recorded_group("P1")
SPACE = space_of(GROUP, DEFAULT_MIX)


def keys(*, release: str | None = None, mix: Mix = DEFAULT_MIX) -> list[str]:
    return list(space_of(GROUP, mix, None if release is None else release_of(release)).present)


def test_settings_of_later_releases_are_left_out() -> None:
    assert {CLOSE, PROTOCOL, ASSIGNOR} <= set(keys(release="4.2"))
    assert not {CLOSE, PROTOCOL} & set(keys(release="4.1"))
    assert ASSIGNOR not in keys(release="3.7")


def test_an_unknown_release_is_a_requirement() -> None:
    assert SPACE.requirements[CLOSE] == "4.2"
    assert not space_of(GROUP, DEFAULT_MIX, (4, 3)).requirements


def test_the_batch_of_deployments_needs_deployments() -> None:
    assert BATCH not in keys(mix=Mix(rolls_per_week=0))


def test_racks_need_known_racks() -> None:
    assert STRATEGY not in SPACE.present


def test_a_streams_group_has_settings_of_its_brokers() -> None:
    streams = attrs.evolve(GROUP, state=under_other_protocol(GROUP.state, "streams"))
    assert set(space_of(streams, DEFAULT_MIX).present) == {STREAMS_SESSION, STANDBYS, BATCH}


def test_state_in_memory_makes_static_members_pointless() -> None:
    stores = "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers"
    state = attrs.evolve(GROUP.state, settings={**GROUP.state.settings, "dsl.store.suppliers.class": stores})
    assert MEMBERS not in space_of(attrs.evolve(GROUP, state=state), DEFAULT_MIX).present


def test_the_present_configuration_comes_first() -> None:
    assert SPACE.configurations(20, 0)[0] == SPACE.present
    assert name_of(SPACE.present, SPACE.present) == "present settings"


def test_configurations_of_equal_effect_are_one() -> None:
    static_leaving = SPACE.canonical({**SPACE.present, MEMBERS: STATIC, CLOSE: LEAVE})
    assert static_leaving == SPACE.canonical({**SPACE.present, MEMBERS: STATIC})
    sticky = SPACE.canonical({**SPACE.present, ASSIGNOR: "sticky", PROBING: "600000"})
    assert sticky == SPACE.canonical({**SPACE.present, ASSIGNOR: "sticky"})


def test_the_choice_of_configurations_is_bounded_distinct_and_seeded() -> None:
    chosen = SPACE.configurations(40, 3)
    assert len(chosen) == 40
    assert len({tuple(each.values()) for each in chosen}) == 40
    assert chosen == SPACE.configurations(40, 3)
    assert chosen != SPACE.configurations(40, 4)


def test_a_fixed_value_is_in_every_other_configuration() -> None:
    fixed = narrowed(SPACE, {SESSION: "30000", BATCH: ""}, {})
    present, *others = fixed.configurations(30, 0)
    assert present[SESSION] == "10000"
    assert {each[SESSION] for each in others} == {"30000"}
    assert {each[BATCH] for each in others} == {"1"}


def test_values_within_a_file(tmp_path: Path) -> None:
    file = tmp_path / "within.toml"
    file.write_text('"session.timeout.ms" = [30000, "45000"]\n')
    limited = narrowed(SPACE, {}, read_within(file))
    (session,) = (each for each in limited.dimensions if each.key == SESSION)
    assert session.values == ("10000", "30000", "45000")


def test_a_faulty_file_of_values_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "within.toml"
    file.write_text('"session.timeout.ms" = [1.5]\n')
    with pytest.raises(DocumentFormatError, match="whole number or a text"):
        read_within(file)


def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SpaceError, match=r"num\.standby\.replicas"):
        narrowed(SPACE, {"linger.ms": "1"}, {})


def test_declared_settings_of_an_assignor_are_varied(tmp_path: Path) -> None:
    key = "assignor.load_aware.moves.per.hour"
    wanted = {ASSIGNOR: ["load_aware"], key: ["5", "10"]}
    config = GROUP.terms.sources.effective()
    space = narrowed(with_own_settings(SPACE, wanted, GROUP.terms.registry, config), {}, wanted)
    assert {each.key: each.values for each in space.dimensions}[key][1:] == ("5", "10")
    # Without its assignor, a setting has no effect.
    assert space.canonical({**space.present, key: "5"}) == space.present
    changed = {**space.present, ASSIGNOR: "load_aware", key: "5"}
    assert space.canonical(changed)[key] == "5"
    after = under(changed, space.present, GROUP)
    assert after.terms.sources.effective()[key].value == "5"
    assert not after.state.is_settled


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("assignor.load_aware.mvoes", "1", "no declared setting"),
        ("assignor.load_aware.moves.per.hour", "abc", "whole number"),
        (ASSIGNOR, "nonesuch", "unknown assignor"),
    ],
)
def test_bad_settings_and_assignors_are_refused_before_the_race(key: str, value: str, says: str) -> None:
    with pytest.raises(AssignorLabError, match=says):
        with_own_settings(SPACE, {key: [value]}, GROUP.terms.registry, GROUP.terms.sources.effective())


def test_a_release_is_two_numbers() -> None:
    with pytest.raises(SpaceError, match=r"4\.2"):
        release_of("latest")


def test_a_configuration_changes_the_group() -> None:
    changed = {**SPACE.present, MEMBERS: STATIC, SESSION: "6000", STANDBYS: "2", BATCH: "2"}
    after = under(changed, SPACE.present, GROUP)
    assert after.state.episode.instance_ids == GROUP.state.names
    assert after.state.episode.timings.session_timeout_ms == 6_000
    assert after.state.episode.timings.heartbeat_interval_ms == 2_000
    assert not after.state.is_settled
    assert after.options.batch == 2


def test_transactional_stores_are_for_exactly_once_and_from_4_4_on() -> None:
    eos = attrs.evolve(GROUP.state, episode=attrs.evolve(GROUP.state.episode, eos=True))
    group = attrs.evolve(GROUP, state=eos)
    space = space_of(group, DEFAULT_MIX)
    assert TRANSACTIONAL in space.present
    assert space.requirements[TRANSACTIONAL] == "4.4"
    assert TRANSACTIONAL not in space_of(group, DEFAULT_MIX, (4, 3)).present
    assert TRANSACTIONAL not in SPACE.present
    changed = under({**space.present, TRANSACTIONAL: "true"}, space.present, group)
    assert changed.state.episode.keeps_transactions()
