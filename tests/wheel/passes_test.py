"""Passes and rules in Python: what they see, change and refuse, and how their mistakes are reported."""

import json
import threading
import traceback

import numpy as np
import pytest
import tfgrapnel as tg

NET = b"""fetch %y
%x = Placeholder {dtype=float, shape=[2,3]}
%s = Softmax(%x)
%l = Log(%s)
%y = Identity(%l)
"""
SUM = b"""fetch %y
%x = Placeholder {dtype=float, shape=[2]}
%n = Placeholder {dtype=int32, shape=[2]}
%a = Neg(%x)
%b = Add(%a, %x)
%c = Neg(%b)
%y = Identity(%c)
"""
CALL = b"""fetch %y
%x = Placeholder {dtype=float, shape=[2]}
%y = PartitionedCall(%x) {f=@f}
func @f(%x: float) -> (y: float) {
  %n = Neg(%x)
  %a = Abs(%n)
  return %a
}
"""


@pytest.fixture(autouse=True)
def nothing_is_left():
    from tfgrapnel import _passes

    yield
    for name in [key for key in _passes._known if "/" not in key]:
        tg.unregister(name)
    for name in list(_passes._known):
        tg.unregister(name)


def ops(graph):
    return sorted(graph.nodes["op"])


@pytest.fixture
def log_of_softmax():
    @tg.rule(pattern="Softmax -> Log")
    def log_of_softmax(rule, log):
        """Log of Softmax is LogSoftmax, which keeps small values.

          Before:  x -> Softmax s -> Log y        After:  x -> LogSoftmax y

        Refuses: a Softmax that is fetched, or that others read.
        """
        [softmax, last] = rule.path
        assert last == log
        if rule.is_preserved(softmax):
            return rule.refuse(f"'{softmax.name}' is fetched")
        if rule.num_readers(softmax) > 1:
            return rule.refuse(f"'{softmax.name}' is read {rule.num_readers(softmax)} times")
        rule.edit.set_op(log, "LogSoftmax")
        rule.edit.set_input(log, 0, softmax.input(0))
        rule.edit.remove_node(softmax)
        return rule.done()

    return log_of_softmax


def test_a_rule(log_of_softmax):
    graph = tg.load(NET)
    done = graph.optimize(passes="log_of_softmax", check_values=True, feed={"x": [[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]]})
    assert ops(done.graph) == ["Identity", "LogSoftmax", "Placeholder"]
    assert ops(graph) == ["Identity", "Log", "Placeholder", "Softmax"]
    given = np.array([[1, 2, 3], [0, 0, 90]], np.float32)
    [value] = done.graph.run({"x": given}).values()
    np.testing.assert_allclose(value, given - np.log(np.exp(given.astype(float)).sum(1, keepdims=True)), 1e-5)


def test_a_rule_among_other_passes(log_of_softmax, tmp_path):
    ledger = tmp_path / "ledger.jsonl"
    done = tg.load(NET).optimize(
        passes="model_pruner,log_of_softmax,constant_folding", dump_dir=tmp_path / "dumps", ledger=ledger, fetch="l"
    )
    assert ops(done.graph) == ["LogSoftmax", "Placeholder"]
    [rewrite] = [line for line in map(json.loads, ledger.read_text().splitlines()) if line["pass"] == "log_of_softmax"]
    assert rewrite["rule"] == "log_of_softmax" and rewrite["node"] == "l"
    assert rewrite["changed"] == ["l"] and rewrite["removed"] == ["s"] and rewrite["used"] == ["l", "s"]
    assert any("before_log_of_softmax" in title for title in tg.load(tmp_path / "dumps").titles)
    stages = [stage for stage in tg.timeline(tmp_path / "dumps").stages if "log_of_softmax" in json.dumps(stage)]
    assert stages
    assert "log_of_softmax/log_of_softmax" in tg.load(NET).optimize(passes="log_of_softmax", explain=True, fetch="l").text


def test_refusals(log_of_softmax):
    [near] = tg.load(NET).why_not("log_of_softmax", fetch=["s", "y"]).near_misses
    assert near == {"pass": "log_of_softmax", "rule": "log_of_softmax", "node": "l", "reason": "'s' is fetched"}
    assert "no pattern was found" in tg.load(SUM).why_not("log_of_softmax").text


