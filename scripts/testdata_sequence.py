"""Graphs of recurrent cells and of connectionist temporal classification. Importing this adds them to OPS of
testdata_ops."""
import numpy as np
import tensorflow as tf

from testdata_ops import integers, op, random, raw

B, I, C, T = 2, 3, 4, 3                                       # batch, inputs, cells, steps
WEIGHTS = dict(w=random(I + C, 4 * C, seed=3), wci=random(C, seed=4), wcf=random(C, seed=5), wco=random(C, seed=6),
               b=random(4 * C, seed=7))
STEP = dict(x=random(B, I), cs=random(B, C, seed=1), h=random(B, C, seed=2), **WEIGHTS)
SEQUENCE = dict(STEP, x=random(T, B, I))


@op("a step without and with peepholes, clipped, and its gradient", **STEP)
def LSTMBlockCell(x, cs, h, w, wci, wcf, wco, b):
    inputs = dict(x=x, cs_prev=cs, h_prev=h, w=w, wci=wci, wcf=wcf, wco=wco, b=b)
    plain = raw.LSTMBlockCell(**inputs, forget_bias=.5)
    deep = raw.LSTMBlockCell(**inputs, cell_clip=.3, use_peephole=True)
    out = [*plain, *deep]
    for values, peephole in ((plain, False), (deep, True)):
        out += raw.LSTMBlockCellGrad(**inputs, **{k: getattr(values, k) for k in ("i", "cs", "f", "o", "ci", "co")},
                                     cs_grad=cs * h, h_grad=h, use_peephole=peephole)
    return out


def sequences(name, gradient, x, cs, h, w, wci, wcf, wco, b, **more):
    out = []
    for peephole, length in ((True, 3), (False, 2)):
        inputs = dict(seq_len_max=np.int64(length), x=x, cs_prev=cs, h_prev=h, w=w, wci=wci, wcf=wcf, wco=wco, b=b)
        values = getattr(raw, name)(**inputs, **more, use_peephole=peephole)
        out += values if length == 3 else [values.cs, values.h]  # the others are not set past the end
        out += getattr(raw, gradient)(**inputs, **values._asdict(), cs_grad=values.cs, h_grad=values.h * 2,
                                      use_peephole=peephole)
    return out


@op("a sequence, whole and cut short, and its gradient", **SEQUENCE)
def BlockLSTM(x, cs, h, w, wci, wcf, wco, b):
    return sequences("BlockLSTM", "BlockLSTMGrad", x, cs, h, w, wci, wcf, wco, b, cell_clip=.4)


@op("the second version: gates in another order, no forget bias", **SEQUENCE)
def BlockLSTMV2(x, cs, h, w, wci, wcf, wco, b):
    return sequences("BlockLSTMV2", "BlockLSTMGradV2", x, cs, h, w, wci, wcf, wco, b)


@op("a step of half precision", _rtol=2e-3, **STEP)
def LSTMBlockCell_half(x, cs, h, w, wci, wcf, wco, b):
    inputs = dict(x=x, cs_prev=cs, h_prev=h, w=w, wci=wci, wcf=wcf, wco=wco, b=b)
    return raw.LSTMBlockCell(**{k: tf.cast(v, tf.half) for k, v in inputs.items()}, use_peephole=True)


@op("a step of a gated recurrent unit and its gradient", x=random(B, I), h=random(B, C, seed=1),
    w_ru=random(I + C, 2 * C, seed=3), w_c=random(I + C, C, seed=4), b_ru=random(2 * C, seed=5), b_c=random(C, seed=6))
def GRUBlockCell(x, h, w_ru, w_c, b_ru, b_c):
    inputs = dict(x=x, h_prev=h, w_ru=w_ru, w_c=w_c, b_ru=b_ru, b_c=b_c)
    values = raw.GRUBlockCell(**inputs)
    return (*values, *raw.GRUBlockCellGrad(**inputs, r=values.r, u=values.u, c=values.c, d_h=h * 2))


LABELS = dict(indices=np.array([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1], [2, 2], [3, 0]], "i8"),
              values=np.array([0, 0, 2, 1, 2, 2, 1, 2], "i4"))


@op("repeated labels, short sequences, labels that do not fit", x=random(6, 4, 4, low=-3, high=3),
    lengths=np.array([6, 3, 5, 2], "i4"), **LABELS)
def CTCLoss(x, lengths, indices, values):
    inputs = dict(labels_indices=indices, labels_values=values, sequence_length=lengths)
    short = dict(inputs, sequence_length=[6, 3, 2, 0])
    return (*raw.CTCLoss(inputs=x, **inputs), *raw.CTCLoss(inputs=tf.cast(x, tf.float64), **inputs,
                                                           ctc_merge_repeated=False),
            *raw.CTCLoss(inputs=x, **inputs, preprocess_collapse_repeated=True),
            *raw.CTCLoss(inputs=x, **short, ignore_longer_outputs_than_inputs=True))


@op("the likeliest class of each step, repeated ones merged or not", x=random(7, 3, 4),
    lengths=np.array([7, 2, 0], "i4"))
def CTCGreedyDecoder(x, lengths):
    return (*raw.CTCGreedyDecoder(inputs=x, sequence_length=lengths),
            *raw.CTCGreedyDecoder(inputs=x, sequence_length=lengths, merge_repeated=True, blank_index=1))


@op("the best paths of a search, wide and narrow", x=random(7, 3, 4, low=-2, high=2), lengths=np.array([7, 4, 2], "i4"))
def CTCBeamSearchDecoder(x, lengths):
    return tf.nest.flatten((
        raw.CTCBeamSearchDecoder(inputs=x, sequence_length=lengths, beam_width=20, top_paths=3, merge_repeated=False),
        raw.CTCBeamSearchDecoder(inputs=x, sequence_length=lengths, beam_width=3, top_paths=2),
        raw.CTCBeamSearchDecoder(inputs=tf.cast(x, tf.float64), sequence_length=lengths, beam_width=5, top_paths=1)))
