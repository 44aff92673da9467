"""Answers with the reference repairs: the upper bound of RA, which shows that every case can be solved."""

from __future__ import annotations

from pytest_microremed.data import fixtures_dir
from pytest_microremed.remediators.script import Script


class Oracle(Script):
    """`fixtures/playbooks/<fault>.yml.j2`."""

    def __init__(self) -> None:
        super().__init__(fixtures_dir() / "playbooks")
