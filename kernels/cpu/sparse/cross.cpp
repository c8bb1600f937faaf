// Feature crosses: every combination of the columns' values in a row, as text or as a hash.
// SparseCross, SparseCrossV2, SparseCrossHashed; RaggedCross. The hashes must match TensorFlow's,
// because trained models depend on them.
#include <limits>

#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/sparse/sparse_indices.h"
#include "kernels/cpu/text/string_hash.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

// One feature: values [begins[row], begins[row + 1]) belong to a row.
struct Column {
  const Tensor* values = nullptr;
  std::vector<int64_t> begins;
  bool dense = false;

  int64_t count(int64_t row) const { return begins[row + 1] - begins[row]; }
};

struct Crossing {
  bool hashed = false, strong = false;
  bool joined_from_first = false;  // the chain starts with the first hash, not with `key`
  std::string separator = "_X_";
  uint64_t key = 0, salt[2] = {0, 0};
  int64_t buckets = 0;
};

Error CheckValues(const Tensor& values) {
  if (values.dtype() == proto::DT_STRING || values.dtype() == proto::DT_INT64)
    return Error::success();
  return MakeError("a feature has dtype {0}: expected string or int64",
                   DataTypeName(values.dtype()));
}

Expected<Column> SparseColumn(const Tensor& indices, const Tensor& values, const Tensor& shape,
                              int64_t rows) {
  RETURN_IF_ERROR(CheckValues(values));
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, shape));
  if (indices.dim(1) != 2)
    return MakeError("a sparse feature must be a matrix, not of rank {0}", indices.dim(1));
  if (shape.IntAt(0) != rows)
    return MakeError("a sparse feature has {0} rows, {1} were expected", shape.IntAt(0), rows);
  Column column;
  column.values = &values;
  column.begins.assign(rows + 1, 0);
  int64_t last = 0;
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    int64_t row = indices.data<int64_t>()[2 * i];
    if (row < last || row >= rows)
      return MakeError(
          "indices[{0}] is in row {1}: rows must not decrease, be negative, or reach {2}", i, row,
          rows);
    last = row;
    ++column.begins[row + 1];
  }
  for (int64_t row = 0; row < rows; ++row) column.begins[row + 1] += column.begins[row];
  return column;
}

Expected<Column> DenseColumn(const Tensor& values, int64_t rows) {
  RETURN_IF_ERROR(CheckValues(values));
  if (values.rank() != 2 || values.dim(0) != rows)
    return MakeError("a dense feature must be a matrix of {0} rows, got shape {1}", rows,
                     DimsText(values.dims()));
  Column column;
  column.values = &values;
  column.dense = true;
  for (int64_t row = 0; row <= rows; ++row) column.begins.push_back(row * values.dim(1));
  return column;
}

std::string TextAt(const Column& column, int64_t i) {
  const Tensor& values = *column.values;
  if (values.dtype() == proto::DT_STRING) return values.data<std::string>()[i];
  return std::to_string(values.data<int64_t>()[i]);
}

// Where TensorFlow hashes a number at all, it hashes its first 4 bytes.
uint64_t HashAt(const Column& column, int64_t i, const Crossing& how) {
  const Tensor& values = *column.values;
  bool text = values.dtype() == proto::DT_STRING;
  if (!text && (!how.joined_from_first || (column.dense && !how.strong)))
    return static_cast<uint64_t>(values.data<int64_t>()[i]);
  llvm::StringRef bytes;
  if (text)
    bytes = values.data<std::string>()[i];
  else
    bytes = llvm::StringRef(At(values, i), 4);
  return how.strong ? SipHash(bytes, how.salt[0], how.salt[1]) : FarmHash(bytes);
}

void CrossAt(llvm::ArrayRef<Column> columns, llvm::ArrayRef<int64_t> at, const Crossing& how,
             Tensor& out, int64_t to) {
  if (!how.hashed) {
    std::string& text = out.data<std::string>()[to];
    for (size_t k = 0; k < columns.size(); ++k) {
      if (k > 0) text += how.separator;
      text += TextAt(columns[k], at[k]);
    }
    return;
  }
  size_t k = how.joined_from_first ? 1 : 0;
  uint64_t hash = k == 1 ? HashAt(columns[0], at[0], how) : how.key;
  for (; k < columns.size(); ++k) hash = JoinHashes(hash, HashAt(columns[k], at[k], how));
  uint64_t limit = how.buckets > 0 ? static_cast<uint64_t>(how.buckets)
                                   : static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  out.data<int64_t>()[to] = static_cast<int64_t>(hash % limit);
}

