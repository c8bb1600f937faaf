// Hash tables: resources that map keys to values, filled once (HashTable) or mutable
// (MutableHashTable).
#include "kernels/cpu/state/lookup_table.h"

#include <mutex>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "lib/exec/session.h"
#include "lib/support/file.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// Returns the bytes of key `i`; each key has `size` elements.
llvm::StringRef KeyAt(const Tensor& keys, int64_t i, int64_t size) {
  if (keys.dtype() == proto::DT_STRING) return keys.data<std::string>()[i];
  return {At(keys, i * size), static_cast<size_t>(size) * DataTypeSize(keys.dtype())};
}

// Returns the dims of `keys` without those of a single key.
Expected<Dims> KeyShape(const LookupTable& table, const Tensor& keys) {
  int64_t inner = static_cast<int64_t>(table.key_dims.size());
  if (keys.rank() < inner ||
      keys.dims().take_back(inner) != llvm::ArrayRef<int64_t>(table.key_dims))
    return MakeError("a tensor of shape {0} does not consist of keys of shape {1}",
                     DimsText(keys.dims()), DimsText(table.key_dims));
  auto outer = keys.dims().drop_back(inner);
  return Dims(outer.begin(), outer.end());
}

Error CheckReserved(const LookupTable& table, llvm::StringRef key) {
  for (size_t i = 0; i < table.reserved.size(); ++i) {
    if (key == table.reserved[i])
      return MakeError("using the {0} as a table key is not allowed",
                       i == 0 ? "empty_key" : "deleted_key");
  }
  return Error::success();
}

std::string KeyText(const Tensor& keys, int64_t i) {
  if (keys.dtype() == proto::DT_STRING) return "'" + keys.data<std::string>()[i] + "'";
  return DataTypeSize(keys.dtype()) == 8 || keys.dtype() == proto::DT_INT32
             ? std::to_string(keys.IntAt(i))
             : "element " + std::to_string(i);
}

}  // namespace

Expected<LookupTable*> TableIn(const KernelContext& ctx, int i) {
  const Tensor& tensor = ctx.input(i);
  if (tensor.dtype() == proto::DT_RESOURCE && tensor.num_elements() == 1) {
    if (auto* table = dynamic_cast<LookupTable*>(tensor.data<ObjectRef>()->get())) return table;
  }
  return MakeError("input {0} is {1}, a table was expected", i, tensor.ToString());
}

namespace {

// Checks the attributes of a dense table; the load factor and number of buckets have no effect
// here.
Error CheckBuckets(float max_load, int64_t buckets) {
  if (!(max_load > 0 && max_load < 1))
    return MakeError("max_load_factor must be between 0 and 1, got {0}", NumberText(max_load));
  if (buckets < 4 || !llvm::isPowerOf2_64(buckets))
    return MakeError("initial_num_buckets must be a power of 2 from 4 on, got {0}", buckets);
  return Error::success();
}

// The session shares named tables; an anonymous table belongs to its handle. `kDense`: a table with
// an empty key and, in version 2, a deleted key.
template <bool kMutable, bool kDense = false>
Expected<KernelFn> MakeTable(const KernelSetup& setup) {
  const Node& node = setup.node();
  bool anonymous = node.op().starts_with("Anonymous");
  std::string name = node.GetString("shared_name");
  if (name.empty()) name = node.name().str();
  std::string container = node.GetString("container");
  DataType key_type = node.GetType("key_dtype"), value_type = node.GetType("value_dtype");
  auto attr = node.Attr("value_shape");
  Shape shape = attr ? attr->AsShape().value_or(Shape::Scalar()) : Shape::Scalar();
  if (!shape.IsFullyKnown())
    return MakeError("value_shape {0} is not known in full", shape.ToString());
  Dims dims(shape.dims().begin(), shape.dims().end());
  float max_load = node.GetFloat("max_load_factor", 0.8f);
  int64_t buckets = node.GetInt("initial_num_buckets", 131072);
  return KernelFn([=](KernelContext& ctx) -> Error {
    if (kDense) RETURN_IF_ERROR(CheckBuckets(max_load, buckets));
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      if (ctx.input(i).dims() != ctx.input(0).dims() ||
          KeyAt(ctx.input(i), 0, ctx.input(i).num_elements()) ==
              KeyAt(ctx.input(0), 0, ctx.input(0).num_elements()))
        return MakeError("empty and deleted keys must differ and be of one shape");
    }
    auto make = [&] {
      auto* table = new LookupTable(key_type, value_type, dims, kMutable);
      if (kDense) table->key_dims.assign(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
      for (int i = 0; kDense && i < ctx.num_inputs(); ++i)
        table->reserved.push_back(KeyAt(ctx.input(i), 0, ctx.input(i).num_elements()).str());
      return ObjectRef(table);
    };
    if (!ctx.session()) return MakeError("tables need a session");
    ObjectRef object = anonymous ? make() : ctx.session()->FindOrMake(container, name, make);
    if (!dynamic_cast<LookupTable*>(object.get()))
      return MakeError("'{0}' is {1}, a table was expected", name, object->ToString());
    ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, std::move(object)));
    return Error::success();
  });
}

