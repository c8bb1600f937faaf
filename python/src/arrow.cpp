// Arrow's C data and stream interfaces. The structs are defined here as in Arrow's specification
// (https://arrow.apache.org/docs/format/CDataInterface.html), so that no library must be linked.
#include <array>
#include <cstdint>

#include "python/src/table.h"

extern "C" {

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace nb = nanobind;

namespace grapnel::python {
namespace {

constexpr int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

// The data that a schema or an array owns: its children, and the table into which these point.
template <typename T>
struct Owned {
  std::shared_ptr<const Table> table;
  std::vector<T> children;
  std::vector<T*> pointers;
  std::vector<std::array<const void*, 3>> buffers;
};

template <typename T>
void ReleaseChild(T* child) {
  child->release = nullptr;
}
template <typename T>
void Release(T* parent) {
  for (int64_t i = 0; i < parent->n_children; ++i)
    if (parent->children[i]->release) parent->children[i]->release(parent->children[i]);
  delete static_cast<Owned<T>*>(parent->private_data);
  parent->release = nullptr;
}

template <typename T>
Owned<T>* Own(const std::shared_ptr<const Table>& table, T* parent) {
  *parent = {};
  auto* owned = new Owned<T>;
  owned->table = table;
  owned->children.resize(table->columns().size());
  owned->buffers.resize(table->columns().size() + 1);
  for (T& child : owned->children) owned->pointers.push_back(&child);
  parent->n_children = static_cast<int64_t>(owned->children.size());
  parent->children = owned->pointers.data();
  parent->release = Release<T>;
  parent->private_data = owned;
  return owned;
}

const char* FormatOf(Column::Type type) {
  return type == Column::Type::kInteger ? "l" : type == Column::Type::kNumber ? "g" : "U";
}

void FillSchema(const std::shared_ptr<const Table>& table, ArrowSchema* schema) {
  auto* owned = Own(table, schema);
  schema->format = "+s";
  schema->name = "";
  for (size_t i = 0; i < owned->children.size(); ++i) {
    const Column& column = table->columns()[i];
    ArrowSchema& child = owned->children[i];
    child = {};
    child.format = FormatOf(column.type());
    child.name = column.name().c_str();
    child.flags = kNullable;
    child.release = ReleaseChild<ArrowSchema>;
  }
}

void FillColumn(const Column& column, std::array<const void*, 3>& buffers, ArrowArray* array) {
  static constexpr int64_t kNoOffsets[1] = {0};
  *array = {};
  array->length = static_cast<int64_t>(column.size());
  array->null_count = static_cast<int64_t>(column.nulls());
  array->n_buffers = column.type() == Column::Type::kText ? 3 : 2;
  buffers[0] = column.nulls() ? column.valid().data() : nullptr;
  buffers[1] = column.type() == Column::Type::kNumber
                   ? static_cast<const void*>(column.numbers().data())
               : column.integers().empty() ? kNoOffsets
                                           : column.integers().data();
  buffers[2] = column.bytes().data();
  array->buffers = buffers.data();
  array->release = ReleaseChild<ArrowArray>;
}

void FillArray(const std::shared_ptr<const Table>& table, ArrowArray* array) {
  auto* owned = Own(table, array);
  array->length = static_cast<int64_t>(table->num_rows());
  array->n_buffers = 1;
  owned->buffers.back() = {};
  array->buffers = owned->buffers.back().data();
  for (size_t i = 0; i < owned->children.size(); ++i)
    FillColumn(table->columns()[i], owned->buffers[i], &owned->children[i]);
}

struct StreamState {
  std::shared_ptr<const Table> table;
  bool is_read = false;
};
StreamState& StateOf(ArrowArrayStream* stream) {
  return *static_cast<StreamState*>(stream->private_data);
}

int NextBatch(ArrowArrayStream* stream, ArrowArray* array) {
  StreamState& state = StateOf(stream);
  if (state.is_read)
    *array = {};  // the end of the stream
  else
    FillArray(state.table, array);
  state.is_read = true;
  return 0;
}

void EndStream(PyObject* capsule) {
  auto* stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
  if (stream->release) stream->release(stream);
  delete stream;
}

}  // namespace

nb::object StreamOf(std::shared_ptr<const Table> table) {
  auto* stream = new ArrowArrayStream{};
  stream->get_schema = [](ArrowArrayStream* self, ArrowSchema* schema) {
    FillSchema(StateOf(self).table, schema);
    return 0;
  };
  stream->get_next = NextBatch;
  stream->get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  stream->release = [](ArrowArrayStream* self) {
    delete &StateOf(self);
    self->release = nullptr;
  };
  stream->private_data = new StreamState{std::move(table)};
  return nb::steal(PyCapsule_New(stream, "arrow_array_stream", EndStream));
}

}  // namespace grapnel::python
