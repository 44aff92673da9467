"""The folder of one process for what must be files: certificates, kubeconfigs, the boxes of playbooks."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

_PREFIX = "microremed-"


def make_folder() -> Path:
    """A new folder; those of processes that were killed before they could remove theirs are removed."""
    place = Path(tempfile.gettempdir())
    for folder in place.glob(f"{_PREFIX}*"):
        match = re.fullmatch(rf"{_PREFIX}(\d+)-.+", folder.name)
        if match and not _runs(int(match[1])):
            shutil.rmtree(folder, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # someone else's
        return True
    return True
