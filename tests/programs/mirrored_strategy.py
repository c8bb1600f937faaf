"""Trains on two replicas under MirroredStrategy, with a loop of its own."""
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
tf.random.set_seed(6)

with strategy.scope():
    weights = tf.Variable(tf.random.normal([3, 1]), name="weights")
    seen = tf.Variable(0, dtype=tf.int64, name="seen", trainable=False, aggregation=tf.VariableAggregation.SUM,
                       synchronization=tf.VariableSynchronization.ON_READ)

data = tf.data.Dataset.from_tensor_slices((tf.random.normal([16, 3]), tf.ones([16, 1]))).batch(8)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
    gradient = tape.gradient(loss, weights)
    gradient = tf.distribute.get_replica_context().all_reduce("mean", gradient)
    weights.assign_sub(0.1 * gradient)
    seen.assign_add(tf.shape(x, out_type=tf.int64)[0])
    return loss


@tf.function
def distributed_step(x, y):
    losses = strategy.run(replica_step, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)


for x, y in strategy.experimental_distribute_dataset(data):
    print(distributed_step(x, y).numpy())
print(seen.numpy())