def test_passes_lists_it(log_of_softmax):
    [listed] = [item for item in tg.passes().passes if item["name"] == "log_of_softmax"]
    assert listed["help"] == "Log of Softmax is LogSoftmax, which keeps small values"
    assert listed["refuses"] == "a Softmax that is fetched, or that others read"
    assert listed["plugin"] == __file__
    assert [rule["name"] for rule in listed["rules"]] == ["log_of_softmax"]
    assert "log_of_softmax  (by name only; of " in tg.passes().text
    tg.unregister("log_of_softmax")
    assert "log_of_softmax" not in tg.passes().text
    with pytest.raises(tg.Error, match="there is no Python pass or rule 'log_of_softmax'; known: none"):
        tg.unregister("log_of_softmax")
    with pytest.raises(tg.Error, match="pass 'log_of_softmax' not found"):
        tg.load(NET).optimize(passes="log_of_softmax")


def test_a_class():
    @tg.rule
    class RemoveDoubleNeg:
        """Two negations cancel."""

        name = "double_neg"
        pattern = "Neg -> Neg"
        refuses = "nothing"

        def apply(self, rule, neg):
            return rule.replace_by(rule.path[0].input(0))

    graph = tg.load(b"fetch %y\n%x = Placeholder {dtype=float, shape=[]}\n%a = Neg(%x)\n%b = Neg(%a)\n%y = Abs(%b)\n")
    assert ops(graph.optimize(passes="double_neg,model_pruner").graph) == ["Abs", "Placeholder"]


def test_rules_of_one_optimizer_go_in_their_places():
    tg.optimizer("mine", help="shows the order")
    seen = []

    @tg.rule("second", optimizer="mine", ops=["Neg", "Identity"])
    def second(rule, node):
        seen.append(("second", node.name))

    @tg.rule("first", optimizer="mine", after="")
    def first(rule, node):
        seen.append(("first", node.name))

    tg.load(SUM).optimize(passes="mine")
    assert [name for name, node in seen if node == "a"] == ["first", "second"]
    assert {node for name, node in seen if name == "second"} == {"a", "c", "y"}
    seen.clear()
    tg.load(SUM).optimize(passes="mine/first")
    assert {name for name, _ in seen} == {"first"}


def test_a_rule_of_a_built_in_optimizer():
    @tg.rule(optimizer="debug_stripper", ops="CheckNumerics")
    def keep_note(rule, node):
        return rule.refuse("this one stays")

    graph = tg.load(b"fetch %y\n%x = Placeholder {dtype=float, shape=[]}\n%y = Neg(%x)\n")
    assert "debug_stripper" in [item["name"] for item in tg.passes().passes if any(r["name"] == "keep_note" for r in item["rules"])]
    graph.optimize(passes="debug_stripper/keep_note")
    tg.unregister("debug_stripper/keep_note")
    with pytest.raises(tg.Error, match="keep_note"):
        graph.optimize(passes="debug_stripper/keep_note")


def test_a_pass():
    @tg.pass_(steps={"negate": "makes two negations of each Abs", "count": "counts"})
    def twice(edit):
        """Two negations follow each Abs."""
        for node in edit.graph.nodes:
            if node.op != "Abs" or not edit.runs("negate"):
                continue
            if edit.graph.function == "" and edit.is_preserved(node):
                edit.refuse("negate", node, f"'{node.name}' is fetched")
                continue
            if edit.begin("negate", node):
                readers = node.readers
                one = edit.add_node(node.name + "/n", "Neg", inputs=[node], attrs={"T": edit.type_of(node)})
                two = edit.add_node(node.name + "/n", "Neg", node.device, [one], {"T": "float"})
                for reader in readers:
                    edit.set_input(reader, 0, two) if reader.op != "_Retval" else None
                edit.end()

    graph = tg.load(b"fetch %y\n%x = Placeholder {dtype=float, shape=[2]}\n%a = Abs(%x)\n%y = Exp(%a)\n")
    done = graph.optimize(passes="twice", check_values=True)
    assert done.rewrites == 1
    assert sorted(done.graph.nodes["name"]) == ["a", "a/n", "a/n_1", "x", "y"]
    assert graph.optimize(passes="twice/count").rewrites == 0
    [near] = graph.why_not("twice", fetch="a").near_misses
    assert (near["rule"], near["reason"]) == ("negate", "'a' is fetched")


