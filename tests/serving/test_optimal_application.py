"""The assignors `optimal` and `load_aware` decide in a real Streams application through the shim."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.connect.real_kafka import until
from tests.serving.test_real_application import PARTITIONS, Application

pytestmark = pytest.mark.services


@pytest.mark.parametrize("assignor", ["optimal", "load_aware"])
def test_it_decides_as_instances_join_and_records_are_processed(tmp_path: Path, assignor: str) -> None:
    shop = Application(tmp_path, assignor)
    try:
        shop.start_broker()
        shop.create_input(PARTITIONS)
        shop.served.start()
        for name in ("i1", "i2"):
            shop.start_instance(name)
        until(lambda: shop.decisions() > 0, "the first decision")
        shop.wait_until_all_run()
        until(lambda: len(shop.served.decisions()[-1]["result"]["assignment"]) == 2, "a decision for both")
        shop.works()
        assert {each["by"] for each in shop.served.decisions()} == {"assignor"}
        assert shop.causes() == {}
    finally:
        shop.served.close()
        shop.close()
