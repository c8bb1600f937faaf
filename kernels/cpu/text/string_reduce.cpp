// ReduceJoin, StringNGrams; ShardedFilespec, Fingerprint.
#include <algorithm>

#include "kernels/common/dims.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/text/string_hash.h"

namespace grapnel {
namespace {

// --- ReduceJoin

// Joins along the axes in the given order: the first one varies fastest.
Error ReduceJoin(KernelContext& ctx, bool keep_dims, const std::string& separator) {
  const Tensor &in = ctx.input(0), &axes = ctx.input(1);
  Dims strides = RowMajorStrides(in.dims());
  std::vector<bool> reduced(in.rank());
  std::vector<int64_t> order;
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    ASSIGN_OR_RETURN(int axis, AxisIn(axes.IntAt(i), in.rank()));
    if (reduced[axis]) return MakeError("duplicate reduction dimension {0}", axis);
    reduced[axis] = true;
    order.push_back(axis);
  }
  Dims dims, kept, kept_strides;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[d]) {
      kept.push_back(in.dim(d));
      kept_strides.push_back(strides[d]);
    }
    if (!reduced[d] || keep_dims) dims.push_back(reduced[d] ? 1 : in.dim(d));
  }
  int64_t parts = 1;
  for (int64_t axis : order) parts *= in.dim(static_cast<int>(axis));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  Dims lines = RowMajorStrides(kept);
  for (int64_t i = 0; i < out->num_elements(); ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < kept.size(); ++d) from += i / lines[d] % kept[d] * kept_strides[d];
    std::string& text = out->data<std::string>()[i];
    for (int64_t part = 0; part < parts; ++part) {
      int64_t at = from, rest = part;
      for (int64_t axis : order) {
        at += rest % in.dim(static_cast<int>(axis)) * strides[axis];
        rest /= in.dim(static_cast<int>(axis));
      }
      if (part > 0) text += separator;
      text += in.data<std::string>()[at];
    }
  }
  return Error::success();
}

Expected<KernelFn> MakeReduceJoin(const KernelSetup& setup) {
  bool keep = setup.node().GetBool("keep_dims");
  std::string separator = setup.node().GetString("separator");
  return KernelFn(
      [keep, separator](KernelContext& ctx) { return ReduceJoin(ctx, keep, separator); });
}

// --- StringNGrams

struct NGrams {
  std::string separator, left, right;
  std::vector<int64_t> widths;
  int64_t pad = -1;  // -1: as much as the width requires
  bool keep_short = false;

  int64_t PadOf(int64_t width) const { return std::min(pad < 0 ? width - 1 : pad, width - 1); }
  // Returns the number of n-grams of a row of `length`.
  int64_t Count(int64_t length, int64_t width) const {
    return std::max<int64_t>(0, length + 2 * PadOf(width) - width + 1);
  }
};

// The limit on the output, in pieces: a width of billions would pad with billions of pieces.
constexpr int64_t kMostPieces = int64_t{1} << 28;

// Returns n-gram `i` of the `count` n-grams of one width.
std::string NGram(llvm::ArrayRef<std::string> row, const NGrams& form, int64_t width, int64_t pad,
                  int64_t i, int64_t count) {
  int64_t left = std::max<int64_t>(0, pad - i), right = std::max<int64_t>(0, pad - (count - 1 - i));
  int64_t first = left > 0 ? 0 : i - pad;
  std::string text;
  for (int64_t k = 0; k < width; ++k) {
    if (k > 0) text += form.separator;
    if (k < left)
      text += form.left;
    else if (k >= width - right)
      text += form.right;
    else
      text += row[first + k - left];
  }
  return text;
}

// Appends a row that is too short for any width as one n-gram, with form.pad pieces on each side
// (none if it is negative).
void AppendShort(llvm::ArrayRef<std::string> row, const NGrams& form,
                 std::vector<std::string>* out) {
  int64_t pad = std::max<int64_t>(form.pad, 0);
  int64_t width = static_cast<int64_t>(row.size()) + 2 * pad;
  out->push_back(NGram(row, form, width, pad, 0, 1));
}

