#!/usr/bin/env python3
"""Trains models that TensorFlow exported, saves their variables, reads them back and trains on, in grapnel and in TensorFlow: no variable is
lost or swapped.

usage: checkpoint_round_trips.py GRAPNEL SEED COUNT [--way NAME] [--keep DIR]

A model is exported in one of the ways of exported_models.py, in turn, and makes five trips. In each, grapnel trains some steps, writes a
checkpoint, begins from it again, trains on and writes another: losses are those of TensorFlow, which trains on in one go, and what
TensorFlow reads of the second checkpoint, by tf.saved_model.load and by the loader of TensorFlow 1, gives what its own model gives. A
checkpoint that TensorFlow wrote after the same steps is read too. A line for each trip that fails; exit code 1 if one does. A trip of a
seed is the same alone as among many. --keep DIR keeps the models of those that fail.
needs: tensorflow-cpu==2.21.0; with tf_keras too, models of Keras 2 are exported
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np
import tensorflow as tf
from exported_models import WAYS, Sizes

TRIPS = 5  # for each model


class Failed(Exception):
    pass


class Loaded:
    """The model in TensorFlow 2."""

    def __init__(self, path):
        self.model = tf.saved_model.load(path)

    def train(self, x, y, steps):
        step = self.model.signatures["train"]
        return [float(step(x=tf.constant(x), y=tf.constant(y))["loss"]) for _ in range(steps)]

    def serve(self, x):
        return self.model.signatures["serve"](x=tf.constant(x))["out"].numpy()

    def write(self, prefix):
        tf.train.Checkpoint(self.model).write(prefix)


class Session:
    """The model in a session of TensorFlow 1."""

    def __init__(self, path):
        v1 = tf.compat.v1
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.session = v1.Session(graph=self.graph)
            self.meta = v1.saved_model.load(self.session, ["serve"], path)

    def run(self, name, key, **feeds):
        signature = self.meta.signature_def[name]
        return self.session.run(signature.outputs[key].name, {signature.inputs[k].name: v for k, v in feeds.items()})

    def train(self, x, y, steps):
        return [float(self.run("train", "loss", x=x, y=y)) for _ in range(steps)]

    def serve(self, x):
        return self.run("serve", "out", x=x)

    def write(self, prefix):
        saver = self.meta.saver_def
        self.session.run(saver.save_tensor_name, {saver.filename_tensor_name: prefix})


def names_in(prefix):
    return {name for name, _ in tf.train.list_variables(prefix)}


def demand_close(got, wanted, what):
    if not np.allclose(got, wanted, rtol=2e-3, atol=2e-5):
        raise Failed(f"{what}: {np.asarray(got).ravel()[:4]} instead of {np.asarray(wanted).ravel()[:4]}")


class Trip:
    def __init__(self, grapnel, model, way, folder, seed):
        self.grapnel, self.model, self.folder = grapnel, model, folder
        self.is_v1 = way.startswith("v1")
        self.random = np.random.RandomState(seed)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, signature, key, *more):
        feeds = [f"--feed=x={self.path('x.npy')}", f"--feed=y={self.path('y.npy')}"][:2 if signature == "train" else 1]
        done = subprocess.run([self.grapnel, "run", self.model, "--signature", signature, *feeds, "--fetch",
                               f"{key}={self.path('out.npy')}", *map(str, more)], capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"grapnel run {signature} {' '.join(map(str, more))}: {done.stderr[-600:]}")
        return np.load(self.path("out.npy"))

    def in_tensorflow(self, prefix, loader):
        """The model with those variables."""
        copy = self.path("copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.model, copy)
        shutil.rmtree(copy + "/variables")
        os.mkdir(copy + "/variables")
        for end in (".index", ".data-00000-of-00001"):
            shutil.copy(prefix + end, copy + "/variables/variables" + end)
        return loader(copy)

    def session_runs(self, x):
        """TensorFlow 1's loader restores what the saver does: of Keras 3 in a tf.Module, copies of the variables that are read."""
        try:
            Session(self.model).serve(x)
        except tf.errors.FailedPreconditionError:
            return False
        return True

    def make(self, columns, outputs):
        x, y = self.random.randn(3, columns).astype("f"), self.random.randn(3, outputs).astype("f")
        first, more = int(self.random.randint(1, 4)), int(self.random.randint(1, 4))
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), y)
        truth = (Session if self.is_v1 else Loaded)(self.model)
        # The loss is that before the step, so the last loss of one run shows the state that the previous run saved.
        losses = truth.train(x, y, first)
        truth.write(self.path("theirs"))
        out = truth.serve(x)
        demand_close(self.run("train", "loss", "--repeat", first, "--save-variables", self.path("ours")), losses[-1], "loss")
        demand_close(self.run("serve", "out", "--variables", self.path("ours")), out, "served after the first steps")
        demand_close(self.run("serve", "out", "--variables", self.path("theirs")), out, "served of TensorFlow's checkpoint")
        losses = truth.train(x, y, more)
        got = self.run("train", "loss", "--repeat", more, "--variables", self.path("ours"), "--save-variables", self.path("again"))
        demand_close(got, losses[-1], "loss of the second run")
        out = truth.serve(x)
        if names_in(self.path("again")) != names_in(self.model + "/variables/variables"):
            raise Failed("the checkpoint has other names than the model's")
        for loader in (Loaded, Session):
            if loader is Session and not self.session_runs(x):
                continue
            demand_close(self.in_tensorflow(self.path("again"), loader).serve(x), out, f"served by TensorFlow's {loader.__name__}")
        truth.write(self.path("theirs"))
        self.compare_checkpoints()

    def compare_checkpoints(self):
        ours, theirs = (tf.train.load_checkpoint(self.path(name)) for name in ("again", "theirs"))
        # TensorFlow leaves the variables that Keras 3 lists again unchanged.
        names = {n for n in names_in(self.path("again")) & names_in(self.path("theirs")) if not n.startswith("_") or "VALUE" in n}
        for name in sorted(names - {n for n in names if n.startswith("_all_variables")}):
            mine, their = ours.get_tensor(name), theirs.get_tensor(name)
            if getattr(their, "dtype", None) is not None and np.issubdtype(np.asarray(their).dtype, np.number):
                demand_close(mine, their, f"'{name}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("grapnel")
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--way", choices=WAYS, help="this one alone; else all in turn")
    parser.add_argument("--keep", help="a folder for the models of trips that fail")
    args = parser.parse_args()
    ways = [args.way] if args.way else list(WAYS)
    made, failed = collections.Counter(), collections.Counter()
    for number in range(args.count):
        if number % TRIPS == 0:
            seed = args.seed + number // TRIPS
            name = ways[seed % len(ways)]
            scratch = tempfile.TemporaryDirectory()
            model = os.path.join(scratch.name, "model")
            sizes = Sizes(seed)
            tf.keras.backend.clear_session()
            WAYS[name](model, sizes)
        try:
            with tempfile.TemporaryDirectory() as folder:
                Trip(args.grapnel, model, name, folder, seed * TRIPS + number % TRIPS).make(sizes.columns, sizes.outputs)
        except Failed as error:
            failed[name] += 1
            print(f"{name} {seed}, trip {number % TRIPS}: {error}", flush=True)
            if args.keep:
                shutil.copytree(model, os.path.join(args.keep, f"{name}_{seed}"), dirs_exist_ok=True)
        made[name] += 1
    for name in sorted(failed):
        print(f"{failed[name]} of {made[name]} failed: {name}")
    print(f"{args.count} round trips of {len(made)} ways to export, {sum(failed.values())} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
