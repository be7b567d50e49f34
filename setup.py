"""The version of pyproject.toml and the wheel that it requires, from Cargo.toml: the only place that has the version."""

import pathlib
import re

import setuptools

cargo = (pathlib.Path(__file__).parent / "Cargo.toml").read_text(encoding="utf-8")
version = re.search(r'^version = "(.+)"$', cargo, re.MULTILINE).group(1)
setuptools.setup(version=version, install_requires=[f"mcp-keel=={version}"], packages=[], py_modules=[])
