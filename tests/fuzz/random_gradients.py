#!/usr/bin/env python3
"""Makes random functions with loops, branches, TensorArrays and variables that are read by their handles, and compares the gradients that
grapnel makes of their SavedModels with TensorFlow's.

usage: random_gradients.py GRAPNEL SEED COUNT [--keep DIR]

`grapnel train --optimizer sgd` makes one step at a large rate: what it takes from a variable is the gradient. A line for each function whose
gradients differ; exit code 1 if there is one. A seed alone makes the same function as among many. --keep DIR keeps those models.
needs: tensorflow-cpu==2.21.0
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
import numpy as np
import tensorflow as tf

RATE = 1024.0
UNARY = [tf.tanh, tf.sigmoid, tf.sin, tf.nn.softplus, tf.nn.relu, tf.abs, lambda x: tf.exp(-x * x), lambda x: x * 0.5, tf.nn.softmax,
         lambda x: tf.reverse(x, [0]), lambda x: tf.cumsum(x, 1) * 0.3, lambda x: x - tf.reduce_mean(x, 1, keepdims=True)]
BINARY = [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - 0.5 * b, tf.maximum, lambda a, b: a / (1.0 + b * b),
          lambda a, b: tf.where(a > b, a, b * 2.0), lambda a, b: tf.matmul(a, b, transpose_b=True) @ b * 0.1]


class Program:
    """A function of tensors of one shape; a statement takes a list of them and gives one."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.dtype = tf.float64 if self.random.rand() < 0.2 else tf.float32
        self.rows, self.columns, self.width = (int(self.random.randint(2, 5)) for _ in range(3))
        self.module = tf.Module()
        self.module.variables_list = []
        self.used = collections.Counter()
        self.statements = [
            self.unary, self.binary, self.matmul, self.matmul, self.bias, self.gather, self.cond, self.case, self.for_loop, self.for_loop,
            self.while_loop, self.array_of_loop, self.array_of_rows, self.scan, self.map_rows, self.call, self.joined, self.stopped]

    # ---- pieces ----

    def integer(self, low, high):
        return int(self.random.randint(low, high))

    def pick(self, values):
        return values[self.integer(0, len(values))]

    def variable(self, *shape):
        for known in self.module.variables_list:
            if known.shape == shape and self.random.rand() < 0.4:
                return known
        made = tf.Variable(self.random.randn(*shape) * 0.4, dtype=self.dtype, name=f"v{len(self.module.variables_list)}")
        self.module.variables_list.append(made)
        return made

    def block(self, depth, most=3):
        steps = [self.pick(self.statements[:6] if depth <= 0 else self.statements)(depth - 1) for _ in range(self.integer(1, most + 1))]

        def run(state):
            for step in steps:
                state = step(list(state))
            return state
        return run

    def places(self, count):
        return [self.integer(0, self.width) for _ in range(count)]

    def put(self, make):
        """A statement that replaces a tensor by what `make` gives of the state."""
        at = self.integer(0, self.width)

        def run(state):
            state[at] = make(state)
            return state
        return run

    # ---- statements ----

    def unary(self, _):
        function, [i] = self.pick(UNARY), self.places(1)
        return self.put(lambda s: function(s[i]))

    def binary(self, _):
        function, [i, j] = self.pick(BINARY), self.places(2)
        return self.put(lambda s: function(s[i], s[j]))

    def matmul(self, _):
        variable, [i] = self.variable(self.columns, self.columns), self.places(1)
        return self.put(lambda s: tf.tanh(s[i] @ variable))

    def bias(self, _):
        variable, [i], reads = self.variable(self.columns), self.places(1), self.integer(0, 2)
        return self.put(lambda s: s[i] + (variable.read_value() if reads else variable))

    def gather(self, _):
        variable, [i], number = self.variable(5, self.columns), self.places(1), self.integer(0, 5)
        indices = [self.integer(0, 5) for _ in range(self.rows)]
        self.used["gather"] += 1
        if number == 4:
            return self.put(lambda s: s[i] + tf.gather(variable, tf.cast(tf.abs(s[i][:, 0]) * 3, tf.int32) % 5))
        return self.put(lambda s: s[i] + tf.gather(variable, indices))

    def cond(self, depth):
        first, second, [i], bound = self.block(depth, 2), self.block(depth, 2), self.places(1), self.random.randn()
        self.used["cond"] += 1
        return lambda s: list(tf.cond(tf.reduce_sum(s[i]) > bound, lambda: first(list(s)), lambda: second(list(s))))

    def case(self, depth):
        blocks, [i] = [self.block(depth, 2) for _ in range(self.integer(2, 4))], self.places(1)
        self.used["case"] += 1

        def run(state):
            index = tf.cast(tf.abs(tf.reduce_sum(state[i])) * 10, tf.int32) % len(blocks)
            return list(tf.switch_case(index, [lambda b=b: b(list(state)) for b in blocks]))
        return run

    def for_loop(self, depth):
        block, count, [i], dynamic, most = self.block(depth, 2), self.integer(0, 4), self.places(1), self.integer(0, 2), self.integer(0, 3)
        self.used["loop"] += 1

        def run(state):
            end = tf.cast(tf.abs(tf.reduce_sum(state[i])) * 5, tf.int32) % 4 if dynamic else count
            made = tf.while_loop(lambda k, *s: k < end, lambda k, *s: (k + 1, *block(list(s))), (0, *state),
                                 maximum_iterations=5 if most == 0 else None)
            return list(made[1:])
        return run

    def while_loop(self, depth):
        block, [i] = self.block(depth, 2), self.places(1)
        self.used["loop"] += 1

        def run(state):
            made = tf.while_loop(lambda k, *s: tf.logical_and(k < 4, tf.reduce_sum(s[i] * s[i]) < 30.0), lambda k, *s: (k + 1, *block(list(s))),
                                 (tf.constant(0), *state), parallel_iterations=1)
            return list(made[1:])
        return run

    def array_of_loop(self, depth):
        """What each iteration writes is stacked, concatenated, or read one by one."""
        block, count, [i], how = self.block(depth, 2), self.integer(1, 4), self.places(1), self.integer(0, 4)
        self.used["array"] += 1

        def run(state):
            array = tf.TensorArray(self.dtype, size=0 if how == 0 else count, dynamic_size=how == 0, clear_after_read=False,
                                   element_shape=[self.rows, self.columns] if how == 1 else None, infer_shape=True)

            def body(k, array, *s):
                s = block(list(s))
                return (k + 1, array.write(k, s[i]), *s)

            _, array, *state = tf.while_loop(lambda k, *s: k < count, body, (0, array, *state))
            if how == 3:
                total = array.read(count - 1) + array.read(0)
            elif how == 2:
                total = tf.reduce_mean(tf.reshape(array.concat(), [-1, self.rows, self.columns]), 0)
            else:
                total = tf.reduce_sum(array.stack(), 0)
            state[i] = tf.ensure_shape(total, [self.rows, self.columns])
            return state
        return run

    def array_of_rows(self, _):
        """Rows are taken apart, and each is made of the one before, as in a recurrent layer."""
        variable, [i], back = self.variable(self.columns, self.columns), self.places(1), self.integer(0, 2)
        self.used["array"] += 1

        def make(state):
            rows = tf.TensorArray(self.dtype, size=self.rows).unstack(state[i])
            out = tf.TensorArray(self.dtype, size=self.rows)

            def body(k, out, h):
                at = self.rows - 1 - k if back else k
                h = tf.tanh(rows.read(at) + tf.linalg.matvec(variable, h))
                return k + 1, out.write(at, h), h

            _, out, _ = tf.while_loop(lambda k, *s: k < self.rows, body, (0, out, tf.zeros([self.columns], self.dtype)))
            return tf.ensure_shape(out.stack(), [self.rows, self.columns])
        return self.put(make)

    def scan(self, _):
        variable, [i] = self.variable(self.columns), self.places(1)
        self.used["array"] += 1
        return self.put(lambda s: tf.scan(lambda a, x: tf.tanh(a * 0.5 + x * variable), s[i], initializer=tf.zeros([self.columns], self.dtype)))

    def map_rows(self, _):
        variable, [i] = self.variable(self.columns, self.columns), self.places(1)
        self.used["array"] += 1
        return self.put(lambda s: tf.map_fn(lambda x: tf.sin(tf.linalg.matvec(variable, x)), s[i]))

    def call(self, depth):
        block = self.block(depth)
        function = tf.function(lambda *s: block(list(s)), autograph=False)
        self.used["call"] += 1
        return lambda s: list(function(*s))

    def joined(self, _):
        [i, j] = self.places(2)
        return self.put(lambda s: tf.split(tf.concat([s[i], s[j]], 1), 2, 1)[1] + tf.concat([s[i][1:], s[j][:1]], 0))

    def stopped(self, _):
        [i, j] = self.places(2)
        return self.put(lambda s: s[i] * tf.stop_gradient(tf.sigmoid(s[j])))

    # ---- the function ----

    def make(self):
        begin = [self.variable(self.rows, self.columns) for _ in range(self.width)]
        block = self.block(2, 4)
        # Each has at least one of what is to be tried.
        more = [self.for_loop(1), self.array_of_loop(0)]
        weights = [tf.constant(self.random.rand(self.rows, self.columns), self.dtype) for _ in range(self.width)]

        @tf.function(input_signature=[tf.TensorSpec([], self.dtype, name="gain")], autograph=False)
        def loss(gain):
            state = [v * gain for v in begin]
            for step in (block, *more):
                state = step(list(state))
            return {"loss": tf.add_n([tf.reduce_sum(tf.tanh(s) * w) for s, w in zip(state, weights)])}

        self.module.loss = loss
        return loss