// Returns the start of each row's combinations, and the end.
Expected<std::vector<int64_t>> Begins(llvm::ArrayRef<Column> columns, int64_t rows) {
  std::vector<int64_t> begins{0};
  for (int64_t row = 0; row < rows; ++row) {
    int64_t count = columns.empty() ? 0 : 1, end = 0;
    for (const Column& column : columns) {
      if (__builtin_mul_overflow(count, column.count(row), &count))
        return MakeError("the number of combinations in row {0} does not fit into int64", row);
    }
    if (__builtin_add_overflow(begins.back(), count, &end) || end > (int64_t{1} << 32))
      return MakeError("there are more than 4294967296 combinations up to row {0}", row);
    begins.push_back(end);
  }
  return begins;
}

// The last column varies fastest.
void CrossRow(llvm::ArrayRef<Column> columns, int64_t row, const Crossing& how, Tensor& out,
              int64_t begin, int64_t end) {
  std::vector<int64_t> at;
  for (const Column& column : columns) at.push_back(column.begins[row]);
  for (int64_t to = begin; to < end; ++to) {
    CrossAt(columns, at, how, out, to);
    for (size_t k = columns.size(); k-- > 0;) {
      if (++at[k] < columns[k].begins[row + 1]) break;
      at[k] = columns[k].begins[row];
    }
  }
}

void CrossAll(KernelContext& ctx, llvm::ArrayRef<Column> columns, const Crossing& how,
              llvm::ArrayRef<int64_t> begins, Tensor& out) {
  int64_t rows = static_cast<int64_t>(begins.size()) - 1;
  double cost =
      50.0 * static_cast<double>(begins.back()) / static_cast<double>(std::max<int64_t>(rows, 1));
  ctx.ParallelFor(rows, cost, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      CrossRow(columns, row, how, out, begins[row], begins[row + 1]);
  });
}

Error CheckRows(int64_t rows) {
  if (rows < 0 || rows > (int64_t{1} << 28))
    return MakeError("the number of rows must be in [0, 268435456], got {0}", rows);
  return Error::success();
}

Error Add(Expected<Column> column, std::vector<Column>* columns) {
  if (!column) return Annotate("feature " + std::to_string(columns->size()), column.takeError());
  columns->push_back(std::move(*column));
  return Error::success();
}

int CountOf(const Node& node, const char* key) {
  auto attr = node.Attr(key);
  return attr ? static_cast<int>(attr->AsTypes().value_or(std::vector<DataType>()).size()) : 0;
}

// Reads the attributes; `out` is the result dtype that attribute `out_name` sets.
Expected<Crossing> CrossingOf(const Node& node, DataType out, const char* out_name) {
  Crossing how;
  how.hashed = node.GetBool("hashed_output");
  how.buckets = node.GetInt("num_buckets");
  how.key = static_cast<uint64_t>(node.GetInt("hash_key"));
  if (how.hashed == (out == proto::DT_INT64)) return how;
  return MakeError("{0} is {1}, which does not match hashed_output {2}", out_name,
                   DataTypeName(out), how.hashed);
}

// --- Sparse results

