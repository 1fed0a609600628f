"""Columns that come as Arrow arrays, or are best read through them.

Arrow numbers the strings of a column by hashing, several times faster than sorting
them, and infers one type for a list of Python objects or finds that there is none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from f2sl._arrays import Mask
from f2sl.data.column import MAX_STATES
from f2sl.data.dates import DAYS, SECONDS
from f2sl.data.values import RawColumn, Refused, numpy_column, reals


def arrow_column(array: Any) -> RawColumn:
    """Return a column from an Arrow array or chunked array.

    Examples
    --------
    >>> column = arrow_column(pa.array(["b", "a", "b", None]))
    >>> column.labels, column.values[:3].tolist(), column.n_missing
    (('a', 'b'), [1, 0, 1], 1)
    """
    chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    dtype = chunked.type
    if pt.is_dictionary(dtype):
        return _categories(chunked)
    if pt.is_integer(dtype):
        return RawColumn("integers", _numbers(chunked), _missing(chunked))
    if pt.is_floating(dtype):
        return reals(_numbers(chunked), _missing(chunked))
    if pt.is_decimal(dtype):
        as_floats = chunked.cast(pa.float64())
        return reals(_numbers(as_floats), _missing(as_floats))
    if pt.is_boolean(dtype):
        return numpy_column(_numbers(chunked), _missing(chunked))
    if pt.is_null(dtype):
        n = len(chunked)
        return RawColumn("integers", np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.bool_))
    if pt.is_string(dtype) or pt.is_large_string(dtype):
        return _strings(chunked)
    if pt.is_temporal(dtype) and not pt.is_interval(dtype):
        return _since_1970(chunked)
    if str(dtype) in ("string_view", "binary", "large_binary", "binary_view"):
        try:
            return _strings(chunked.cast(pa.large_string()))
        except pa.ArrowException:
            raise Refused("type", f"{dtype}, not UTF-8 text") from None
    raise Refused("type", str(dtype))


def object_column(values: Any, missing: Mask | None = None) -> RawColumn:
    """Return a column from Python objects, by their types and not by their storage.

    Examples
    --------
    >>> object_column([3, None, 5]).form, object_column(["x", float("nan")]).n_missing
    ('integers', 1)
    """
    if isinstance(values, np.ndarray) and values.dtype.kind == "T":
        values = values.astype(object)
    try:
        return arrow_column(pa.array(values, from_pandas=True, mask=missing))
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    types = {type(value) for value in values if not _is_missing(value)}
    names = sorted({one.__name__ for one in types})
    if any(issubclass(one, (complex, np.complexfloating)) for one in types):
        raise Refused("complex")
    if names == ["int"]:
        raise Refused("long")
    if len(names) > 1:
        raise Refused("mixed", " and ".join(names))
    raise Refused("type", names[0] if names else "object")


def _is_missing(value: object) -> bool:
    """Return whether an object is a missing value; pandas' own are recognised by name."""
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Arrow's units of time, in a second."""


def _since_1970(chunked: Any) -> RawColumn:
    """Return dates as days since 1970, durations and times of day as seconds."""
    dtype, missing = chunked.type, _missing(chunked)
    per_second = 1000 if pt.is_date64(dtype) else 1 if pt.is_date32(dtype) else TICKS[dtype.unit]
    ticks = chunked.cast(pa.int32()).cast(pa.int64()) if dtype.bit_width == 32 else chunked.cast(pa.int64())
    per_day = 1 if pt.is_date32(dtype) else 86400 * per_second
    is_day = pt.is_date(dtype) or pt.is_timestamp(dtype)
    per_unit, unit = (per_day, DAYS) if is_day else (per_second, SECONDS)
    return replace(reals(_numbers(ticks) / per_unit, missing), unit=unit)


def _missing(chunked: Any) -> Mask | None:
    if not chunked.null_count:
        return None
    return _as_numpy(chunked.is_null())


def _numbers(chunked: Any) -> npt.NDArray[Any]:
    if chunked.null_count:
        chunked = pc.fill_null(chunked, False if pt.is_boolean(chunked.type) else 0)
    if pt.is_float16(chunked.type):
        chunked = chunked.cast(pa.float32())
    return _as_numpy(chunked)


def _as_numpy(chunked: Any) -> npt.NDArray[Any]:
    """Read the values of numbers or booleans without missing values; Arrow's own methods import pandas."""
    kind = "f" if pt.is_floating(chunked.type) else "i" if pt.is_signed_integer(chunked.type) else "u"
    boolean = pt.is_boolean(chunked.type)
    dtype = np.dtype(np.bool_ if boolean else f"{kind}{chunked.type.bit_width // 8}")
    parts = [np.empty(0, dtype)]
    for chunk in chunked.chunks:
        if not len(chunk):
            continue
        window = slice(chunk.offset, chunk.offset + len(chunk))
        buffer = chunk.buffers()[1]
        if boolean:
            bits = np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")
            parts.append(bits[window].astype(np.bool_))
        else:
            parts.append(np.frombuffer(buffer, dtype)[window])
    return parts[1] if len(parts) == 2 else np.concatenate(parts)


def _numbered(chunked: Any) -> tuple[npt.NDArray[Any], Any]:
    """Return the positions (0 where missing) and the dictionary of a dictionary array."""
    unified = chunked.unify_dictionaries()
    positions = pa.chunked_array([chunk.indices for chunk in unified.chunks], type=unified.type.index_type)
    dictionary = unified.chunk(0).dictionary if unified.num_chunks else pa.array([], unified.type.value_type)
    return _numbers(positions), dictionary


def _strings(chunked: Any) -> RawColumn:
    """Number the strings that occur in ascending order."""
    positions, dictionary = _numbered(chunked.dictionary_encode())
    if len(dictionary) > MAX_STATES:
        raise Refused("many", f"{len(dictionary):,}")
    found = dictionary.to_pylist()
    order = sorted(range(len(found)), key=found.__getitem__)
    rank = np.empty(max(len(order), 1), dtype=np.uint16)
    rank[order] = np.arange(len(order), dtype=np.uint16)
    return RawColumn("labels", rank[positions], _missing(chunked), tuple(found[i] for i in order))


def _categories(chunked: Any) -> RawColumn:
    """Return the declared categories; Arrow allows null and repeated entries in the dictionary."""
    positions, dictionary = _numbered(chunked)
    missing = _missing(chunked)
    found = dictionary.to_pylist()
    labels = tuple(dict.fromkeys(label for label in found if label is not None))
    if len(labels) < len(found):
        position = {label: i for i, label in enumerate(labels)}
        at_null = np.array([label is None for label in found])[positions]
        missing = at_null if missing is None else at_null | missing
        positions = np.array([position.get(label, 0) for label in found])[positions]
        if not missing.any():
            missing = None
    if len(labels) > MAX_STATES:
        raise Refused("many", f"{len(labels):,}")
    return RawColumn("labels", positions, missing, labels, declared=True)
