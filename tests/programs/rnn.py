"""An LSTM that reads sequences of several lengths, and a cell that is stepped by hand."""
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
lstm = tf.keras.layers.LSTM(5, return_sequences=True)
simple = tf.keras.layers.SimpleRNN(3)
dense = tf.keras.layers.Dense(1)
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function(input_signature=[tf.TensorSpec([None, None, 4]), tf.TensorSpec([None, 1])])
def train(series, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((dense(simple(lstm(series))) - target) ** 2)
    variables = lstm.trainable_variables + simple.trainable_variables + dense.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


@tf.function
def forecast(start, steps):
    state = [tf.zeros([1, 5]), tf.zeros([1, 5])]
    values = tf.TensorArray(tf.float32, size=steps)
    x = start
    for i in tf.range(steps):
        output, state = lstm.cell(x, state)
        x = output[:, :4]
        values = values.write(i, x)
    return values.stack()


for length in (3, 5):
    print(train(tf.random.normal([2, length, 4]), tf.ones([2, 1])))
print(forecast(tf.ones([1, 4]), tf.constant(3)).shape)
