"""What a server shows Prometheus, read with Prometheus' own parser."""

import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample


@dataclass(frozen=True)
class Scrape:
    """The metrics of one scrape."""

    text: str
    families: Mapping[str, Metric]

    @property
    def samples(self) -> list[Sample]:
        """Every sample."""
        return [sample for family in self.families.values() for sample in family.samples]

    @property
    def names(self) -> set[str]:
        """The names of all samples, and those of families that have none yet, as their kinds will name them."""
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
        return {
            family.name + suffix for family in self.families.values() for suffix in suffixes.get(family.type, ("",))
        }

    def value(self, name: str, **labels: str) -> float:
        """The sum of the samples of that name with at least these labels; 0 when there is none."""
        return sum(
            sample.value for sample in self.samples if sample.name == name and labels.items() <= sample.labels.items()
        )

    def labels(self, name: str, label: str) -> set[str]:
        """The values that a label has among the samples of that name."""
        return {sample.labels[label] for sample in self.samples if sample.name == name}


def scrape(address: str) -> Scrape:
    """Scrapes the port once."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=300) as response:
        text = response.read().decode()
    return Scrape(text, {family.name: family for family in text_string_to_metric_families(text)})
