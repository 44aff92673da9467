"""Here the fixtures `cluster`, `namespace`, `kubectl`, `http` and `client` are those of an API server alone.

Nothing but the test acts on its objects: no controllers, no nodes; `cluster.runtime` is a fake that tests dictate.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.embedded.api.bare_cluster import BareCluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareCluster]:
    bare = BareCluster(tmp_path_factory.mktemp("api-server"))
    bare.start()
    yield bare
    bare.stop()
