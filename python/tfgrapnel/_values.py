"""Arrays as tensors and back. NumPy is imported when a value is first needed."""

# Where TensorFlow's name of a dtype is not NumPy's.
_OF_NUMPY = {"float32": "float", "float64": "double", "float16": "half"}
_TO_NUMPY = {name: numpy for numpy, name in _OF_NUMPY.items()} | {
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
}


def numpy_dtype(name):
    """NumPy's dtype of TensorFlow's name; strings are objects, which hold bytes."""
    import numpy as np

    if name == "string":
        return np.dtype(object)
    name = _TO_NUMPY.get(name, name)
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # bfloat16, float8_e5m2, int4, ...

        return np.dtype(getattr(ml_dtypes, name))


def _bytes_of(string):
    return string.encode() if isinstance(string, str) else bytes(string)


def to_value(given, dtype=None):
    """(dtype, dims, elements) of an array, of what has `__dlpack__` or `__array__`, or of a number, a string or lists of them.
    `dtype`, TensorFlow's name, is for the latter: they have none."""
    import numpy as np

    if isinstance(given, (str, bytes)):
        return "string", (), [_bytes_of(given)]
    if isinstance(given, (np.ndarray, np.generic)) or hasattr(given, "__array__"):
        array = np.asarray(given)
    elif hasattr(given, "__dlpack__"):
        array = np.from_dlpack(given)
    else:
        array = np.asarray(given, dtype=numpy_dtype(dtype) if dtype else None)
    if array.dtype.kind in "OSU":
        return "string", array.shape, [_bytes_of(string) for string in array.ravel().tolist()]
    name = array.dtype.name
    array = np.ascontiguousarray(array).reshape(array.shape)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind not in "biufc" or name.startswith(("bfloat", "float8", "int4", "uint4", "int2", "uint2")):
        array = array.view(f"u{array.dtype.itemsize}")
    return _OF_NUMPY.get(name, name), array.shape, array


def to_array(value):
    """The array of (dtype, dims, elements); of what lives in a run alone, such as a variable's handle, the text that stands for
    it."""
    name, dims, elements = value
    if isinstance(elements, str):
        return elements
    import numpy as np

    if name == "string":
        array = np.empty(len(elements), dtype=object)
        array[:] = elements
        return array.reshape(dims)
    dtype = numpy_dtype(name)
    return elements if elements.dtype == dtype else elements.view(dtype)
