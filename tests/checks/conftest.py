"""Fixtures of the live tests: one embedded cluster for all, and each system deployed on it once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.embedded import open_embedded
from tests.checks.live import Bench


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = open_embedded(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


@pytest.fixture(scope="session")
def bench_of(embedded: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Bench]:
    @cache
    def make(system: str) -> Bench:
        folder: Path = tmp_path_factory.mktemp("boxes")
        return Bench(embedded, system, folder)

    return make
