"""TensorFlow, asked by measure.Worker: graphs read and imported, optimized by Grappler, placed, and run in a session with two threads."""
import os
import time

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2, rewriter_config_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.grappler import cluster, tf_optimizer

import measure
from cases import distance, read_case

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
loaded = {}


def read(path):
    graph = graph_pb2.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    return graph


def config(**more):
    return config_pb2.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2, **more)


def grappler(graph, fetches):
    """Seconds of the default optimizers on a graph that is in memory, its nodes on a CPU: the remapper fuses no others."""
    meta = meta_graph_pb2.MetaGraphDef(graph_def=read(graph))
    for node in meta.graph_def.node:
        node.device = node.device or CPU
    meta.collection_def["train_op"].node_list.value.extend(fetches)
    asked = config_pb2.ConfigProto()
    asked.graph_options.rewrite_options.CopyFrom(rewriter_config_pb2.RewriterConfig(min_graph_nodes=-1))
    local = cluster.Cluster(disable_detailed_stats=True)
    begin = time.perf_counter()
    tf_optimizer.OptimizeGraph(asked, meta, verbose=False, cluster=local)
    return time.perf_counter() - begin


def opened(graph):
    """Seconds to parse and import a file."""
    begin = time.perf_counter()
    with tf.Graph().as_default():
        tf.import_graph_def(read(graph), name="")
        return time.perf_counter() - begin


def placed(graph):
    """Seconds to parse and import a file, and to make a session's graph of it, which places it on four CPUs."""
    begin = time.perf_counter()
    with tf.Graph().as_default() as made:
        tf.import_graph_def(read(graph), name="")
        with tf.compat.v1.Session(graph=made, config=config(device_count={"CPU": 4}, allow_soft_placement=True)) as session:
            pywrap_tf_session.ExtendSession(session._session)  # pylint: disable=protected-access
            return time.perf_counter() - begin


def session_of(case):
    feeds, fetches = read_case(case)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(read(os.path.join(case, "graph.pb")), name="")
        session = tf.compat.v1.Session(graph=graph, config=config())
        call = session.make_callable(list(fetches), feed_list=list(feeds))
    return session, lambda: call(*feeds.values()), fetches


def load(case):
    """Makes a session to be timed; how far its outputs are from those expected, as a part of their spread."""
    if loaded:
        loaded.pop("session").close()
    session, call, fetches = session_of(case)
    far = distance(fetches, call())
    loaded.update(session=session, call=call)
    return far


def runs(repeat):
    return measure.timed(loaded["call"], repeat)


def first(case):
    """Seconds to parse, import and run once."""
    begin = time.perf_counter()
    session, call, _ = session_of(case)
    call()
    took = time.perf_counter() - begin
    session.close()
    return took


def rates():
    """(floating-point operations, bytes) a second, the best of several: a product of two matrices of 2048 by oneDNN, and a copy of
    256 MB."""
    with tf.Graph().as_default():
        a = tf.compat.v1.placeholder(tf.float32, [2048, 2048])
        product = tf.reduce_max(tf.matmul(a, a))
        with tf.compat.v1.Session(config=config()) as session:
            call = session.make_callable(product, feed_list=[a])
            values = np.ones((2048, 2048), np.float32)
            fastest = min(measure.timed(lambda: call(values), 1) for _ in range(12))
    source = np.ones(1 << 26, np.float32)
    target = np.empty_like(source)
    copy = min(measure.timed(lambda: np.copyto(target, source), 1) for _ in range(8))
    return 2 * 2048**3 / fastest, 2 * source.nbytes / copy


if __name__ == "__main__":
    measure.serve({"ready": lambda: True, "grappler": grappler, "opened": opened, "placed": placed, "load": load, "runs": runs,
                   "first": first, "rates": rates})
