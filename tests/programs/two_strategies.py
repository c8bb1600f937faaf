"""The same step under two strategies, OneDeviceStrategy and MirroredStrategy over two devices."""
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


def make_step(strategy):
    with strategy.scope():
        counter = tf.Variable(0.0, name="counter", aggregation=tf.VariableAggregation.MEAN)

    def replica(x):
        counter.assign_add(tf.reduce_mean(x))
        return tf.reduce_sum(x ** 2)

    @tf.function
    def step(x):
        return strategy.reduce("SUM", strategy.run(replica, args=(x,)), axis=None)

    return step, counter


strategies = [tf.distribute.OneDeviceStrategy("CPU:1"), tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])]
steps = [make_step(strategy) for strategy in strategies]
for strategy, (step, counter) in zip(strategies, steps):
    batches = tf.data.Dataset.range(1, 9).map(lambda i: tf.cast(i, tf.float32)).batch(4)
    for batch in strategy.experimental_distribute_dataset(batches):
        print(step(batch).numpy())
    print(counter.numpy())