Error StringNGrams(KernelContext& ctx, const NGrams& form) {
  const Tensor &data = ctx.input(0), &splits = ctx.input(1);
  if (data.rank() != 1 || splits.rank() != 1)
    return MakeError("data and data_splits must be vectors, got shapes {0} and {1}",
                     DimsText(data.dims()), DimsText(splits.dims()));
  // Without any splits, not even a 0, TensorFlow returns as many empty strings as there is data.
  if (splits.dim(0) == 0) {
    RETURN_IF_ERROR(ctx.Allocate(0, data.dims()).takeError());
    return ctx.Allocate(1, splits.dims()).takeError();
  }
  int64_t rows = splits.dim(0) - 1, pieces = 0;
  if (splits.IntAt(0) != 0 || splits.IntAt(rows) != data.dim(0))
    return MakeError("data_splits must start with 0 and end with {0}, not {1} and {2}", data.dim(0),
                     splits.IntAt(0), splits.IntAt(rows));
  ASSIGN_OR_RETURN(Tensor * out_splits, ctx.Allocate(1, splits.dims()));
  auto set_split = [&](int64_t i, int64_t value) {
    if (out_splits->dtype() == proto::DT_INT32)
      out_splits->data<int32_t>()[i] = static_cast<int32_t>(value);
    else
      out_splits->data<int64_t>()[i] = value;
  };
  set_split(0, 0);
  std::vector<std::string> all;
  for (int64_t i = 0; i < rows; ++i) {
    int64_t begin = splits.IntAt(i), end = splits.IntAt(i + 1);
    if (end < begin || end > data.dim(0))
      return MakeError("data_splits must not decrease or exceed {0}: {1} follows {2}", data.dim(0),
                       end, begin);
    int64_t length = end - begin;
    llvm::ArrayRef<std::string> row(data.data<std::string>() + begin, length);
    size_t before = all.size();
    for (int64_t width : form.widths) {
      int64_t count = form.Count(length, width), work = 0;
      if (__builtin_mul_overflow(count, width, &work) || (pieces += work) > kMostPieces)
        return MakeError("n-grams of width {0} bring the total to more than {1} joined strings",
                         width, kMostPieces);
      for (int64_t k = 0; k < count; ++k)
        all.push_back(NGram(row, form, width, form.PadOf(width), k, count));
    }
    if (form.keep_short && all.size() == before && length > 0) AppendShort(row, form, &all);
    set_split(i + 1, static_cast<int64_t>(all.size()));
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {static_cast<int64_t>(all.size())}));
  std::move(all.begin(), all.end(), out->data<std::string>());
  return Error::success();
}

Expected<KernelFn> MakeStringNGrams(const KernelSetup& setup) {
  const Node& node = setup.node();
  NGrams form{node.GetString("separator"),  node.GetString("left_pad"),
              node.GetString("right_pad"),  node.GetInts("ngram_widths"),
              node.GetInt("pad_width", -1), node.GetBool("preserve_short_sequences")};
  constexpr int64_t kWidest = INT32_MAX;
  for (int64_t width : form.widths) {
    if (width < 1 || width > kWidest)
      return MakeError("ngram_widths must be positive and at most {0}, got {1}", kWidest, width);
  }
  if (form.pad > kMostPieces) return MakeError("pad_width {0} is above {1}", form.pad, kMostPieces);
  return KernelFn([form](KernelContext& ctx) { return StringNGrams(ctx, form); });
}

// --- ShardedFilespec

Error ShardedFilespec(KernelContext& ctx) {
  if (ctx.input(0).num_elements() != 1 || ctx.input(1).num_elements() != 1)
    return MakeError("basename and num_shards must have one element each");
  int64_t shards = ctx.input(1).IntAt(0);
  std::string count = std::to_string(shards);
  // Zeros extend the count to five characters, including its sign, which stays in front.
  if (count.size() < 5) count.insert(shards < 0 ? 1 : 0, 5 - count.size(), '0');
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<std::string>() = *ctx.input(0).data<std::string>() +
                              "-????"
                              "?-of-" +
                              count;
  return Error::success();
}

// --- Fingerprint

void PutHash(uint64_t hash, char* to) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(hash >> (8 * i));
}

// Computes the fingerprint of each row of the first dimension: of its bytes, of its single string,
// or of the hashes of its strings.
Error Fingerprint(KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &method = ctx.input(1);
  if (in.rank() < 1) return MakeError("input data must be at least a vector, not a scalar");
  if (method.num_elements() != 1 || *method.data<std::string>() != "farmhash64")
    return MakeError("unsupported fingerprint method: {0}", method.ToString());
  if (in.HoldsObjects())
    return MakeError("{0} has no fingerprint: its elements are objects, not bytes", in.ToString(0));
  int64_t rows = in.dim(0), width = rows > 0 ? in.num_elements() / rows : 0;
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {rows, 8}));
  char* to = static_cast<char*>(out->raw());
  std::string hashes(8 * width, '\0');
  size_t bytes = width * DataTypeSize(in.dtype());
  for (int64_t row = 0; row < rows; ++row) {
    if (in.dtype() != proto::DT_STRING) {
      PutHash(FarmHash({static_cast<const char*>(in.raw()) + row * bytes, bytes}), to + 8 * row);
      continue;
    }
    const std::string* strings = in.data<std::string>() + row * width;
    for (int64_t i = 0; i < width; ++i) PutHash(FarmHash(strings[i]), hashes.data() + 8 * i);
    PutHash(width == 1 ? FarmHash(strings[0]) : FarmHash(hashes), to + 8 * row);
  }
  return Error::success();
}

GRAPNEL_CPU_KERNEL("ReduceJoin", MakeReduceJoin);
GRAPNEL_CPU_KERNEL("StringNGrams", MakeStringNGrams);
GRAPNEL_CPU_KERNEL("ShardedFilespec", KernelOf<ShardedFilespec>, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("Fingerprint", KernelOf<Fingerprint>);

}  // namespace
}  // namespace grapnel
