"""The state of a captured graph between runs: variables, tables, iterators. Part of capture.py.

A function that captured a variable, a table or an iterator has a placeholder for its handle. This module replaces the
placeholder by the node that creates the resource. The nodes that fill tables and start iterators become a separate
graph, whose node `init` runs once; the values of variables are files of the case.
"""
# mypy: ignore-errors
import gc
import re

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops.iterator_ops import OwnedIterator
from tensorflow.python.ops.lookup_ops import DenseHashTable, LookupInterface, StaticHashTable

INIT = "init"
WRITERS = re.compile(r"Assign(Add|Sub)?VariableOp|Resource(Sparse)?Apply|ResourceScatter|ResourceStridedSliceAssign|"
                     r"Assign(Add|Sub)?$|(Sparse)?Apply[A-Z]|Scatter(Nd)?(Add|Sub|Update|Mul|Div|Min|Max)$|"
                     r"Rng|Stateful(?!Part)|LookupTable(Insert|Remove|Import)")
INITIALIZERS = ("InitializeTableV2", "InitializeTableFromTextFileV2", "LookupTableImportV2", "MakeIterator",
                "InitializeTable", "InitializeTableFromTextFile", "LookupTableImport")


class StateError(Exception):
    """A resource that cannot become part of a case."""


def all_nodes(graph):
    return list(graph.node) + [n for f in graph.library.function for n in f.node_def]


def writes(graph):
    """True if running the graph changes its state."""
    return any(WRITERS.match(n.op) for n in all_nodes(graph))


def const(graph, name, value):
    node = graph.node.add(name=name, op="Const")
    tensor = tf.make_tensor_proto(value)
    node.attr["value"].tensor.CopyFrom(tensor)
    node.attr["dtype"].type = tensor.dtype
    return name


def become(node, op, **attrs):
    """Turns the placeholder `node` into the op that creates the resource with its name."""
    node.op = op
    node.attr.clear()
    node.attr["shared_name"].s = node.name.encode()
    for key, value in attrs.items():
        node.attr[key].CopyFrom(value)


def copy_of(graph, node):
    if all(n.name != node.name for n in graph.node):
        graph.node.add().CopyFrom(node)
    return node.name


def type_attr(dtype):
    return tf.compat.v1.AttrValue(type=dtype.as_datatype_enum)


def shape_attr(shape):
    return tf.compat.v1.AttrValue(shape=tf.TensorShape(shape).as_proto())


def hold_variable(node, variable):
    become(node, "VarHandleOp", dtype=type_attr(variable.dtype), shape=shape_attr(variable.shape))


def readers(functions, nodes, name):
    """Yields the ops that look up, insert or import entries of the table with the handle `name`, including
    those in functions that it is passed to."""
    for node in nodes:
        for slot, given in enumerate(i for i in node.input if not i.startswith("^")):
            if given.split(":")[0] != name:
                continue
            if node.op in ("LookupTableFindV2", "LookupTableInsertV2", "LookupTableImportV2"):
                yield node
            slot -= node.op in ("If", "StatelessIf", "Case", "StatelessCase")
            called = [node.op] + [f.name for a in node.attr.values() for f in (a.func, *a.list.func)]
            for f in (functions[c] for c in called if c in functions):
                yield from readers(functions, f.node_def, f.signature.input_arg[slot].name)


def types_of(graph, name, handle):
    """Returns (dtype of keys, of values, whether it is immutable) of a table: from its object, else from the ops that use
    it; None if they are unknown. With wrong dtypes TensorFlow would abort the process."""
    for o in gc.get_objects():
        if isinstance(o, LookupInterface) and getattr(o, "_resource_handle", None) is handle:
            if isinstance(o, DenseHashTable):
                raise StateError(f"input '{name}' is a dense table, whose empty and deleted keys a case cannot hold")
            return o.key_dtype, o.value_dtype, isinstance(o, StaticHashTable)
    users = list(readers({f.signature.name: f for f in graph.library.function}, graph.node, name))
    pairs = {(n.attr["Tin"].type, n.attr["Tout"].type) for n in users}
    fixed = all(n.op == "LookupTableFindV2" for n in users)
    return (*map(tf.as_dtype, pairs.pop()), fixed) if len(pairs) == 1 else None


def contents(graph, name, handle):
    """Returns the keys and values of a table, and whether it is immutable; None if it is not a table
    or its dtypes are unknown."""
    types = types_of(graph, name, handle)
    if types is None:
        return None
    try:
        return *tf.raw_ops.LookupTableExportV2(table_handle=handle, Tkeys=types[0], Tvalues=types[1]), types[2]
    except (tf.errors.OpError, ValueError, TypeError):
        return None


def hold_table(init, node, table):
    keys, values, fixed = table
    types = {"key_dtype": type_attr(keys.dtype), "value_dtype": type_attr(values.dtype)}
    if len(values.shape) > 1:
        become(node, "MutableHashTableOfTensorsV2", value_shape=shape_attr(values.shape[1:]), **types)
    else:
        become(node, "HashTableV2" if fixed else "MutableHashTableV2", **types)
    fill = init.node.add(name=node.name + "/fill")
    fill.op = "InitializeTableV2" if node.op == "HashTableV2" else "LookupTableImportV2"
    fill.input.extend([copy_of(init, node), const(init, node.name + "/keys", keys.numpy()),
                       const(init, node.name + "/values", values.numpy())])
    names = ("Tkey", "Tval") if fill.op == "InitializeTableV2" else ("Tin", "Tout")
    for name, tensor in zip(names, (keys, values)):
        fill.attr[name].type = tensor.dtype.as_datatype_enum