def test_functions_are_seen_too():
    seen = []

    @tg.pass_
    def look(edit):
        seen.append((edit.graph.function, len(edit.graph), sorted(node.op for node in edit.graph.nodes)))

    tg.load(CALL).optimize(passes="look")
    assert ("f", 4, ["Abs", "Neg", "_Arg", "_Retval"]) in seen
    assert seen[0][0] == ""


def test_in_the_default_pipeline():
    seen = []

    @tg.pass_(order=50, default_on=True, run_once=True)
    def last(edit):
        seen.append(len(edit.graph))

    before = len(tg.load(SUM).optimize().graph)
    assert seen == [before]


def test_what_a_rule_sees():
    facts = {}

    @tg.rule(ops="Conv2D")
    def look(rule, conv):
        facts.setdefault("op", conv.op)
        facts["strides"] = conv.attr("strides")
        facts["attrs"] = conv.attrs
        facts["T"] = conv.attr("T"), rule.type_of(conv)
        facts["none"] = conv.attr("nothing"), rule.input(conv, 7), rule.graph.find("nothing")
        facts["shape"] = rule.shape_of(conv.input(1)), rule.shape_of(conv.input(0))
        facts["kernel"] = [value.shape for node in rule.graph.nodes if (value := rule.constant_of(node)) is not None]
        facts["repr"] = repr(conv), repr(conv.output()), conv.output().name
        facts["same"] = conv.output().node == conv, hash(conv) == hash(conv.output().node), conv == 3
        facts["readers"] = [reader.op for reader in conv.readers]
        facts["device"] = rule.device_of(conv)

    tg.load("testdata/models/lenet").optimize(passes="look")
    assert facts["op"] == "Conv2D" and facts["strides"] == [1, 1, 1, 1] and facts["attrs"]["padding"] in ("SAME", "VALID")
    assert facts["T"] == ("float", "float") and facts["none"] == (None, None, None)
    assert len(facts["shape"][0]) == 4 and facts["shape"][0] in facts["kernel"]
    assert "Conv2D" in facts["repr"][0] and facts["repr"][2].endswith(":0")
    assert facts["same"] == (True, True, False)
    assert facts["readers"] == ["BiasAdd"]
    assert facts["device"].endswith("CPU:0")


def test_constants():
    @tg.rule(ops="Placeholder")
    def bound(rule, node):
        if rule.graph.find("two") or node.name != "x":
            return None
        two = rule.edit.add_constant("two", [2.0, 3.0])
        assert rule.type_of(two) == "float"
        [reader] = [reader for reader in node.readers if reader.op == "Neg"]
        product = rule.make("product", "Mul", "", [node, two], {"T": "float"})
        rule.edit.set_input(reader, 0, product)
        return rule.done()

    done = tg.load(SUM).optimize(passes="bound")
    value = done.graph.run({"x": [1, 1]}, "y")["y"]
    assert value.tolist() == [1, 2]

    @tg.rule(ops="Add")
    def fold(rule, add):
        rule.edit.turn_into_constant(add, np.arange(2, dtype=np.float32))
        return rule.done()

    assert tg.load(SUM).optimize(passes="fold").graph.run({"x": [1, 1]}, "y")["y"].tolist() == [0, -1]


@pytest.mark.parametrize("of", ["rule", "pass"])
def test_an_exception_names_the_node(of):
    def fail(node):
        return 1 / (0 if node.op == "Add" else 1)

    if of == "rule":

        @tg.rule("broken", ops="Add")
        def broken(rule, node):
            fail(node)

    else:

        @tg.pass_("broken")
        def broken(edit):
            for node in edit.graph.nodes:
                edit.begin("broken", node)
                fail(node)
                edit.end()

    graph = tg.load(SUM)
    before = list(graph.nodes)
    with pytest.raises(tg.Error, match=f"^{graph.path}: pass 'broken': .*node 'b': ZeroDivisionError: division by zero$") as wrong:
        graph.optimize(passes="model_pruner,broken")
    error = wrong.value
    assert (error.file, error.pass_, error.node) == (graph.path, "broken", "b")
    assert error.rule == ("broken" if of == "rule" else None)
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert "return 1 / (0 if" in "".join(traceback.format_exception(error))
    assert list(graph.nodes) == before
    with pytest.raises(tg.Error, match="node 'b': ZeroDivisionError"):
        graph.why_not("broken", passes="broken")
    assert len(graph.optimize(passes="model_pruner").graph) == len(graph)  # what comes next is as it was


