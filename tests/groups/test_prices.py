from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.cli.options import with_prices
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.groups.prices import PriceError, default_prices, price_overrides, prices_in, prices_of, read_prices
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine.batches import answer_batches
from assignor_lab.scoring.sources.parts import Generated
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.terms import job_spec

GOOD = """
format = 1
source = "our contract"
date = "2026-01-31"
[prices]
cross_zone_dollars_per_gib = 0.01
hours_per_month = 720
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_prices_say_where_they_are_from() -> None:
    prices = default_prices()
    assert prices.cross_zone_dollars_per_gib == 0.02
    assert "Amazon EC2" in prices.source
    assert prices.date == "2026-11-21"


def test_an_edited_file_travels_as_configuration(tmp_path: Path) -> None:
    prices = read_prices(written(tmp_path, GOOD))
    assert (prices.cross_zone_dollars_per_gib, prices.hours_per_month) == (0.01, 720.0)
    travelled = dict(item.split("=", 1) for item in price_overrides(prices))
    assert prices_in({"num.standby.replicas": 1, **travelled}) == prices


def test_a_file_without_a_price_of_disks_has_the_shipped_one(tmp_path: Path) -> None:
    assert read_prices(written(tmp_path, GOOD)).disk_dollars_per_gib_month == 0.08
    own = GOOD + "disk_dollars_per_gib_month = 0.5\n"
    assert read_prices(written(tmp_path, own)).disk_dollars_per_gib_month == 0.5


def test_without_keys_the_shipped_prices_hold() -> None:
    assert prices_in({"num.standby.replicas": 1}) == default_prices()


def test_one_key_of_the_configuration_replaces_one_price() -> None:
    prices = prices_in({"assignor.prices.cross_zone_dollars_per_gib": "0.05"})
    assert prices.cross_zone_dollars_per_gib == 0.05
    assert prices.hours_per_month == default_prices().hours_per_month
    assert prices.source == "configuration"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("format = 1", "format = 2"), "format: unknown format: this version reads format 1, found 2"),
        (("format = 1", ""), 'required key "format" is missing'),
        (("0.01", '"cheap"'), 'prices.cross_zone_dollars_per_gib: "cheap" (a text) is no number'),
        (("0.01", "-1"), "cross_zone_dollars_per_gib: -1 (a number) is no number from 0"),
        (("0.01", "nan"), "cross_zone_dollars_per_gib: nan (a number) is no number from 0"),
        (("0.01", "true"), "cross_zone_dollars_per_gib: true (a boolean) is no number from 0"),
        (("hours_per_month", "hours_a_month"), 'unknown key "hours_a_month"'),
        (('"our contract"', '""'), "source: expected a text"),
        (("[prices]", "[price]"), 'unknown key "price"'),
        (("format = 1", "format ="), ", line 2: no TOML at column "),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, change: tuple[str, str], sentence: str) -> None:
    path = written(tmp_path, GOOD.replace(*change))
    with pytest.raises(DocumentFormatError) as caught:
        read_prices(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)


def test_what_is_no_file_of_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentFormatError, match="cannot be read"):
        read_prices(tmp_path / "missing.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DocumentFormatError, match="byte 0 is not UTF-8"):
        read_prices(tmp_path / "bytes.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * 100_000)
    with pytest.raises(DocumentFormatError, match="larger than"):
        read_prices(tmp_path / "large.toml")


def test_the_command_takes_a_file_and_single_keys_above_it(tmp_path: Path) -> None:
    words = with_prices(["assignor.prices.hours_per_month=1"], written(tmp_path, GOOD))
    prices = prices_of(config_sources(None, words).effective())
    assert (prices.cross_zone_dollars_per_gib, prices.hours_per_month) == (0.01, 1.0)
    assert prices.source == "our contract"
    assert with_prices(["a=b"], None) == ["a=b"]


@pytest.mark.slow
def test_executors_reckon_with_the_prices_of_the_run() -> None:
    def dollars(*words: str) -> float:
        spec = JobSpec(("sticky",), ("movement_dollars",), ("scale_out",), config_sources(None, words))
        table = pa.Table.from_batches(answer_batches(Scorer(spec), [WorkItem(0, 0, family="scale_out", seed=2)]))
        return float(sum(table["movement_dollars"].drop_null().to_pylist()))

    assert dollars("assignor.prices.cross_zone_dollars_per_gib=0.2") == pytest.approx(10 * dollars()) != 0


def test_a_wrong_price_is_found_before_anything_is_scored() -> None:
    registry = discover()
    config = config_sources(None, ["assignor.prices.hours_per_month=many"])
    with (
        pytest.raises(PriceError, match=r'hours_per_month: "many" \(a text\) is no number'),
        plan_sources([Generated("scale_out", 1)], registry) as plan,
    ):
        job_spec(registry, found_contenders(registry, ["sticky"]), plan, config)


@pytest.mark.parametrize("key", ["cross_zone_dollars", "x"])
def test_an_unknown_key_of_the_configuration_is_refused(key: str) -> None:
    with pytest.raises(PriceError, match="unknown: expected one of"):
        prices_in({f"assignor.prices.{key}": 1})
