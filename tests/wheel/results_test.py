"""Typed results: of the documents' schemas, and of a made-up one with a deprecated field."""

import json
import pathlib
import pickle
import sys
import types
import warnings

import pytest
import tfgrapnel as tg
from tfgrapnel import results

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMON = {"$defs": {"part": {"properties": {"name": {"description": "A name.", "type": "string"}}, "required": ["name"]}}}
MADE_UP = {
    "title": "cut MODEL --json",
    "description": "Made up.",
    "required": ["format", "gone", "parts"],
    "properties": {
        "format": {"const": 1, "description": "The number."},
        "gone": {"description": "Read `parts`.", "type": "integer", "deprecated": True},
        "parts": {"description": "Parts.", "type": "array", "items": {"$ref": "common.json#/$defs/part"}},
        "whole": {
            "description": "All of it.",
            "properties": {"class": {"description": "Old.", "type": "string", "deprecated": True}},
            "required": [],
        },
    },
}


@pytest.fixture
def made_up(monkeypatch):
    """A result of the made-up command, as in results.py."""
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    import typed_results

    names, text = typed_results.results(["cut"], {"common": COMMON, "cut": MADE_UP})
    module = types.ModuleType("tfgrapnel.made_up")
    module.__package__ = "tfgrapnel"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(text, module.__dict__)
    result = object.__new__(getattr(module, names["cut"]))
    result.__dict__["_document"] = {"format": 1, "gone": 3, "parts": [{"name": "a"}], "whole": {"class": "x"}}
    return result


def test_a_field_that_will_go_warns_where_it_is_read(made_up):
    with pytest.warns(DeprecationWarning, match="'gone' will be removed in a later release: Read `parts`.") as warned:
        assert made_up.gone == 3
    assert warned[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="'class' will be removed"):
        assert made_up.whole.class_ == "x"


def test_others_do_not_warn(made_up):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [part.name for part in made_up.parts] == ["a"]
        assert made_up.to_dict()["gone"] == 3
        with pytest.raises(AttributeError, match="read-only"):
            made_up.parts = []


def test_objects_within_are_dicts_with_attributes(lenet):
    fast = lenet.optimize()
    assert isinstance(fast, tg.GraphResult) and isinstance(fast, results.OptimizeResult)
    stage = fast.stages[0]
    assert stage.pass_ == stage["pass"] and stage.ms is None
    assert json.loads(fast.json) == fast.to_dict()
    assert pickle.loads(pickle.dumps(stage)) == stage
    assert "nodes of the main graph before" in results.OptimizeResult.nodes_before.__doc__
    with pytest.raises(AttributeError, match="nope"):
        stage.nope


def test_a_field_of_another_document(lenet):
    assert tg.info(lenet).graphs[0].nodes
    with pytest.raises(AttributeError, match="the document of info has no 'devices'; it has format, path, kind"):
        tg.info(lenet).devices
    assert tg.info(devices=True).devices[0].kind == "CPU"


def test_a_field_with_another_class_in_another_document(lenet):
    assert type(tg.doctor(lenet).checks[0]) is not type(tg.doctor(list=True).checks[0])


def test_the_classes_are_of_the_schemas():
    made = {name for name in vars(results) if isinstance(vars(results)[name], type)}
    assert set(results.__all__) <= made and {"OptimizeResult", "RunDocument", "ReplayResult"} <= made
