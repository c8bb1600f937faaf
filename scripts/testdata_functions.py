"""Small graphs with functions, for scripts/make_testdata.py: what Grappler makes of calls, branches and loops.

Each is a function from placeholders to fetched tensors; its name is the folder's, its first line says what should happen.
"""
import re

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import function as legacy
from tensorflow.python.ops import cond_v2, while_v2

raw = tf.raw_ops
FUNCTIONS = {}                                                # folder: (builder, optimizers, {feed: value})
X, Y = np.array([1, 2], "f"), np.array([0.5, -3], "f")


def case(*optimizers, **feeds):
    def register(f):
        FUNCTIONS[f.__name__] = f, optimizers, feeds or {"x": X, "y": Y}
        return f
    return register


def kept(**attributes):
    """A tf.function that is not inlined."""
    return tf.function(experimental_attributes={"_noinline": True, **attributes})


def cond(*args, **kw):
    return cond_v2.cond_v2(*args, **kw)


def loop(condition, body, start, name):
    return while_v2.while_loop(condition, body, start, name=name, return_same_structure=True)


@case("function")
def nested_calls(x, y):
    """A call of a function that calls another twice: all of it comes into the open."""
    @tf.function
    def inner(a):
        return tf.exp(a) * 2.0

    @tf.function
    def outer(a, b):
        return inner(a) + inner(b)
    return outer(x, y)


@case("function")
def call_by_name(x, y):
    """A node whose op is a function becomes the function's nodes."""
    @legacy.Defun(tf.float32, tf.float32, func_name="Hypotenuse")
    def hypotenuse(a, b):
        return tf.sqrt(a * a + b * b)
    return hypotenuse(x, y)


@case("function")
def call_by_name_in_a_call(x, y):
    """A function by name that calls one that must stay a call."""
    @legacy.Defun(tf.float32, func_name="Twice", noinline=True)
    def twice(a):
        return a * 2.0

    @legacy.Defun(tf.float32, tf.float32, func_name="TwiceAndOne")
    def twice_and_one(a, b):
        return twice(a) + b
    return twice_and_one(x, y)


@case("function")
def controls_around_a_call(x, y):
    """What a call waits for, its constants wait for; what waits for it waits for what must run in it."""
    @tf.function
    def f(a):
        return a * 2.0 + 1.0
    before = tf.sin(y, name="before")
    with tf.control_dependencies([before]):
        z = f(x)
    with tf.control_dependencies([z.op]):
        return tf.identity(x, name="after"), z


@case("function")
def fetched_call(x, y):
    """A call that is fetched stays under its name, as the values of the function."""
    @tf.function
    def f(a, b):
        return a * b, a + b
    f(x, y)
    return [x.graph.get_tensor_by_name("PartitionedCall:0")]


@case("function")
def constant_argument(x, y):
    """A call that must stay: the constant it gives moves into a function made for it."""
    @kept()
    def f(a, b):
        return a * b + tf.exp(b)
    return f(x, tf.constant([3.0, 4.0], name="three_four")) + y


@case("function")
def dead_results(x, y):
    """Unread results are removed from a function that must stay, and later ones are renumbered."""
    @kept()
    def f(a, b):
        return a * b, tf.sin(a), a - b, tf.exp(b)
    results = f(x, y)
    return tf.identity(results[1]), tf.square(results[3])


@case("function")
def one_function_for_two_calls(x, y):
    """Two calls alike share a specialized function; a third that is read differently gets its own."""
    @kept()
    def f(a, b):
        return a * b, a + b
    factor = tf.constant([3.0, 4.0], name="factor")
    return f(x, factor)[0] + f(y, factor)[0] + f(x, factor)[1]


@case("pruning", "function", "constfold", "dependency")
def dead_arguments(x, y):
    """In a body of its own, what an unused result needed goes too; the argument stays."""
    @kept()
    def f(a, b):
        return a * 2.0, tf.exp(b) * 3.0
    return f(x, tf.sin(y))[0]


@case("function")
def body_with_a_call(x, y):
    """A function that must stay, with a call in it that need not."""
    @tf.function
    def inner(a):
        return tf.exp(a) * 2.0

    @kept()
    def outer(a, b):
        return inner(a) - b
    return outer(x, y)


@case("pruning", "function", "constfold", "dependency")
def chain_of_kept_calls(x, y):
    """Functions that must stay and call each other are specialized one after the other."""
    @kept()
    def g(a, b):
        return a * b, tf.exp(a)

    @kept()
    def f(a, b):
        return g(a, tf.constant([5.0, 6.0]))[0] + b * 1.0, tf.sin(b)
    return f(x, tf.constant([1.0, 2.0], name="one_two"))[0] + y


@case("function", x=X, p=np.array(True))
def branches(x, p):
    """An If becomes Switch and Merge."""
    return cond(p, lambda: (x * 2.0, tf.constant([1.0, 1.0])), lambda: (x + 1.0, tf.sin(x)), name="if")