Expected<Tensor> RowOf(KernelContext& ctx, const Tensor& values, int64_t i, const Dims& dims) {
  ASSIGN_OR_RETURN(Tensor row, ctx.Scratch(values.dtype(), dims));
  CopyElements(values.dtype(), At(values, i * row.num_elements()), row.raw(), row.num_elements());
  return row;
}

Error CheckTypes(const LookupTable& table, const Tensor* keys, const Tensor* values) {
  if (keys && keys->dtype() != table.key_type) {
    return MakeError("keys have dtype {0}, but the table's keys have dtype {1}",
                     DataTypeName(keys->dtype()), DataTypeName(table.key_type));
  }
  if (values && values->dtype() != table.value_type) {
    return MakeError("values have dtype {0}, but the table's values have dtype {1}",
                     DataTypeName(values->dtype()), DataTypeName(table.value_type));
  }
  if (!keys || !values) return Error::success();
  ASSIGN_OR_RETURN(Dims dims, KeyShape(table, *keys));
  dims.append(table.value_dims.begin(), table.value_dims.end());
  if (values->dims() == llvm::ArrayRef<int64_t>(dims)) return Error::success();
  return MakeError("values of shape {0} for keys of shape {1}: {2} was expected",
                   DimsText(values->dims()), DimsText(keys->dims()), DimsText(dims));
}

}  // namespace

Error InsertRows(KernelContext& ctx, LookupTable& table, const Tensor& keys, const Tensor& values,
                 bool unique) {
  RETURN_IF_ERROR(CheckTypes(table, &keys, &values));
  int64_t size = table.key_size(), count = size > 0 ? keys.num_elements() / size : 0;
  for (int64_t i = 0; i < count; ++i) RETURN_IF_ERROR(CheckReserved(table, KeyAt(keys, i, size)));
  for (int64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(Tensor value, RowOf(ctx, values, i, table.value_dims));
    auto [it, is_new] = table.rows.try_emplace(KeyAt(keys, i, size));
    if (!is_new && unique && !it->second.value.ToLiteral().SameValue(value.ToLiteral())) {
      return MakeError("key {0} occurs twice with different values", KeyText(keys, i));
    }
    if (is_new) it->second.number = table.next_number++;
    it->second.value = std::move(value);
  }
  return Error::success();
}

