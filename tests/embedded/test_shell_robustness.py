"""Whatever is typed, a command ends with an exit code: never with a Python exception."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_microremed.embedded.sim.shell import registry
from tests.embedded.nodes import World, in_container, run

CHARACTERS = "ab1 \n\t'\"\\$`(){}[]<>|&;=*?!#~%-+,./:@^x"
ARGUMENTS = st.lists(
    st.one_of(
        st.text(CHARACTERS, max_size=8),
        st.sampled_from(["-n", "-c", "-1", "1", "-f", "/etc/passwd", "-", "--", "-e", "{}", "s/a/b/"]),
    ),
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(st.text(CHARACTERS, max_size=60))
def test_any_text_is_run_or_refused(script: str) -> None:
    assert in_container(f"timeout 5 sh <<'EOF_'\n{script}\nEOF_\n").code >= 0


@pytest.mark.parametrize("name", sorted(registry.tools(World.bare_container())))
@settings(max_examples=4, deadline=None)
@given(arguments=ARGUMENTS)
def test_any_arguments_are_taken_or_refused(name: str, arguments: list[str]) -> None:
    async def session() -> int:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        container.image = None  # every command
        work = world.execute(container, [name, *arguments], b"some\ninput\n")
        try:
            return (await asyncio.wait_for(work, 0.5)).exit_code
        except TimeoutError:
            return 0  # it waits for something, which is an answer too

    assert 0 <= run(session()) <= 255
