"""Makes testdata/collectives/: case folders of collective ops over several CPUs, with TensorFlow's results.

needs: tensorflow-cpu==2.21.0        usage: scripts/testdata_collectives.py [OUT_DIR [GRAPH...]]

CollectiveReduceScatterV2 is not included: TensorFlow does not implement it for CPUs. Every member of a group is on its own CPU, and
the nodes' order differs from that of their devices, because members rank by device.
"""
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ORDER = (2, 0, 3, 1)


def members(v, make):
    """make(number) on each CPU; results by number."""
    made = {}
    for number in ORDER:
        with v.device(f"/cpu:{number}"):
            made[number] = make(number)
    return [made[number] for number in range(len(ORDER))]


def values(tf, x, number):
    """Another value on each device."""
    return x * float(number + 1) + tf.cast(number, x.dtype)


def reduce(v, tf, x):
    """CollectiveReduceV2 with each way to merge, mean and sum, floats and integers."""
    raw, outs = tf.raw_ops, []
    for instance, (merge, final) in enumerate((("Add", "Id"), ("Add", "Div"), ("Mul", "Id"), ("Max", "Id"), ("Min", "Id"))):
        outs += members(v, lambda i: raw.CollectiveReduceV2(
            input=values(tf, x, i), group_size=4, group_key=1, instance_key=instance, ordering_token=[], merge_op=merge,
            final_op=final))
    outs += [tf.cast(y, tf.float32) for y in members(v, lambda i: raw.CollectiveReduceV2(
        input=tf.cast(values(tf, x, i), tf.int32), group_size=4, group_key=1, instance_key=9, ordering_token=[], merge_op="Add",
        final_op="Div"))]
    return outs


def old_reduce(v, tf, x):
    """CollectiveReduce, whose keys are attributes, in half precision."""
    return [tf.cast(y, tf.float32) for y in members(v, lambda i: tf.raw_ops.CollectiveReduce(
        input=tf.cast(values(tf, x, i), tf.float16), group_size=4, group_key=1, instance_key=1, merge_op="Add", final_op="Div",
        subdiv_offsets=[0]))]


def gather(v, tf, x):
    """CollectiveGatherV2 and CollectiveGather."""
    return members(v, lambda i: tf.raw_ops.CollectiveGatherV2(
        input=values(tf, x, i), group_size=4, group_key=1, instance_key=1, ordering_token=[])) + members(
            v, lambda i: tf.raw_ops.CollectiveGather(
                input=values(tf, x, i), group_size=4, group_key=2, instance_key=2, shape=[4 * 4, 2]))


def broadcast(v, tf, x):
    """CollectiveBcastSendV2 and its receivers, and those whose keys are attributes."""
    raw = tf.raw_ops

    def new(i):
        if i == 3:
            return raw.CollectiveBcastSendV2(input=values(tf, x, i), group_size=4, group_key=1, instance_key=1)
        return raw.CollectiveBcastRecvV2(group_size=4, group_key=1, instance_key=1, shape=[4, 2], T=tf.float32)

    def old(i):
        if i == 1:
            return raw.CollectiveBcastSend(input=values(tf, x, i), group_size=4, group_key=2, instance_key=2, shape=[4, 2])
        return raw.CollectiveBcastRecv(group_size=4, group_key=2, instance_key=2, shape=[4, 2], T=tf.float32)
    return members(v, new) + members(v, old)


def all_to_all(v, tf, x):
    """CollectiveAllToAllV2."""
    return members(v, lambda i: tf.raw_ops.CollectiveAllToAllV2(
        input=values(tf, x, i), group_size=4, group_key=1, instance_key=1, ordering_token=[]))


def in_a_loop(v, tf, x):
    """A mean over two groups of two in each iteration of a loop."""
    def body(step, *mine):
        def one(i):
            return tf.raw_ops.CollectiveReduceV2(
                input=mine[i] * 0.5 + float(i), group_size=2, group_key=1 + i % 2, instance_key=1, ordering_token=[],
                merge_op="Add", final_op="Div")
        return [step + 1] + members(v, one)
    with v.device("/cpu:0"):
        first = [tf.constant(0)] + [values(tf, x, i) for i in range(4)]
        return v.while_loop(lambda step, *_: step < 50, body, first)[1:]


def communicators(v, tf, x):
    """CollectiveReduceV3 and CollectiveAllToAllV3, ranks in another order than devices; groups from CollectiveAssignGroupV2."""
    raw, ranks, nobody = tf.raw_ops, (1, 0, 3, 2), tf.zeros([0, 0], tf.int32)
    assigned = [raw.CollectiveAssignGroupV2(group_assignment=[[2, 0], [3, 1]], device_index=i, base_key=7) for i in range(4)]
    all_of_them = members(v, lambda i: raw.CollectiveInitializeCommunicator(group_key=1, rank=ranks[i], group_size=4))
    summed = members(v, lambda i: raw.CollectiveReduceV3(
        input=values(tf, x, i), communicator=all_of_them[i], group_assignment=nobody, reduction="Add"))

    def exchange(i):
        with v.control_dependencies([summed[i]]):
            return raw.CollectiveAllToAllV3(input=values(tf, x, i), communicator=all_of_them[i], group_assignment=nobody)
    return [tf.cast(y, tf.float32) for pair in assigned for y in pair] + summed + members(v, exchange)


GRAPHS = (reduce, old_reduce, gather, broadcast, all_to_all, in_a_loop, communicators)


def run(name, folder):
    """One graph in a separate process, which a group that TensorFlow cannot complete would block."""
    import numpy as np
    import tensorflow as tf
    v = tf.compat.v1
    v.disable_control_flow_v2()
    graph = v.Graph()
    with graph.as_default():
        x = v.placeholder(tf.float32, [4, 2], name="x")
        outs = {g.__name__: g for g in GRAPHS}[name](v, tf, x)
        outs = [tf.identity(y, name=f"out_{i}") for i, y in enumerate(outs)]
    fed = np.array([[1, 2], [-3, 4], [5, -6], [7, 8]], np.float32)
    options = v.RunOptions()
    options.experimental.collective_graph_key = 1
    config = v.ConfigProto(device_count={"CPU": 4})
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with v.Session(graph=graph, config=config) as session:
        results = session.run(outs, {x: fed}, options=options)
    with open(os.path.join(folder, "graph.pb"), "wb") as f:
        f.write(graph.as_graph_def().SerializeToString(deterministic=True))
    np.save(os.path.join(folder, "feed_0.npy"), fed)
    fetches = {}
    for i, (out, result) in enumerate(zip(outs, results)):
        np.save(os.path.join(folder, f"out_{i}.npy"), result)
        fetches[out.name] = f"out_{i}.npy"
    with open(os.path.join(folder, "case.json"), "w") as f:
        json.dump({"feeds": {"x:0": "feed_0.npy"}, "fetches": fetches, "rtol": 1e-5, "atol": 0}, f)
        f.write("\n")


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--run":
        return run(sys.argv[2], sys.argv[3])
    out = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "testdata", "collectives"))
    for graph in GRAPHS:
        if len(sys.argv) > 2 and graph.__name__ not in sys.argv[2:]:
            continue
        folder = os.path.join(out, graph.__name__)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
        subprocess.run([sys.executable, __file__, "--run", graph.__name__, folder], env=env, check=True, timeout=100)
        print(f"{graph.__name__}: {graph.__doc__}")


if __name__ == "__main__":
    main()
