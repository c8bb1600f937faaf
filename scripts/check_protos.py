"""Compares every message and enum of lib/proto with the real TensorFlow's, and prints what differs.

needs: tensorflow-cpu==2.21.0, protoc        usage: scripts/check_protos.py        exit code 0: no difference

Compared: messages, fields (name, number, type, label, oneof, packing, presence, deprecation), maps, enums and their
values, reserved numbers and names, in both directions. Package tensorflow is grapnel.proto here, and files may be cut
differently: a message is looked up by its name.
"""
import glob
import importlib
import os
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from google.protobuf import descriptor_pb2, descriptor_pool
from tensorflow.core.framework import graph_pb2

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def our_files():
    protoc = shutil.which("protoc") or sys.exit("check_protos.py: protoc not found: install protobuf-compiler")
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "ours.fds")
        names = sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "lib/proto/*.proto")))
        subprocess.run([protoc, "-I.", f"--descriptor_set_out={out}", *names], cwd=ROOT, check=True)
        with open(out, "rb") as f:
            return descriptor_pb2.FileDescriptorSet.FromString(f.read()).file


def load_tensorflow():
    """Registers every message TensorFlow's Python package has with the default pool."""
    core = os.path.dirname(os.path.dirname(graph_pb2.__file__))
    for path in sorted(glob.glob(os.path.join(core, "**", "*_pb2.py"), recursive=True)):
        name = os.path.relpath(path, core)[:-len(".py")].replace(os.sep, ".")
        try:
            importlib.import_module("tensorflow.core." + name)
        except ImportError:                                   # generated for services that the package omits
            pass


def theirs(name, message):
    """TensorFlow's descriptor of the same name as a proto, and the syntax of its file; (None, None) if it has none."""
    pool = descriptor_pool.Default()
    try:
        found = (pool.FindMessageTypeByName if message else pool.FindEnumTypeByName)("tensorflow." + name)
    except KeyError:
        return None, None
    proto = descriptor_pb2.DescriptorProto() if message else descriptor_pb2.EnumDescriptorProto()
    found.CopyToProto(proto)
    file = descriptor_pb2.FileDescriptorProto()
    found.file.CopyToProto(file)
    return proto, file.syntax or "proto2"


def packed(field, syntax):
    scalar = field.type not in (field.TYPE_STRING, field.TYPE_BYTES, field.TYPE_MESSAGE, field.TYPE_GROUP)
    if field.label != field.LABEL_REPEATED or not scalar:
        return None
    return field.options.packed if field.options.HasField("packed") else syntax == "proto3"


def facts_of_message(m, syntax, ours):
    """Everything about a message that changes its meaning or its bytes, as a dictionary of comparable values."""
    facts = {("map entry",): m.options.map_entry, ("deprecated",): m.options.deprecated,
             ("reserved numbers",): sorted((r.start, r.end) for r in m.reserved_range),
             ("reserved names",): sorted(m.reserved_name)}
    for f in m.field:
        type_name = f.type_name.replace(".grapnel.proto.", ".tensorflow.") if ours else f.type_name
        real_oneof = f.HasField("oneof_index") and not f.proto3_optional
        singular = f.label == f.LABEL_OPTIONAL and not real_oneof
        presence = singular and (syntax == "proto2" or f.proto3_optional or f.type == f.TYPE_MESSAGE)
        facts["field", f.name] = dict(
            number=f.number, type=f.Type.Name(f.type), type_name=type_name, label=f.Label.Name(f.label),
            oneof=m.oneof_decl[f.oneof_index].name if real_oneof else None, packed=packed(f, syntax),
            presence=presence, default=f.default_value, deprecated=f.options.deprecated,
            # proto3 rejects strings that are not UTF-8, proto2 accepts them
            utf8=syntax == "proto3" and f.type == f.TYPE_STRING)
    return facts


def facts_of_enum(e):
    facts = {("alias",): e.options.allow_alias, ("deprecated",): e.options.deprecated,
             ("reserved numbers",): sorted((r.start, r.end) for r in e.reserved_range),
             ("reserved names",): sorted(e.reserved_name)}
    for v in e.value:
        facts["value", v.name] = (v.number, v.options.deprecated)
    return facts


class Comparison:
    def __init__(self):
        self.differences, self.messages, self.fields, self.enums = [], 0, 0, 0

    def say(self, where, text):
        self.differences.append(f"{where}: {text}")

    def facts(self, where, ours, tf):
        for key in sorted(set(ours) | set(tf)):
            if key not in tf:
                self.say(where, f"{' '.join(key)} is ours only")
            elif key not in ours:
                self.say(where, f"{' '.join(key)} is missing: {tf[key]}")
            elif isinstance(ours[key], dict):
                for k in (k for k in ours[key] if ours[key][k] != tf[key][k]):
                    self.say(where, f"{' '.join(key)}: {k} is {ours[key][k]}, TensorFlow's {tf[key][k]}")
            elif ours[key] != tf[key]:
                self.say(where, f"{' '.join(key)} is {ours[key]}, TensorFlow's {tf[key]}")

    def enum(self, name, ours, file):
        tf, _ = theirs(name, message=False)
        if tf is None:
            return self.say(file, f"enum {name} is not in TensorFlow")
        self.enums += 1
        self.facts(f"{file}: {name}", facts_of_enum(ours), facts_of_enum(tf))

    def message(self, name, ours, syntax, file):
        tf, tf_syntax = theirs(name, message=True)
        if tf is None:
            return self.say(file, f"message {name} is not in TensorFlow")
        self.messages += 1
        self.fields += len(ours.field)
        self.facts(f"{file}: {name}", facts_of_message(ours, syntax, True), facts_of_message(tf, tf_syntax, False))
        for nested in ours.nested_type:
            self.message(f"{name}.{nested.name}", nested, syntax, file)
        for nested in ours.enum_type:
            self.enum(f"{name}.{nested.name}", nested, file)
        for kind in ("nested_type", "enum_type"):
            for lost in {n.name for n in getattr(tf, kind)} - {n.name for n in getattr(ours, kind)}:
                self.say(f"{file}: {name}", f"{lost} is missing")


def main():
    load_tensorflow()
    c = Comparison()
    files = our_files()
    for file in files:
        if file.package != "grapnel.proto":
            c.say(file.name, f"package is {file.package}")
        for m in file.message_type:
            c.message(m.name, m, file.syntax or "proto2", file.name)
        for e in file.enum_type:
            c.enum(e.name, e, file.name)
    for d in c.differences:
        print(d)
    print(f"{len(files)} files, {c.messages} messages, {c.fields} fields, {c.enums} enums: "
          f"{len(c.differences)} differences")
    sys.exit(1 if c.differences else 0)


if __name__ == "__main__":
    main()
