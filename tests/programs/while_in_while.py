"""A loop in a loop, with a break, and its gradient."""
import tensorflow as tf


@tf.function
def collatz(limit):
    longest, best = tf.constant(0), tf.constant(0)
    for start in tf.range(1, limit):
        n, steps = start, tf.constant(0)
        while n != 1:
            n = tf.where(n % 2 == 0, n // 2, 3 * n + 1)
            steps += 1
            if steps > 50:
                break
        if steps > longest:
            longest, best = steps, start
    return best, longest


@tf.function
def diffusion(grid, outer, inner):
    for _ in tf.range(outer):
        for _ in tf.range(inner):
            grid += 0.1 * (tf.roll(grid, 1, 0) + tf.roll(grid, -1, 0) - 2.0 * grid)
        grid = tf.nn.relu(grid - 0.01)
    return grid


@tf.function
def sensitivity(grid):
    with tf.GradientTape() as tape:
        tape.watch(grid)
        heat = tf.reduce_sum(diffusion(grid, 2, 3) ** 2)
    return tape.gradient(heat, grid)


print(collatz(tf.constant(10)))
print(diffusion(tf.constant([0.0, 1.0, 0.0, 0.0]), tf.constant(2), tf.constant(3)))
print(sensitivity(tf.constant([0.0, 1.0, 0.0, 0.0])))