def gradients_of_tensorflow(program, loss):
    with tf.GradientTape() as tape:
        value = loss(tf.constant(1.0, program.dtype))["loss"]
    made = tape.gradient(value, program.module.variables_list, unconnected_gradients="zero")
    return [tf.convert_to_tensor(g).numpy() for g in made]


def gradients_of_grapnel(grapnel, folder, program):
    np.save(folder + "/gain.npy", np.asarray(1.0, program.dtype.as_numpy_dtype))
    done = subprocess.run([grapnel, "train", folder + "/model", "--feed", f"gain={folder}/gain.npy", "--optimizer", "sgd",
                           "--learning-rate", str(RATE), "--loss", "loss", "--steps", "1", "--checkpoint-dir", folder + "/steps"],
                          capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()[-500:]
    reader = tf.train.load_checkpoint(folder + "/steps/ckpt-1")
    keys = {name.split("/.ATTRIBUTES")[0]: name for name in reader.get_variable_to_shape_map()}
    gradients = []
    for variable in program.module.variables_list:
        name = variable.name.split(":")[0]
        gradients.append((variable.numpy() - reader.get_tensor(keys[name])) / RATE)
    return gradients


def jumps(program, loss):
    """True if the function takes another branch a rounding error away: then neither gradient is the only right one. It tries other gains and
    other variables, because a case may depend on a sum that no gain changes, such as that of a softmax."""
    variables, random = program.module.variables_list, np.random.RandomState(0)
    kept = [variable.numpy() for variable in variables]
    values = [float(loss(tf.constant(1.0 + step, program.dtype))["loss"]) for step in (-1e-6, 0.0, 1e-6)]
    for _ in range(20):
        for variable, value in zip(variables, kept):
            variable.assign((value * (1 + 1e-6 * random.randn(*value.shape))).astype(value.dtype))
        values.append(float(loss(tf.constant(1.0, program.dtype))["loss"]))
    for variable, value in zip(variables, kept):
        variable.assign(value)
    return max(values) - min(values) > 1e-4 * (1 + abs(values[1]))


def difference(grapnel, folder, program):
    """What is wrong; empty: nothing. None: TensorFlow's are not finite, or it stands where the function jumps."""
    loss = program.make()
    wanted = gradients_of_tensorflow(program, loss)
    if not all(np.isfinite(g).all() for g in wanted) or not any(np.abs(g).max() > 0 for g in wanted):
        return None
    tf.saved_model.save(program.module, folder + "/model", signatures={"serving_default": loss})
    got = gradients_of_grapnel(grapnel, folder, program)
    if isinstance(got, str):
        return got
    relative = 1e-3 if program.dtype == tf.float32 else 1e-9
    for variable, mine, theirs in zip(program.module.variables_list, got, wanted):
        most = relative * max(1e-2, np.abs(theirs).max())
        # The variable itself takes part in what it becomes.
        most += np.abs(variable.numpy()).max() / RATE * np.finfo(program.dtype.as_numpy_dtype).eps
        if not np.abs(mine - theirs).max() <= most:
            return None if jumps(program, loss) else f"{variable.name}: {mine.ravel()[:4]} instead of {theirs.ravel()[:4]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("grapnel")
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--keep", help="a folder for the models whose gradients differ")
    args = parser.parse_args()
    failed, passed_over, used = 0, 0, collections.Counter()
    for seed in range(args.seed, args.seed + args.count):
        with tempfile.TemporaryDirectory() as folder:
            program = Program(seed)
            said = difference(args.grapnel, folder, program)
            used.update(program.used)
            passed_over += said is None
            if not said:
                continue
            failed += 1
            print(f"{seed}: {said}", flush=True)
            if args.keep:
                shutil.copytree(folder, os.path.join(args.keep, str(seed)), dirs_exist_ok=True)
    parts = ", ".join(f"{count} {what}" for what, count in sorted(used.items()))
    print(f"{args.count} functions ({parts}): {failed} differ, {passed_over} have no gradient, one that is not finite, or jump there")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
