"""Matrix factorization: two embeddings, sparse gradients, Adagrad by hand, and the nearest items."""
import tensorflow as tf

tf.random.set_seed(16)
users = tf.Variable(tf.random.normal([10, 4], stddev=0.1), name="users")
items = tf.Variable(tf.random.normal([12, 4], stddev=0.1), name="items")
squares = [tf.Variable(tf.fill(v.shape, 0.1), name=name) for v, name in ((users, "user_squares"), (items, "item_squares"))]


@tf.function
def train(user, item, rating):
    with tf.GradientTape() as tape:
        predicted = tf.reduce_sum(tf.nn.embedding_lookup(users, user) * tf.gather(items, item), axis=1)
        loss = tf.reduce_mean((predicted - rating) ** 2)
    for variable, square, slices in zip((users, items), squares, tape.gradient(loss, [users, items])):
        rows, where = tf.unique(slices.indices)
        summed = tf.math.unsorted_segment_sum(slices.values, where, tf.size(rows))
        square.scatter_add(tf.IndexedSlices(summed ** 2, rows))
        variable.scatter_sub(tf.IndexedSlices(0.5 * summed / tf.sqrt(tf.gather(square, rows)), rows))
    return loss


@tf.function
def nearest(user, count=3):
    scores = tf.linalg.matmul(tf.gather(users, user), items, transpose_b=True)
    return tf.math.top_k(scores, count)


for _ in range(2):
    print(train(tf.constant([1, 1, 4, 9]), tf.constant([0, 3, 3, 11]), tf.constant([1.0, 0.0, 1.0, 0.5])))
print(nearest(tf.constant([1, 4])).indices)
print(nearest(tf.constant([1, 4]), count=2).indices)
