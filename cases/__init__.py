"""The benchmark. With this file, `pytest --pyargs pytest_microremed.cases` finds it in an installed wheel."""
