"""Pieces of random graphs over strings and quantized numbers."""
import tensorflow as tf

from graph_maker import RAW, V1, piece


# ---- strings ----

@piece("strings", 6)
def text(m):
    if m.chance(.3):
        return tf.strings.as_string(m.pick([tf.int32, tf.int64, tf.bool, tf.int8], exact=True), width=m.choice(-1, 4))
    s = m.pick(tf.string)
    ways = [lambda: tf.strings.join([s, m.const(tf.string), s], m.choice("", "-")),
            lambda: tf.strings.length(s, m.choice("BYTE", "UTF8_CHAR")),
            lambda: tf.strings.substr(s, 0, 2), lambda: tf.strings.upper(s), lambda: tf.strings.lower(s, "utf-8"),
            lambda: tf.strings.strip(s + " "),
            lambda: tf.strings.regex_replace(s, "[a-g]", "x", m.chance(.5)), lambda: tf.strings.regex_full_match(s, "[0-9.-]*"),
            lambda: tf.strings.to_hash_bucket_fast(s, 97), lambda: tf.strings.to_hash_bucket_strong(s, 97, [1, 2]),
            lambda: tf.strings.reduce_join(s, -1, separator=","),
            lambda: tf.io.decode_base64(tf.io.encode_base64(s)), lambda: tf.strings.to_number(tf.strings.regex_replace(s, "[^0-9]",
                                                                                                                       "") + "1",
                                                                                              m.choice(tf.int32, tf.float32)),
            lambda: tf.equal(s, m.const(tf.string)), lambda: tf.where(tf.equal(s, "a"), s, m.const(tf.string)),
            lambda: tf.strings.split(tf.reshape(s, [-1])).flat_values,
            lambda: tf.strings.split(tf.reshape(s, [-1]), "e").row_lengths(),
            lambda: tf.strings.unicode_transcode(s, "UTF-8", "UTF-16-BE"), lambda: tf.identity(s),
            lambda: tf.strings.format("{} and {}", [s, m.pick(tf.int32, exact=True)]),
            lambda: tf.strings.bytes_split(tf.reshape(s, [-1])).flat_values,
            lambda: tf.strings.unicode_decode(tf.reshape(s, [-1]), "UTF-8").flat_values, lambda: tf.strings.ngrams(tf.reshape(s, [-1]), 2),
            lambda: tf.concat([s, s], 0), lambda: tf.gather(s, [0]), lambda: tf.reshape(s, tf.shape(s)), lambda: tf.zeros_like(s),
            lambda: tf.unique(tf.reshape(s, [-1]))[1],
            lambda: tf.stack([s, s])[1], lambda: tf.io.parse_tensor(tf.io.serialize_tensor(s), tf.string),
            lambda: tf.strings.unicode_script(tf.strings.length(s) + 60),
            lambda: tf.io.decode_raw(tf.strings.substr(s + "abcdefgh", 0, 4), m.choice(tf.uint8, tf.int16)),
            lambda: tf.broadcast_to(m.const(tf.string), tf.shape(s))]
    made = m.r.choice(ways)()
    if made.dtype != tf.float32:
        m.exact.append(made)
    return made


# ---- quantized ----

# Four levels per unit, so that every multiple of 1/4 is a level: TensorFlow's oneDNN kernels truncate where its other kernels round.
LOW, HIGH = -32., 31.75

@piece("quantized", 4)
def fake_quant(m):
    x = m.pick(tf.float32, exact=True)
    c, q = x.shape.as_list()[-1] if x.shape.rank else None, tf.quantization
    ways = [lambda: q.fake_quant_with_min_max_args(x, -2., 2., num_bits=m.choice(4, 8), narrow_range=m.chance(.5)),
            lambda: q.fake_quant_with_min_max_vars(x, m.const(tf.float32, kind="zero") - 2., 2.),
            lambda: q.fake_quant_with_min_max_vars_per_channel(x, [-1.] * c, [2.] * c),
            lambda: q.quantize_and_dequantize_v2(x, -2., 2., range_given=True, num_bits=8),
            lambda: q.quantize_and_dequantize_v2(x, -1., 1., range_given=False),
            lambda: RAW.QuantizeAndDequantizeV3(input=x, input_min=-2., input_max=2., num_bits=8),
            lambda: V1.gradients(q.fake_quant_with_min_max_args(x, -1., 1.), [x])[0],
            lambda: RAW.Bucketize(input=x, boundaries=[-1.1, .1, 1.1])]
    return m.r.choice(ways)()


@piece("quantized", 4)
def quantized(m):
    x = m.pick(tf.float32, exact=True)
    q8 = m.choice(tf.quint8, tf.qint8)
    mode = m.choice("MIN_COMBINED", "MIN_FIRST", "SCALED")
    q, low, high = tf.quantization.quantize(x, LOW, HIGH, q8, mode)
    back = lambda t: tf.quantization.dequantize(t[0], t[1], t[2], mode)
    ways = [lambda: back((q, low, high)), lambda: [back((tf.identity(q), low, high)), low, high],
            lambda: back(RAW.QuantizedReshape(tensor=q, shape=[-1], input_min=low, input_max=high)),
            lambda: back((tf.reshape(q, [-1]), low, high)), lambda: tf.cast(q, tf.int32) if q8 == tf.quint8 else tf.cast(q, tf.float32),
            lambda: back(RAW.QuantizedConcat(concat_dim=0, values=[q, q], input_mins=[low, low], input_maxes=[high, high])),
            lambda: tf.bitcast(q, tf.uint8 if q8 == tf.quint8 else tf.int8), lambda: back((tf.concat([q, q], 0), low, high)),
            lambda: back((tf.transpose(q), low, high))]
    return m.r.choice(ways)()


@piece("quantized", 2)
def quantized_math(m):
    x = m.pick(tf.float32, rank=2, exact=True)
    if x.shape.as_list()[1] is None:
        return None
    a, b = (tf.quantization.quantize(t, LOW, HIGH, tf.quint8, "MIN_FIRST") for t in (x,
                                                                                     m.const(tf.float32, (x.shape.as_list()[1], 3), "any")))
    way = m.r.randrange(4)
    if way == 0:
        c = RAW.QuantizedMatMul(a=a[0], b=b[0], min_a=a[1], max_a=a[2], min_b=b[1], max_b=b[2])
    elif way == 1:
        c = RAW.QuantizedAdd(x=a[0], y=a[0], min_x=a[1], max_x=a[2], min_y=a[1], max_y=a[2])
    elif way == 2:
        r = RAW.QuantizedRelu(features=a[0], min_features=a[1], max_features=a[2])
        return tf.quantization.dequantize(r[0], r[1], r[2], "MIN_FIRST")
    else:
        c = RAW.QuantizedMul(x=a[0], y=a[0], min_x=a[1], max_x=a[2], min_y=a[1], max_y=a[2])
    if m.chance(.5):
        low, high = RAW.RequantizationRange(input=c[0], input_min=c[1], input_max=c[2])
        d = RAW.Requantize(input=c[0], input_min=c[1], input_max=c[2], requested_output_min=low, requested_output_max=high,
                           out_type=tf.quint8)
        return tf.quantization.dequantize(d[0], d[1], d[2], "MIN_FIRST")
    return [c[1], c[2], tf.quantization.dequantize(c[0], c[1], c[2], "MIN_FIRST")]
