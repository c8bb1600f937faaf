"""Fields of documents as attributes: the basis of the classes in results.py."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Fields(dict[str, "Any"]):
    """An object in a document: a dict whose fields are attributes too."""

    @classmethod
    def keys_of_class(cls) -> set[str]:
        return {one.key for one in vars(cls).values() if isinstance(one, _Field)}


class Own:
    """Stands for the class that has the field, for objects that contain objects of their kind."""


class _Field:
    def __init__(self, key, doc, wrap, optional, deprecated):
        self.key = key
        self.__doc__ = doc
        self.wrap = wrap
        self.optional = optional
        self.deprecated = deprecated

    def __set_name__(self, owner, name):
        if self.wrap is not None:
            self.wrap.kinds = tuple(owner if kind is Own else kind for kind in self.wrap.kinds)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        fields = instance if isinstance(instance, dict) else instance._document
        if self.deprecated:
            import warnings

            warnings.warn(f"'{self.key}' will be removed in a later release: {self.__doc__}", DeprecationWarning, stacklevel=2)
        value = fields.get(self.key)
        if value is None:
            if self.key in fields or self.optional:
                return None
            raise AttributeError(f"there is no field '{self.key}' here; the fields are: {', '.join(fields) or 'none'}")
        if self.wrap is not None and not self.wrap.has_done(value):
            value = fields[self.key] = self.wrap(value)
        return value

    def __set__(self, instance, value):
        raise AttributeError(f"'{self.key}' is a result and is read-only")


class _One:
    """Converts an object to the first of several classes that has all fields of the object; if none has, to the first class."""

    def __init__(self, kinds):
        self.kinds = kinds if isinstance(kinds, tuple) else (kinds,)

    def has_done(self, value):
        return isinstance(value, Fields)

    def __call__(self, value):
        if not isinstance(value, dict):
            return value
        fitting = (kind for kind in self.kinds if value.keys() <= kind.keys_of_class())
        return next(fitting, self.kinds[0])(value)


class _List(_One):
    def has_done(self, value):
        return not value or isinstance(value[0], Fields)

    def __call__(self, value):
        return [_One.__call__(self, element) for element in value]


class _Map(_One):
    def has_done(self, value):
        return not value or isinstance(next(iter(value.values())), Fields)

    def __call__(self, value):
        return {name: _One.__call__(self, element) for name, element in value.items()}


def field(key: str, doc: str, one: Any = None, list_of: Any = None, map_of: Any = None, optional: bool = False, deprecated: bool = False) -> Any:
    """A field of a document by its key. `one`, `list_of`, `map_of`: the class, or classes, of the objects in it; optional: None if the
    document lacks it; deprecated: reading it gives a DeprecationWarning."""
    wrap = _One(one) if one else _List(list_of) if list_of else _Map(map_of) if map_of else None
    return _Field(key, doc, wrap, optional, deprecated)
