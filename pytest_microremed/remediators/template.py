"""Playbooks as Jinja2 templates, with delimiters that are not Ansible's: `<%= value %>` and `<% if … %>`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_microremed.errors import UsageError

if TYPE_CHECKING:
    import jinja2


def render(path: Path, **variables: Any) -> str:
    """The text of the template in a file. UsageError if it is unreadable, malformed, or names an unknown."""
    import jinja2

    try:
        return _template(path, path.stat().st_mtime_ns).render(variables)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"{path}: line {error.lineno}: {error.message}") from None
    except jinja2.UndefinedError as error:
        raise UsageError(f"{path}: {error.message}; known: {', '.join(sorted(variables))}") from None


@functools.lru_cache
def _template(path: Path, modified: int) -> jinja2.Template:
    return _environment().from_string(path.read_text(encoding="utf-8"))


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<%=",
        variable_end_string="%>",
        comment_start_string="<%#",
        comment_end_string="%>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  YAML, not HTML
    )
