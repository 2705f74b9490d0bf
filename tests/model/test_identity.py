"""An instance keeps its name over restarts."""

from __future__ import annotations

from assignor_lab.model.identity import InstanceIdentities, InstanceTraits


def _named(*together: list[InstanceTraits]) -> list[list[str]]:
    identities = InstanceIdentities()
    for each in together:
        identities.note_together(each)
    return [[identities.name(traits) for traits in each] for each in together]


def test_client_id_names_the_instance_and_finds_it_after_the_loss_of_its_disk() -> None:
    names = _named([InstanceTraits("p1", client_id="b1")], [InstanceTraits("p2", client_id="b1")])

    assert names == [["b1"], ["b1"]]


def test_static_id_finds_an_instance_whose_client_id_is_new() -> None:
    first = InstanceTraits("p1", "static-1", "app-p1")
    second = InstanceTraits("p2", "static-1", "app-p2")

    assert _named([first], [second]) == [["app-p1"], ["app-p1"]]


def test_host_finds_an_instance_without_disk_and_identity() -> None:
    first = InstanceTraits("p1", None, "app-p1", "10.0.0.1")
    second = InstanceTraits("p2", None, "app-p2", "10.0.0.1")

    assert _named([first], [second]) == [["10.0.0.1"], ["10.0.0.1"]]


def test_host_of_several_instances_identifies_none() -> None:
    one, two = InstanceTraits("p1", None, "app-p1", "127.0.0.1"), InstanceTraits("p2", None, "app-p2", "127.0.0.1")
    three = InstanceTraits("p3", None, "app-p3", "127.0.0.1")

    assert _named([one, two], [one, three]) == [["app-p1", "app-p2"], ["app-p1", "app-p3"]]


def test_client_id_of_several_instances_identifies_none() -> None:
    one, two = InstanceTraits("p1", None, "app"), InstanceTraits("p2", None, "app")

    assert _named([one, two]) == [["p1", "p2"]]


def test_log_line_finds_the_name_of_a_client_id() -> None:
    identities = InstanceIdentities()
    identities.name(InstanceTraits("p1", "static-1", "b1"))

    assert identities.known("b1") == "b1"
    assert identities.known("other") == "other"
    assert [each.processes for each in identities.instances] == [("p1",)]