@case("function", x=X, i=np.array(1, "i"))
def switch_case(x, i):
    """A Case of three branches becomes _SwitchN and Merge."""
    return tf.switch_case(i, [lambda: x * 2.0, lambda: tf.exp(x), lambda: x - 1.0], name="choose")


@case("function", x=X, n=np.array(3, "i"))
def loop_of_nodes(x, n):
    """A While becomes a loop of nodes."""
    return loop(lambda i, a: i < n, lambda i, a: (i + 1, a + tf.exp(x)), [tf.constant(0), x], "loop")


@case("function", x=X, n=np.array(3, "i"))
def branches_in_a_loop(x, n):
    """An If in the body of a While."""
    def body(i, a):
        return i + 1, cond(tf.reduce_sum(a) > 4.0, lambda: a * 0.5, lambda: a + 1.0, name="if")
    return loop(lambda i, a: i < n, body, [tf.constant(0), x], "loop")


@case("function", x=X, n=np.array(3, "i"))
def loop_in_a_loop(x, n):
    """A While in the body of a While, which a call holds."""
    @tf.function
    def f(a, n):
        def body(i, a):
            return i + 1, loop(lambda j, b: j < 2, lambda j, b: (j + 1, b * 2.0), [tf.constant(0), a], "inner")[1]
        return loop(lambda i, a: i < n, body, [tf.constant(0), a], "outer")[1]
    return f(x, n)


@case("function", x=X, n=np.array(3, "i"))
def loop_in_a_kept_function(x, n):
    """The body of a function that must stay has its While lowered too."""
    @kept()
    def f(a, n):
        return loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2.0), [tf.constant(0), a], "loop")[1]
    return f(x, n)


@case("function", x=X, p=np.array(False))
def branch_that_stays(x, p):
    """A branch marked _noinline stays a call between Switch and Merge."""
    @kept()
    def f(a):
        return tf.exp(a) * 2.0
    return cond(p, lambda: f(x), lambda: x + 1.0, name="if")


def printing():
    @tf.function
    def f(a):
        tf.print("effect", tf.reduce_sum(a), output_stream="file:///dev/null")
        return a + 1.0
    return f


@case("function", x=X)
def effects_stay(x):
    """A call with an effect that nothing waits for is left alone."""
    return tf.exp(printing()(x))


@case("function", x=X)
def effects_that_are_waited_for(x):
    """A call with an effect comes into the open when something waits for it."""
    y = printing()(x)
    with tf.control_dependencies([y.op]):
        return tf.identity(x, name="after"), tf.exp(y)


@case("function", x=X)
def effects_of_a_fetched_call(x):
    """A call with an effect comes into the open when it is fetched."""
    return printing()(x)


@case("pruning", "function", "common_subgraph_elimination", "constfold", "loop", "dependency", x=X, n=np.array(3, "i"))
def whole_pipeline(x, n):
    """Calls, branches and a loop through several optimizers."""
    @tf.function
    def step(a):
        return tf.exp(a) * 1.0 + tf.exp(a)

    def body(i, a):
        return i + 1, cond(tf.reduce_sum(a) > 40.0, lambda: a * 0.5, lambda: step(a), name="if")
    return loop(lambda i, a: i < n, body, [tf.constant(0), x], "loop")[1]


def one_interface(name, device, factor):
    @tf.function(experimental_attributes={"api_implements": "times", "api_preferred_device": device})
    def f(a):
        return a * factor
    f.python_function.__name__ = name
    return f


@case("pruning", "constfold", "function", x=X)
def one_interface_of_two(x):
    """Functions of one interface are not inlined; an interface that is never called is removed."""
    one_interface("gpu", "GPU", 2.0).get_concrete_function(x).add_to_graph()
    return one_interface("cpu", "CPU", 2.0)(x) + 1.0


def with_plain_names(graph_def):
    """TensorFlow numbers the functions of a process; the names without those numbers."""
    names, taken = {}, set()
    for f in graph_def.library.function:
        base = re.sub(r"_\d+$", "", re.sub(r"^__inference_", "", f.signature.name))
        name, i = base, 1
        while name in taken:
            name, i = f"{base}_{i}", i + 1
        taken.add(name)
        names[f.signature.name] = name

    def attributes(attr):
        for value in attr.values():
            for callee in [value.func] if value.HasField("func") else value.list.func:
                callee.name = names.get(callee.name, callee.name)
                attributes(callee.attr)

    def nodes(list_of_nodes):
        for node in list_of_nodes:
            node.op = names.get(node.op, node.op)
            attributes(node.attr)
            for key in ("_collective_manager_ids", "_read_only_resource_inputs"):
                node.attr.pop(key, None)
            if "config_proto" in node.attr:                   # says what devices the machine has
                node.attr["config_proto"].s = b""
    nodes(graph_def.node)
    for f in graph_def.library.function:
        f.signature.name = names[f.signature.name]
        nodes(f.node_def)
    return graph_def