Error CrossSparse(KernelContext& ctx, int n, int dense, const Crossing& how) {
  int64_t rows = 0;
  if (n > 0) {
    if (ctx.input(2 * n).num_elements() != 2)
      return MakeError("a sparse feature must be a matrix: its shape must have 2 numbers, not {0}",
                       ctx.input(2 * n).ToString());
    rows = ctx.input(2 * n).IntAt(0);
  } else if (dense > 0 && ctx.input(0).rank() == 2) {
    rows = ctx.input(0).dim(0);
  }
  RETURN_IF_ERROR(CheckRows(rows));
  std::vector<Column> columns;
  for (int i = 0; i < n + dense; ++i) {
    auto column = i < n ? SparseColumn(ctx.input(i), ctx.input(n + i), ctx.input(2 * n + i), rows)
                        : DenseColumn(ctx.input(2 * n + i), rows);
    RETURN_IF_ERROR(Add(std::move(column), &columns));
  }
  ASSIGN_OR_RETURN(std::vector<int64_t> begins, Begins(columns, rows));
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(0, {begins.back(), 2}));
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(1, {begins.back()}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {2}));
  int64_t widest = 0, *to = indices->data<int64_t>();
  for (int64_t row = 0; row < rows; ++row) {
    widest = std::max(widest, begins[row + 1] - begins[row]);
    for (int64_t i = begins[row]; i < begins[row + 1]; ++i) {
      *to++ = row;
      *to++ = i - begins[row];
    }
  }
  shape->data<int64_t>()[0] = rows;
  shape->data<int64_t>()[1] = widest;
  CrossAll(ctx, columns, how, begins, *values);
  return Error::success();
}

Expected<KernelFn> MakeSparseCross(const KernelSetup& setup) {
  const Node& node = setup.node();
  int n = static_cast<int>(node.GetInt("N")), dense = CountOf(node, "dense_types");
  ASSIGN_OR_RETURN(Crossing how, CrossingOf(node, setup.output_type(1), "out_type"));
  if (setup.num_inputs() != 3 * n + dense)
    return MakeError("the node has {0} inputs, {1} were expected", setup.num_inputs(),
                     3 * n + dense);
  return KernelFn([=](KernelContext& ctx) { return CrossSparse(ctx, n, dense, how); });
}

template <bool kHashed>
Expected<KernelFn> MakeSparseCrossV2(const KernelSetup& setup) {
  const Node& node = setup.node();
  int n = static_cast<int>(node.GetInt("N")), dense = CountOf(node, "dense_types");
  int last = 3 * n + dense;
  if (setup.num_inputs() != last + (kHashed ? 3 : 1))
    return MakeError("the node has {0} inputs, {1} were expected", setup.num_inputs(),
                     last + (kHashed ? 3 : 1));
  return KernelFn([=](KernelContext& ctx) -> Error {
    Crossing how;
    how.hashed = how.joined_from_first = kHashed;
    if (ctx.input(last).num_elements() != 1)
      return MakeError("{0} must have one element", kHashed ? "num_buckets" : "sep");
    if (kHashed) {
      if (ctx.input(last + 1).num_elements() != 1)
        return MakeError("strong_hash must have one element");
      if (ctx.input(last + 2).num_elements() != 2)
        return MakeError("salt must have 2 numbers, not {0}", ctx.input(last + 2).num_elements());
      how.buckets = ctx.input(last).IntAt(0);
      how.strong = *ctx.input(last + 1).data<bool>();
      for (int i = 0; i < 2; ++i) how.salt[i] = static_cast<uint64_t>(ctx.input(last + 2).IntAt(i));
    } else {
      how.separator = *ctx.input(last).data<std::string>();
    }
    return CrossSparse(ctx, n, dense, how);
  });
}

// --- RaggedCross

Expected<Column> RaggedColumn(const Tensor& values, const Tensor& splits, int64_t rows) {
  RETURN_IF_ERROR(CheckValues(values));
  if (values.rank() != 1 || splits.rank() != 1 || splits.dim(0) != rows + 1)
    return MakeError(
        "a ragged feature must be a vector with {0} row splits, got shapes {1} and {2}", rows + 1,
        DimsText(values.dims()), DimsText(splits.dims()));
  Column column;
  column.values = &values;
  for (int64_t i = 0; i <= rows; ++i) {
    int64_t at = splits.IntAt(i);
    if (i == 0 ? at != 0 : at < column.begins.back())
      return MakeError("row splits {0} must start with 0 and not decrease", splits.ToString());
    column.begins.push_back(at);
  }
  if (column.begins.back() == values.dim(0)) return column;
  return MakeError("row splits {0} must end with the number of values, {1}", splits.ToString(),
                   values.dim(0));
}

struct RaggedForm {
  int ragged = 0, sparse = 0, dense = 0;
  std::string order;
};