def test_an_exception_in_a_function():
    @tg.rule(ops="Abs")
    def broken(rule, node):
        raise KeyError("missing")

    with pytest.raises(tg.Error, match="pass 'broken' in function 'f': .*node 'a': KeyError: 'missing'") as wrong:
        tg.load(CALL).optimize(passes="broken")
    assert wrong.value.node == "a"


def test_handles_are_good_for_one_call():
    kept = []

    @tg.rule(ops="Neg")
    def keep(rule, node):
        for other in kept:
            with pytest.raises(RuntimeError, match="valid only during its call"):
                other.name
        kept.extend([node, node.output(), rule.graph.find("x")])
        keep.rule = rule

    tg.load(SUM).optimize(passes="keep")
    node, port, *_ = kept
    for use in (
        lambda: node.op, lambda: node.inputs, lambda: port.name, lambda: port.node, lambda: keep.rule.edit.graph.nodes,
        lambda: keep.rule.done(), lambda: keep.rule.path, lambda: keep.rule.graph.find("x"), lambda: keep.rule.make("n", "Neg", "", [node]),
        lambda: keep.rule.edit.set_op(node, "Abs"), lambda: keep.rule.is_preserved(node), lambda: len(keep.rule.graph),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="valid only during its call"):
            use()
    assert repr(node) == "<Node, removed>" and repr(port) == "<Port, removed>"
    assert node == node and node != kept[3]


def rule_of(ops_, does, **options):
    """A rule whose edits are `does(rule, node)`; the error of running it, and its cause."""
    tg.rule("mistake", ops=ops_, **options)(does)
    with pytest.raises(tg.Error) as wrong:
        tg.load(SUM).optimize(passes="mistake")
    assert wrong.value.pass_ == "mistake"
    return str(wrong.value)


