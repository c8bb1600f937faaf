#!/usr/bin/env python3
"""Writes testdata/function_graphs: graphs of functions as TensorFlow's runtime dumps them while running, and prints
TensorFlow's results for the inputs of tests/tools/function_ends.test.

  make_function_graphs.py OUT_DIR
"""

import os
import pathlib
import shutil
import sys
import tempfile

DUMPS = tempfile.mkdtemp()
os.environ.update(TF_DUMP_GRAPH_PREFIX=DUMPS, TF_DUMP_GRAPH_FMT="TXT", TF_DUMP_GRAPH_NAME_FILTER="*", TF_CPP_MIN_LOG_LEVEL="2",
                  TF_ENABLE_ONEDNN_OPTS="0")

import tensorflow as tf  # noqa: E402

# The file for each dump of each function.
KEPT = {
    "train.pbtxt": ("train_", "before_graph_optimization"),
    "words.pbtxt": ("words_", "before_graph_optimization"),
    "calls.pbtxt": ("outer_", "before_graph_optimization"),
    "calls_initial.pbtxt": ("outer_", "0000.main.initial"),
    "loop.pbtxt": ("half_", "after_graph_optimization"),
    "partition.pbtxt": ("train_", "after_partition_passes"),
}

weights = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="weights")
steps = tf.Variable(0, dtype=tf.int64, name="steps")


@tf.function
def train(x, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ weights))
    weights.assign_sub(rate * tape.gradient(loss, weights))
    steps.assign_add(1)
    return loss, steps.read_value()


@tf.function
def words(text, flag):
    tf.debugging.assert_equal(tf.size(text), 3, message="three words")
    upper = tf.strings.upper(text)
    tf.print("flag", flag)
    return {"upper": upper, "length": tf.strings.length(upper), "not": tf.logical_not(flag)}


@tf.function
def inner(a):
    steps.assign_add(tf.cast(tf.reduce_sum(a), tf.int64))
    return a * 2


@tf.function
def outer(a, b):
    twice = inner(a)
    return inner(twice) + b, twice


@tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float16), tf.TensorSpec(None, tf.float64)])
def half(h, d):
    i = tf.constant(0)
    while i < tf.shape(h)[0]:
        h = h + tf.ones([], tf.float16)
        i += 1
    return tf.reduce_sum(h, 0), tf.sin(d), tf.complex(d, d)


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    print("train", train(tf.ones([2, 2]), 0.1), train(tf.ones([2, 2]), 0.1), weights.numpy().tolist())
    steps.assign(0)
    print("words", words(tf.constant(["a", "bc", "def"]), tf.constant(True)))
    print("outer", outer(tf.constant([1, 2, 3]), tf.constant([4, 5, 6])), steps.numpy())
    print("half", half(tf.zeros([3, 2], tf.float16), tf.constant(0.5, tf.float64)))
    for name, (function, tag) in KEPT.items():
        found = sorted(pathlib.Path(DUMPS).glob(f"__inference_{function}*{tag}*"))
        shutil.copy(found[0], out / name)
    shutil.rmtree(DUMPS)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