def hold_iterator(init, node, iterator):
    """Recreates an iterator, which is before its first element when the case begins."""
    source = tf.compat.v1.GraphDef()
    source.ParseFromString(tf.raw_ops.DatasetToGraphV2(
        input_dataset=iterator._dataset._variant_tensor, external_state_policy=1, strip_device_assignment=True).numpy())
    prefix = node.name + "/dataset/"
    for n in source.node:
        if n.op in ("_Retval", "Retval"):
            dataset = prefix + n.input[0]
            continue
        made = init.node.add()
        made.CopyFrom(n)
        made.name = prefix + n.name
        made.ClearField("device")
        del made.input[:]
        made.input.extend("^" + prefix + i[1:] if i.startswith("^") else prefix + i for i in n.input)
    init.library.MergeFrom(source.library)
    spec = iterator.element_spec
    types = [s.dtype for s in tf.nest.flatten(spec, expand_composites=True)]
    shapes = [s.shape for s in tf.nest.flatten(spec, expand_composites=True)]
    become(node, "IteratorV2")
    node.attr["container"].s = b""
    node.attr["output_types"].list.type.extend(t.as_datatype_enum for t in types)
    node.attr["output_shapes"].list.shape.extend(s.as_proto() for s in shapes)
    init.node.add(name=node.name + "/make", op="MakeIterator").input.extend([dataset, copy_of(init, node)])


def iterator_of(handle):
    return next((o for o in gc.get_objects() if isinstance(o, OwnedIterator) and o._iterator_resource is handle), None)


def run_last(init):
    """Adds a node that runs after all initializers, if there are any."""
    last = [n.name for n in init.node if n.op in INITIALIZERS]
    if last:
        init.node.add(name=INIT, op="NoOp").input.extend("^" + n for n in last)
    init.versions.producer = tf.compat.v1.Graph().as_graph_def().versions.producer
    return init


def hold_captures(graph, captures, variables):
    """Turns the placeholders of `captures`, {tensor name: handle}, into resources. `variables`: {id of a handle:
    variable}. Returns the graph of initializers."""
    init = tf.compat.v1.GraphDef()
    nodes = {n.name: n for n in graph.node}
    for name, handle in captures.items():
        node = nodes.get(name.split(":")[0])
        if handle.dtype != tf.resource or node is None:
            continue
        if id(handle) in variables:
            hold_variable(node, variables[id(handle)])
            continue
        iterator = iterator_of(handle)
        table = None if iterator is not None else contents(graph, node.name, handle)
        if iterator is not None:
            hold_iterator(init, node, iterator)
        elif table is not None:
            hold_table(init, node, table)
        else:
            raise StateError(f"input '{name}' is a captured resource that is not a variable, table or iterator")
    return run_last(init)


def keep_effects(graph, outputs, effects):
    """Adds control edges so that outputs that are Identity nodes wait for the run's effects, which no output reads."""
    nodes = {n.name: n for n in graph.node}
    for name in {t.split(":")[0] for t in outputs}:
        node = nodes[name]
        if node.op == "Identity":
            node.input.extend("^" + e for e in effects if e != name and e in nodes)


def session_initializers(whole, graph):
    """Returns the part of a session's graph that fills the tables and creates the iterators of `graph`."""
    inside = {n.name for n in graph.node}
    kept = {n.name for n in graph.node if n.op not in ("Placeholder", "Const")}
    names = [n.name for n in whole.node if n.op in INITIALIZERS and n.name not in inside
             and any(i.split(":")[0] in kept for i in (n.input[-1:] if n.op == "MakeIterator" else n.input[:1]))]
    if not names:
        return run_last(tf.compat.v1.GraphDef())
    init = tf.compat.v1.graph_util.extract_sub_graph(whole, names)
    for node in list(graph.node) + list(init.node):           # the same resource in both graphs, whatever the node's name
        if node.op.endswith(("TableV2", "OfTensorsV2", "IteratorV2")) and not node.attr["shared_name"].s:
            node.attr["shared_name"].s = node.name.encode()
    fed = [n.name for n in init.node if n.op == "Placeholder"]
    if fed:
        raise StateError(f"'{fed[0]}' is fed where a table or an iterator is initialized, which a case cannot contain")
    return run_last(init)


def prepare(session, graph, variables, init):
    """In a session of the imported graph, assigns the variables and creates the tables and iterators."""
    for name, value in variables.items():
        handle = session.graph.get_tensor_by_name(name + ":0")
        if handle.dtype == tf.resource:
            dtype = tf.as_dtype(graph_node(graph, name).attr["dtype"].type)
            session.run(tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(value, dtype)))
        else:
            session.run(tf.raw_ops.Assign(ref=handle, value=tf.constant(np.asarray(value)), validate_shape=False))
    if init.node:
        tf.import_graph_def(init, name="of_init")
        session.run("of_init/" + INIT)


def graph_node(graph, name):
    return next(n for n in graph.node if n.name == name)
