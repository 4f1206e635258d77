"""The numbers of several workers add up, also when one dies and another takes its place."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families

from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare, forget_gauges, metrics_folder
from support import programs


def work(folder: Path, worker: int, calls: int) -> None:
    done = programs.run("metrics_worker", folder, worker, calls)
    assert (done.returncode, done.stderr) == (1, "")


def shown(folder: Path) -> dict[str, float]:
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {sample.name: sample.value for family in families for sample in family.samples if "le" not in sample.labels}


def test_workers_add_up_and_a_new_one_counts_on(tmp_path: Path) -> None:
    work(tmp_path, 1, 5)
    work(tmp_path, 2, 7)
    both = shown(tmp_path)
    assert both["groundwire_calls_total"] == both["groundwire_call_seconds_count"] == 12
    assert both["groundwire_call_seconds_sum"] == pytest.approx(0.012)
    assert (both["groundwire_running_calls"], both["groundwire_waiting_calls"]) == (4, 6)
    assert both["groundwire_workers"] == 2

    files = {path.name for path in tmp_path.iterdir()}
    forget_gauges(MetricsShare(tmp_path, 1))
    values = shown(tmp_path)
    assert values["groundwire_calls_total"] == 12
    assert (values["groundwire_running_calls"], values["groundwire_workers"]) == (2, 1)

    work(tmp_path, 1, 1)
    again = shown(tmp_path)
    assert again["groundwire_calls_total"] == 13
    assert (again["groundwire_running_calls"], again["groundwire_workers"]) == (4, 2)
    assert {path.name for path in tmp_path.iterdir()} == files


def test_workers_without_metrics_need_no_folder() -> None:
    with metrics_folder(Settings(workers=2)) as folder:
        assert folder is None


def test_the_folder_is_there_for_as_long_as_the_server() -> None:
    with metrics_folder(Settings(workers=2, metrics_listen="127.0.0.1:0")) as folder:
        assert folder is not None
        assert folder.is_dir()
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_no_place_for_the_folder_is_an_error_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    with (
        pytest.raises(SettingsError, match=r"^metrics_listen: .*TMPDIR"),
        metrics_folder(Settings(workers=2, metrics_listen="127.0.0.1:0")),
    ):
        pass
