"""Graphs of ops on sound, and of AdjustContrast as it was first. Importing this adds them to OPS of testdata_ops."""
import numpy as np
import tensorflow as tf

from testdata_kernels import case
from testdata_ops import IMAGE, integers, op, random, raw
from testdata_quantized import of_version

_SOUND = np.sin(np.arange(100)[:, None] * np.array([.3, 1.7])).astype("f") + random(100, 2) / 4


@op("two channels, windows that overlap, are filled up, leave samples over", sound=_SOUND)
def AudioSpectrogram(sound):
    return (raw.AudioSpectrogram(input=sound, window_size=32, stride=16),
            raw.AudioSpectrogram(input=sound, window_size=25, stride=30, magnitude_squared=True),
            raw.AudioSpectrogram(input=sound[:8], window_size=16, stride=4))


case("Mfcc", "as many channels and coefficients as by default", spectrogram=random(2, 3, 257, low=0, high=90),
     sample_rate=16000, _rtol=1e-4)
case("Mfcc", "few channels, other limits, and a tone in silence", "few",
     spectrogram=np.stack([random(2, 33, low=0), np.tile(np.where(np.arange(33) == 9, 50, 0).astype("f"), (2, 1))]), sample_rate=8000, filterbank_channel_count=6, dct_coefficient_count=6, lower_frequency_limit=100.,
     upper_frequency_limit=3500., _rtol=1e-4)


@op("floats and bytes, cut off on both sides", x=IMAGE, y=integers(3, 4, 2, high=200, dtype="u1"))
def AdjustContrast(x, y):
    of_version(1)
    return (raw.AdjustContrast(images=x, contrast_factor=2., min_value=-1., max_value=.7),
            raw.AdjustContrast(images=y, contrast_factor=.5, min_value=20., max_value=150.))