namespace {

Error InitializeTable(KernelContext& ctx) {
  ASSIGN_OR_RETURN(LookupTable * table, TableIn(ctx, 0));
  std::lock_guard lock(table->mutex);
  if (table->initialized) return Error::success();
  RETURN_IF_ERROR(InsertRows(ctx, *table, ctx.input(1), ctx.input(2), true));
  table->initialized = true;
  return Error::success();
}

Error InsertInto(KernelContext& ctx) {
  ASSIGN_OR_RETURN(LookupTable * table, TableIn(ctx, 0));
  std::lock_guard lock(table->mutex);
  if (!table->is_mutable)
    return MakeError("the table is immutable: only its initializer can fill it");
  return InsertRows(ctx, *table, ctx.input(1), ctx.input(2), false);
}

// Replaces the whole content of a mutable table; fills a table that is filled once.
Error Import(KernelContext& ctx) {
  ASSIGN_OR_RETURN(LookupTable * table, TableIn(ctx, 0));
  std::lock_guard lock(table->mutex);
  RETURN_IF_ERROR(CheckTypes(*table, &ctx.input(1), &ctx.input(2)));
  table->rows.clear();
  table->initialized = true;
  return InsertRows(ctx, *table, ctx.input(1), ctx.input(2), !table->is_mutable);
}

Error Remove(KernelContext& ctx) {
  ASSIGN_OR_RETURN(LookupTable * table, TableIn(ctx, 0));
  std::lock_guard lock(table->mutex);
  const Tensor& keys = ctx.input(1);
  RETURN_IF_ERROR(CheckTypes(*table, &keys, nullptr));
  RETURN_IF_ERROR(KeyShape(*table, keys).takeError());
  int64_t size = table->key_size();
  for (int64_t i = 0; size > 0 && i < keys.num_elements() / size; ++i) {
    RETURN_IF_ERROR(CheckReserved(*table, KeyAt(keys, i, size)));
    table->rows.erase(KeyAt(keys, i, size));
  }
  return Error::success();
}

Error Find(KernelContext& ctx) {
  ASSIGN_OR_RETURN(LookupTable * table, TableIn(ctx, 0));
  std::lock_guard lock(table->mutex);
  if (!table->is_mutable && !table->initialized)
    return MakeError("the table is empty: nothing has initialized it");
  const Tensor &keys = ctx.input(1), &otherwise = ctx.input(2);
  RETURN_IF_ERROR(CheckTypes(*table, &keys, nullptr));
  if (otherwise.dtype() != table->value_type) {
    return MakeError("the default has dtype {0}, but the table's values have dtype {1}",
                     DataTypeName(otherwise.dtype()), DataTypeName(table->value_type));
  }
  ASSIGN_OR_RETURN(Dims dims, KeyShape(*table, keys));
  dims.append(table->value_dims.begin(), table->value_dims.end());
  int64_t row = table->row_size(), size = table->key_size();
  int64_t count = size > 0 ? keys.num_elements() / size : 0;
  bool whole = otherwise.dims() == llvm::ArrayRef<int64_t>(dims);
  if (!whole && otherwise.dims() != llvm::ArrayRef<int64_t>(table->value_dims)) {
    return MakeError("the default must have shape {0}, or {1} for a default per key, got shape {2}",
                     DimsText(table->value_dims), DimsText(dims), DimsText(otherwise.dims()));
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  for (int64_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(CheckReserved(*table, KeyAt(keys, i, size)));
    auto it = table->rows.find(KeyAt(keys, i, size));
    const char* from =
        it != table->rows.end() ? At(it->second.value, 0) : At(otherwise, whole ? i * row : 0);
    CopyElements(out->dtype(), from, At(*out, i * row), row);
  }
  return Error::success();
}

Error Size(KernelContext& ctx) {
  ASSIGN_OR_RETURN(LookupTable * table, TableIn(ctx, 0));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  std::lock_guard lock(table->mutex);
  *out->data<int64_t>() = table->rows.size();
  return Error::success();
}

// Outputs keys and values in insertion order.
Error Export(KernelContext& ctx) {
  ASSIGN_OR_RETURN(LookupTable * table, TableIn(ctx, 0));
  std::lock_guard lock(table->mutex);
  std::vector<const llvm::StringMapEntry<LookupTable::Row>*> entries;
  for (const auto& entry : table->rows) entries.push_back(&entry);
  llvm::sort(entries, [](auto* a, auto* b) { return a->second.number < b->second.number; });
  int64_t size = entries.size(), row = table->row_size();
  Dims dims = {size};
  dims.append(table->value_dims.begin(), table->value_dims.end());
  Dims key_dims = {size};
  key_dims.append(table->key_dims.begin(), table->key_dims.end());
  ASSIGN_OR_RETURN(Tensor * keys, ctx.Allocate(0, key_dims));
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(1, dims));
  RETURN_IF_ERROR(CheckTypes(*table, keys, values));
  for (int64_t i = 0; i < size; ++i) {
    if (keys->dtype() == proto::DT_STRING)
      keys->data<std::string>()[i] = entries[i]->getKey().str();
    else
      std::copy_n(entries[i]->getKey().data(), entries[i]->getKey().size(),
                  At(*keys, i * table->key_size()));
    CopyElements(values->dtype(), entries[i]->second.value.raw(), At(*values, i * row), row);
  }
  return Error::success();
}

// Reads a column of line `i` of a text file: -2 is the whole line, -1 the number of the line plus
// the attribute `offset`, others the text between delimiters.
Error ReadColumn(llvm::StringRef line, int64_t i, int64_t offset, int64_t column, char delimiter,
                 Tensor& to) {
  llvm::StringRef text = line;
  if (column == -1) {
    if (to.dtype() != proto::DT_INT64)
      return MakeError("line numbers must be int64, but the table expects {0}",
                       DataTypeName(to.dtype()));
    to.data<int64_t>()[i] = static_cast<int64_t>(static_cast<uint64_t>(i) + offset);
    return Error::success();
  }
  if (column >= 0) {
    llvm::SmallVector<llvm::StringRef, 8> parts;
    line.split(parts, delimiter);
    if (column >= static_cast<int64_t>(parts.size()))
      return MakeError("line {0} has {1} columns, but the one at index {2} is needed", i + 1,
                       parts.size(), column);
    text = parts[column];
  }
  bool bad = false;
  switch (to.dtype()) {
    case proto::DT_STRING:
      to.data<std::string>()[i] = text.str();
      break;
    case proto::DT_INT32:
      bad = text.getAsInteger(10, to.data<int32_t>()[i]);
      break;
    case proto::DT_INT64:
      bad = text.getAsInteger(10, to.data<int64_t>()[i]);
      break;
    case proto::DT_FLOAT: {
      double value = 0;
      bad = text.getAsDouble(value);
      to.data<float>()[i] = static_cast<float>(value);
      break;
    }
    case proto::DT_DOUBLE:
      bad = text.getAsDouble(to.data<double>()[i]);
      break;
    default:
      return MakeError("cannot read {0} from a text file", DataTypeName(to.dtype()));
  }
  if (bad)
    return MakeError("line {0}: '{1}' is not a valid {2}", i + 1, text, DataTypeName(to.dtype()));
  return Error::success();
}

Expected<KernelFn> MakeInitializeFromFile(const KernelSetup& setup) {
  const Node& node = setup.node();
  int64_t key_index = node.GetInt("key_index"), value_index = node.GetInt("value_index");
  int64_t limit = node.GetInt("vocab_size", -1), offset = node.GetInt("offset");
  std::string delimiter = node.GetString("delimiter", "\t");
  if (delimiter.size() != 1)
    return MakeError("delimiter '{0}': one character was expected", delimiter);
  return KernelFn([=](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(LookupTable * table, TableIn(ctx, 0));
    std::lock_guard lock(table->mutex);
    if (table->initialized) return Error::success();
    const std::string& path = *ctx.input(1).data<std::string>();
    ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
    llvm::SmallVector<llvm::StringRef, 0> lines;
    file->bytes().split(lines, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    int64_t count = static_cast<int64_t>(lines.size());
    if (limit >= 0 && count < limit)
      return MakeError("{0} has {1} lines, at least {2} were expected", path, count, limit);
    if (limit >= 0) count = limit;
    ASSIGN_OR_RETURN(Tensor keys, ctx.Scratch(table->key_type, {count}));
    ASSIGN_OR_RETURN(Tensor values, ctx.Scratch(table->value_type, {count}));
    for (int64_t i = 0; i < count; ++i) {
      llvm::StringRef line = lines[i];
      line.consume_back("\r");
      Error error = ReadColumn(line, i, offset, key_index, delimiter[0], keys);
      if (!error) error = ReadColumn(line, i, offset, value_index, delimiter[0], values);
      if (error) return Annotate(path, std::move(error));
    }
    RETURN_IF_ERROR(InsertRows(ctx, *table, keys, values, true));
    table->initialized = true;
    return Error::success();
  });
}

#define GRAPNEL_TABLE_KERNEL(op, ...) GRAPNEL_CPU_KERNEL(op, __VA_ARGS__)
// Registers both the op with a reference handle and the one with a resource handle.
#define GRAPNEL_TABLE_KERNELS(op, ...)   \
  GRAPNEL_TABLE_KERNEL(op, __VA_ARGS__); \
  GRAPNEL_TABLE_KERNEL(op "V2", __VA_ARGS__)
GRAPNEL_TABLE_KERNELS("HashTable", MakeTable<false>);
GRAPNEL_TABLE_KERNELS("MutableHashTable", MakeTable<true>);
GRAPNEL_TABLE_KERNELS("MutableHashTableOfTensors", MakeTable<true>);
GRAPNEL_TABLE_KERNELS("MutableDenseHashTable", (MakeTable<true, true>));
GRAPNEL_TABLE_KERNEL("AnonymousHashTable", MakeTable<false>);
GRAPNEL_TABLE_KERNEL("AnonymousMutableHashTable", MakeTable<true>);
GRAPNEL_TABLE_KERNEL("AnonymousMutableHashTableOfTensors", MakeTable<true>);
GRAPNEL_TABLE_KERNEL("AnonymousMutableDenseHashTable", (MakeTable<true, true>));
GRAPNEL_TABLE_KERNELS("InitializeTable", KernelOf<InitializeTable>);
GRAPNEL_TABLE_KERNELS("InitializeTableFromTextFile", MakeInitializeFromFile, Scalar(1));
GRAPNEL_TABLE_KERNELS("LookupTableInsert", KernelOf<InsertInto>);
GRAPNEL_TABLE_KERNELS("LookupTableImport", KernelOf<Import>);
GRAPNEL_TABLE_KERNEL("LookupTableRemoveV2", KernelOf<Remove>);
GRAPNEL_TABLE_KERNELS("LookupTableFind", KernelOf<Find>);
GRAPNEL_TABLE_KERNELS("LookupTableSize", KernelOf<Size>);
GRAPNEL_TABLE_KERNELS("LookupTableExport", KernelOf<Export>);

}  // namespace
}  // namespace grapnel
