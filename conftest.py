"""Loads the plugin also from a checkout that is not installed; `pytester` serves the tests of the plugin."""

pytest_plugins = ["pytest_microremed.plugin", "pytester"]