Expected<int64_t> RaggedRows(const KernelContext& ctx, const RaggedForm& form) {
  int sparse = 2 * form.ragged, dense = sparse + 3 * form.sparse;
  if (form.ragged > 0) return ctx.input(form.ragged).num_elements() - 1;
  if (form.sparse > 0 && ctx.input(sparse + 2 * form.sparse).num_elements() > 0)
    return ctx.input(sparse + 2 * form.sparse).IntAt(0);
  if (form.dense > 0 && ctx.input(dense).rank() > 0) return ctx.input(dense).dim(0);
  return MakeError(
      "no feature gives the number of rows: none is ragged, and the first sparse and dense "
      "features are missing or scalars");
}

Error RaggedCross(KernelContext& ctx, const RaggedForm& form, const Crossing& how) {
  ASSIGN_OR_RETURN(int64_t rows, RaggedRows(ctx, form));
  RETURN_IF_ERROR(CheckRows(rows));
  std::vector<Column> columns;
  int ragged = 0, sparse = 2 * form.ragged, dense = sparse + 3 * form.sparse;
  for (char kind : form.order) {
    auto column = kind == 'R'
                      ? RaggedColumn(ctx.input(ragged), ctx.input(ragged + form.ragged), rows)
                  : kind == 'S' ? SparseColumn(ctx.input(sparse), ctx.input(sparse + form.sparse),
                                               ctx.input(sparse + 2 * form.sparse), rows)
                                : DenseColumn(ctx.input(dense), rows);
    ++(kind == 'R' ? ragged : kind == 'S' ? sparse : dense);
    RETURN_IF_ERROR(Add(std::move(column), &columns));
  }
  ASSIGN_OR_RETURN(std::vector<int64_t> begins, Begins(columns, rows));
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, {begins.back()}));
  ASSIGN_OR_RETURN(Tensor * splits, ctx.Allocate(1, {rows + 1}));
  bool narrow = splits->dtype() == proto::DT_INT32;
  if (narrow && begins.back() > std::numeric_limits<int32_t>::max())
    return MakeError("{0} values do not fit in row splits of int32", begins.back());
  for (int64_t i = 0; i <= rows; ++i) {
    if (narrow)
      splits->data<int32_t>()[i] = static_cast<int32_t>(begins[i]);
    else
      splits->data<int64_t>()[i] = begins[i];
  }
  CrossAll(ctx, columns, how, begins, *values);
  return Error::success();
}

Expected<KernelFn> MakeRaggedCross(const KernelSetup& setup) {
  const Node& node = setup.node();
  RaggedForm form{CountOf(node, "ragged_values_types"), static_cast<int>(node.GetInt("Nsparse")),
                  CountOf(node, "dense_types"), node.GetString("input_order")};
  llvm::StringRef order = form.order;
  if (static_cast<int>(order.count('R')) != form.ragged ||
      static_cast<int>(order.count('S')) != form.sparse ||
      static_cast<int>(order.count('D')) != form.dense ||
      static_cast<int>(order.size()) != form.ragged + form.sparse + form.dense)
    return MakeError(
        "input_order '{0}' must consist of an R for each of {1} ragged, an S for each of {2} "
        "sparse and a D for each of {3} dense features",
        order, form.ragged, form.sparse, form.dense);
  if (setup.num_inputs() != 2 * form.ragged + 3 * form.sparse + form.dense)
    return MakeError("the node has {0} inputs, but its features need {1}", setup.num_inputs(),
                     2 * form.ragged + 3 * form.sparse + form.dense);
  ASSIGN_OR_RETURN(Crossing how, CrossingOf(node, setup.output_type(0), "out_values_type"));
  return KernelFn([form, how](KernelContext& ctx) { return RaggedCross(ctx, form, how); });
}

GRAPNEL_CPU_KERNEL("SparseCross", MakeSparseCross);
GRAPNEL_CPU_KERNEL("SparseCrossV2", MakeSparseCrossV2<false>);
GRAPNEL_CPU_KERNEL("SparseCrossHashed", MakeSparseCrossV2<true>);
GRAPNEL_CPU_KERNEL("RaggedCross", MakeRaggedCross);

}  // namespace
}  // namespace grapnel
