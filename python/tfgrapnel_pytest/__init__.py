"""The pytest plugin of tfgrapnel.testing: sets the folder for pictures of failed assertions.

It is a separate package and does not import tfgrapnel: pytest loads every installed plugin, whether tests use it or not.
"""

from __future__ import annotations

import os
import pathlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_config: Any = None


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("tfgrapnel").addoption(
        "--grapnel-pictures",
        metavar="DIR",
        help="folder for pictures of failed assertions of tfgrapnel.testing; default: beside the report of --junit-xml, else pytest's temporary folder",
    )


def pytest_configure(config: Any) -> None:
    global _config
    _config = config


def pytest_unconfigure() -> None:
    global _config
    _config = None


def folder() -> pathlib.Path | None:
    """The folder for pictures, or None outside pytest."""
    if _config is None:
        return None
    if named := _config.getoption("--grapnel-pictures"):
        return pathlib.Path(_config.invocation_params.dir, os.path.expanduser(named))
    if report := _config.getoption("xmlpath", None):
        beside = pathlib.Path(_config.invocation_params.dir, os.path.expanduser(report))
        return beside.with_name(beside.stem + "_pictures")
    factory = getattr(_config, "_tmp_path_factory", None)
    return factory.getbasetemp() / "pictures" if factory else None
