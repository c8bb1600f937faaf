"""What a graph says, for tests that compare two of them."""

from tensorflow.python.framework import tensor_util

# Attributes that say nothing of what a graph computes.
SILENT = {"_class", "_output_shapes", "_has_manual_control_dependencies", "shape_inferred"}


def nodes(list_of_nodes):
    """Each node by name: op, device, inputs, attributes; a constant by its value."""

    def attribute(value):
        if value.HasField("tensor"):
            array = tensor_util.MakeNdarray(value.tensor)
            return str(array.dtype), array.shape, array.tolist()
        return value.SerializeToString(deterministic=True)

    return {
        n.name: (
            n.op,
            n.device,
            [i for i in n.input if i[0] != "^"],
            sorted(i for i in n.input if i[0] == "^"),
            {k: attribute(v) for k, v in n.attr.items() if k not in SILENT and not k.startswith("_grappler")},
        )
        for n in list_of_nodes
    }