MISTAKES = {
    "a cycle": ("Add", lambda rule, node: rule.edit.set_input(node, 0, rule.graph.find("c")) or rule.done(), "is on a cycle that is not a loop"),
    "a cycle by replacement": (
        "Add",
        lambda rule, node: rule.replace_by(rule.make("k", "Neg", "", [node], {"T": "float"})),
        "'k' depends on the node, which would make a cycle",
    ),
    "a missing input": ("Add", lambda rule, node: rule.edit.remove_input(node, 1) or rule.done(), "node 'b': has 1 input, op 'Add' takes 2"),
    "a wrong dtype": (
        "Add",
        lambda rule, node: rule.edit.set_input(node, 1, rule.graph.find("n")) or rule.done(),
        r"node 'b': input 1 \('n'\) is int32, float was expected",
    ),
    "a replacement of another dtype": ("Add", lambda rule, node: rule.replace_by(rule.graph.find("n")), "'n' is int32, float was expected"),
    "a missing attribute": ("Add", lambda rule, node: rule.make("k", "Cast", "", [node]) and rule.done(), "node 'k'"),
    "an output that is not there": ("Add", lambda rule, node: rule.replace_by(node.output(3)), "ValueError: 'b' has 1 outputs: there is no output 3"),
    "an input that is not there": ("Add", lambda rule, node: node.input(-1), "ValueError: 'b' has 2 inputs: there is no input -1"),
    "a node that is read": ("Add", lambda rule, node: rule.edit.remove_node(node), "ValueError: 'b' is still read"),
    "a node that is fetched": ("Identity", lambda rule, node: rule.edit.remove_node(node), "ValueError: 'y' is fetched, fed or kept"),
    "an invalid name": ("Add", lambda rule, node: rule.make("a b", "Neg", "", [node]), "ValueError: 'a b' is not a node name"),
    "an attribute of another type": (
        "Add",
        lambda rule, node: rule.edit.set_attr(node, "T", 3),
        r"ValueError: attribute 'T' of Add \(type\): the name of a dtype",
    ),
    "an integer of more than 64 bits": (
        "Add",
        lambda rule, node: rule.edit.set_attr(node, "k", 2**63),
        r"ValueError: attribute 'k' of Add: an integer from -2\*\*63 to 2\*\*63 - 1 was expected",
    ),
    "such an integer in a list": ("Add", lambda rule, node: rule.edit.set_attr(node, "k", [1, -(2**64)]), "ValueError: attribute 'k' of Add: an integer from"),
    "a string that is not Unicode": (
        "Add",
        lambda rule, node: rule.edit.set_attr(node, "k", "\ud800"),
        "ValueError: attribute 'k' of Add: a string without lone surrogates, or bytes, was expected",
    ),
    "a dtype that is not Unicode": ("Add", lambda rule, node: rule.edit.set_attr(node, "T", "\ud800"), "ValueError: .*the name of a dtype"),
    "an attribute without a name": ("Add", lambda rule, node: rule.make("k", "Neg", "", [node], {3: 4}), "TypeError: attrs: the keys must be names"),
    "inputs that are not a list": ("Add", lambda rule, node: rule.edit.set_inputs(node, 5), "TypeError: a list of Ports and Nodes was expected"),
    "an exception's text that is not Unicode": ("Add", lambda rule, node: exit("\ud800"), r"SystemExit: \\ud800"),
    "not a port": ("Add", lambda rule, node: rule.edit.set_input(node, 0, "x"), "TypeError: a Port or a Node was expected"),
    "not a verdict": ("Add", lambda rule, node: True, "a rule must return a verdict of its context"),
    "a change that is not said": ("Add", lambda rule, node: rule.edit.set_device(node, "/cpu:0"), "the rule changed the graph, but its verdict denies it"),
    "a refusal after a change": ("Add", lambda rule, node: rule.edit.set_device(node, "/cpu:0") or rule.refuse("no"), "its verdict denies it"),
    "a rewrite of its own": ("Add", lambda rule, node: rule.edit.begin("mistake", node), "a rule does not call begin or end"),
    "a program that ends": ("Add", lambda rule, node: exit(3), "SystemExit: 3"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_of_rules(mistake):
    op, does, expected = MISTAKES[mistake]
    import re

    assert re.search(expected, text := rule_of(op, does)), text


def test_a_removed_node_is_gone():
    @tg.rule(pattern="Neg -> Identity")
    def mistake(rule, node):
        neg = rule.path[0]
        rule.edit.set_input(node, 0, neg.input(0))
        rule.edit.remove_node(neg)
        return neg.name

    with pytest.raises(tg.Error, match="RuntimeError: the node was removed"):
        tg.load(SUM).optimize(passes="mistake")


PASS_MISTAKES = {
    "no rewrite": (lambda edit: edit.set_device(edit.graph.find("a"), "/cpu:0"), "RuntimeError: no rewrite is under way"),
    "no end": (lambda edit: edit.begin("mistake", edit.graph.find("a")), r"node 'a': begin\(\) without end\(\)"),
    "two": (lambda edit: [edit.begin("mistake"), edit.begin("mistake")], "RuntimeError: begin: a rewrite is under way"),
    "an end too many": (lambda edit: edit.end(), "RuntimeError: end: no rewrite is under way"),
    "a step that is not there": (lambda edit: edit.begin("mistak"), "ValueError: pass 'mistake' has no step 'mistak' .*did you mean 'mistake'"),
    "a cycle": (
        lambda edit: [edit.begin("mistake"), edit.set_input(edit.graph.find("a"), 0, edit.graph.find("c")), edit.end()],
        "broke the graph: node '[abc]': is on a cycle that is not a loop",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", PASS_MISTAKES)
def test_mistakes_of_passes(mistake):
    does, expected = PASS_MISTAKES[mistake]
    tg.pass_("mistake")(lambda edit: does(edit) and None)
    with pytest.raises(tg.Error, match=expected) as wrong:
        tg.load(SUM).optimize(passes="mistake")
    assert wrong.value.pass_ == "mistake"


def test_mistakes_of_registrations():
    with pytest.raises(tg.Error, match="path pattern 'Mul ->': at character 7: an op"):
        tg.rule("r", pattern="Mul ->")(lambda rule, node: None)
    with pytest.raises(tg.Error, match="pass 'remapper' already exists"):
        tg.pass_("remapper")(lambda edit: None)
    with pytest.raises(tg.Error, match="rule 'r': pass 'remaper' not found; did you mean 'remapper'"):
        tg.rule("r", optimizer="remaper")(lambda rule, node: None)
    with pytest.raises(tg.Error, match="rule 'r': rule 'strip_prin' not found; did you mean 'strip_print'"):
        tg.rule("r", optimizer="debug_stripper", after="strip_prin")(lambda rule, node: None)
    with pytest.raises(ValueError, match="name: 'a/b' has a character"):
        tg.rule("a/b")(lambda rule, node: None)
    with pytest.raises(TypeError, match="NoApply has no method apply"):
        tg.rule(type("NoApply", (), {}))
    assert len(tg.passes().passes) == len([item for item in tg.passes().passes if "plugin" not in item])


def test_limit(log_of_softmax):
    assert tg.load(NET).optimize(passes="log_of_softmax", limit=0).rewrites == 0

    @tg.pass_
    def many(edit):
        for node in edit.graph.nodes:
            if not edit.begin("many", node):
                return
            edit.set_device(node, "/cpu:0")
            edit.end()

    assert tg.load(SUM).optimize(passes="many", limit=2).rewrites == 2


def test_bisect_names_it():
    @tg.rule(pattern="Neg -> Identity")
    def wrong(rule, node):
        rule.edit.set_input(node, 0, rule.path[0].input(0))
        return rule.done()

    graph = tg.load(b"fetch %y\n%x = Placeholder {dtype=float, shape=[2]}\n%a = Neg(%x)\n%y = Identity(%a)\n")
    found = graph.bisect(passes="constant_folding,wrong")
    assert (found.to_dict()["pass"], found.rule, found.node) == ("wrong", "wrong", "y")


def test_a_call_goes_on_with_what_it_began_with():
    graph = tg.load(SUM)

    def other(rule, node):
        raise AssertionError("this one came later")

    @tg.rule("mine", ops="Neg")
    def mine(rule, node):
        tg.rule("mine", ops="Neg")(other)

    graph.optimize(passes="mine")
    with pytest.raises(tg.Error, match="this one came later"):
        graph.optimize(passes="mine")


def test_a_rule_may_call():
    inner = []

    @tg.rule(ops="Add")
    def asks(rule, node):
        inner.append(tg.load(NET).optimize(passes="model_pruner").rewrites)

    tg.load(SUM).optimize(passes="asks")
    assert len(inner) == 1


def test_threads(log_of_softmax):
    wrong = []

    def work(number):
        for turn in range(5):
            name = f"own_{number}"
            tg.rule(name, pattern="Softmax -> Log")(lambda rule, node: rule.refuse(name))
            if ops(tg.load(NET).optimize(passes="log_of_softmax").graph) != ["Identity", "LogSoftmax", "Placeholder"]:
                wrong.append(number)
            if [near["reason"] for near in tg.load(NET).why_not(name, passes=name).near_misses] != [name]:
                wrong.append(name)
            tg.unregister(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_interrupt(tmp_path):
    import signal
    import subprocess
    import sys
    import time

    program = f"""if 1:
        import signal, time, tfgrapnel as tg
        signal.signal(signal.SIGINT, signal.default_int_handler)
        @tg.rule(ops="Neg")
        def forever(rule, node):
            print("begun", flush=True)
            while True:
                pass
        try:
            tg.load({SUM!r}).optimize(passes="forever")
        except KeyboardInterrupt:
            print(time.monotonic(), flush=True)
    """
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert float(process.stdout.readline()) - pressed < 1
        assert process.wait(5) == 0


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: tg.rule(3)(lambda rule, node: None), "name: a string was expected, not 3"),
        (lambda: tg.rule(name="x")(3), "a function or a class was expected, not 3"),
        (lambda: tg.rule(name="x", pattern=3)(lambda rule, node: None), "pattern: a string was expected, not 3"),
        (lambda: tg.rule(name="x", ops=3)(lambda rule, node: None), "ops: names of ops were expected, not 3"),
        (lambda: tg.rule(name="x", ops=[3])(lambda rule, node: None), "ops: a string was expected, not 3"),
        (lambda: tg.rule(name="x", phase="first")(lambda rule, node: None), "phase: an integer was expected, not 'first'"),
        (lambda: tg.rule(patern="Relu"), r"rule\(\) got an unexpected keyword argument 'patern'[;.] [Dd]id you mean 'pattern'"),
        (lambda: tg.pass_(name="x", steps=["a"])(lambda edit: None), r"steps: \{name: help\} was expected, not \['a'\]"),
        (lambda: tg.pass_(name="x", order="last")(lambda edit: None), "order: an integer was expected, not 'last'"),
        (lambda: tg.optimizer(3, help="x"), "name: a string was expected, not 3"),
        (lambda: tg.why_not("testdata/models/lenet", 3), "rule: a string was expected, not 3"),
    ],
)
def test_wrong_types_are_named(make, error):
    with pytest.raises(TypeError, match=error):
        make()
