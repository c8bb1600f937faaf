"""Converts arrays to tensors and back. NumPy is imported when a value is first needed."""

# NumPy's names of dtypes that TensorFlow names differently, and TensorFlow's names.
_OF_NUMPY = {"float32": "float", "float64": "double", "float16": "half"}
_TO_NUMPY = {name: numpy for numpy, name in _OF_NUMPY.items()} | {
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
}


def numpy_dtype(name):
    """The NumPy dtype for TensorFlow's name; strings are objects that hold bytes."""
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
    if isinstance(string, str):
        return string.encode()
    if isinstance(string, (bytes, bytearray, memoryview)):
        return bytes(string)
    raise TypeError(f"an array of objects must hold strings, and {string!r} is not a string; use a numeric dtype for numbers")


# Kinds of NumPy dtypes, ordered: a number can be converted without an unexpected loss to its own kind or to a higher one.
_KINDS = {"b": 0, "i": 0, "u": 0, "f": 1, "c": 2}


def _kind_of(dtype):
    if dtype.kind != "V":
        return _KINDS.get(dtype.kind, 3)
    return 0 if "int" in dtype.name else 1  # from ml_dtypes


def _of_numbers(given, dtype):
    """The array of a number, a string or lists of them. `dtype`: the NumPy dtype to convert to, or None."""
    import numpy as np

    if dtype is not None and dtype.kind == "O":
        return np.asarray(given, dtype)
    plain = np.asarray(given)
    if plain.dtype.kind == "O":
        raise TypeError(f"numbers or strings were expected, not {given!r:.100}")
    if dtype is None or plain.dtype.kind not in _KINDS:
        return plain
    if plain.size and _kind_of(plain.dtype) > _kind_of(dtype):
        raise TypeError(f"{plain.dtype} cannot be converted to {dtype}, which was expected: {given!r:.100}")
    return np.asarray(given, dtype)


def _array_of(given, dtype):
    import numpy as np

    if isinstance(given, (np.ndarray, np.generic)) or hasattr(given, "__array__") or hasattr(given, "__array_interface__"):
        return np.asarray(given)
    if hasattr(given, "__dlpack__"):
        return np.from_dlpack(given)
    import numbers

    if isinstance(given, (list, tuple, range, numbers.Number, bytearray, memoryview)) or type(given).__module__ == "array":
        return _of_numbers(given, numpy_dtype(dtype) if dtype else None)
    raise TypeError(f"an array, a number, a string or a list of them was expected, not an object of type {type(given).__name__}")


def _is_of_tensors(dtype):
    if dtype.kind == "V":
        return dtype.type.__module__ == "ml_dtypes"
    return dtype.kind in "biufc" and dtype.name not in ("float128", "complex256", "longdouble", "clongdouble")


def is_typed(given):
    """True if the value has a dtype, so that it is not converted."""
    return hasattr(given, "dtype") or hasattr(given, "__dlpack__") or hasattr(given, "__array__") or hasattr(given, "__array_interface__")


def to_feed(name, given, dtype=None):
    """Like to_value, for a feed; errors name the feed."""
    try:
        return to_value(given, dtype)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"feed '{name}': {error}") from error
    except (TypeError, NotImplementedError, RuntimeError, BufferError) as error:  # raised by other libraries' objects
        raise TypeError(f"feed '{name}': {error}") from error


def to_value(given, dtype=None):
    """(dtype, dims, elements) of an array, of an object with `__dlpack__` or `__array__`, or of a number, a string or lists of them.
    `dtype`, TensorFlow's name, applies only to numbers, strings and lists, which have no dtype."""
    import numpy as np

    if isinstance(given, (str, bytes)):
        return "string", (), [_bytes_of(given)]
    array = _array_of(given, dtype)
    if array.dtype.kind in "OSUT":
        return "string", array.shape, [_bytes_of(string) for string in array.ravel().tolist()]
    if not _is_of_tensors(array.dtype):
        raise TypeError(f"tensors cannot have dtype {array.dtype}: convert it to numbers or strings with .astype")
    name = array.dtype.name
    array = np.ascontiguousarray(array).reshape(array.shape)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind not in "biufc" or name.startswith(("bfloat", "float8", "int4", "uint4", "int2", "uint2")):
        array = array.view(f"u{array.dtype.itemsize}")
    return _OF_NUMPY.get(name, name), array.shape, array


def to_array(value):
    """The array of (dtype, dims, elements); for a value that exists only during a run, such as a variable's handle, the text that
    represents it."""
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
