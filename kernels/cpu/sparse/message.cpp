// Sparse tensors serialized as three strings or variants each: SerializeSparse,
// SerializeManySparse, DeserializeSparse, DeserializeManySparse; and stored in a map by handle:
// AddSparseToTensorsMap, AddManySparseToTensorsMap, TakeManySparseFromTensorsMap.
#include <algorithm>
#include <map>
#include <mutex>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/array/tensor_message.h"
#include "kernels/cpu/sparse/sparse_indices.h"
#include "kernels/cpu/state/variant_tensor.h"
#include "lib/exec/session.h"

namespace grapnel {
namespace {

struct Parts {
  Tensor indices, values, shape;
};

// --- To strings or variants

Error Pack(const Tensor& part, Tensor* to, int64_t i) {
  if (to->dtype() == proto::DT_VARIANT) {
    to->data<ObjectRef>()[i] = new TensorValue(part);
    return Error::success();
  }
  if (part.HoldsObjects())
    return MakeError("{0} cannot be serialized: its elements are objects, not values",
                     part.ToString(0));
  to->data<std::string>()[i] = TensorMessage(part, true);
  return Error::success();
}

Error PackAll(const Parts& parts, Tensor* to, int64_t i) {
  RETURN_IF_ERROR(Pack(parts.indices, to, i));
  RETURN_IF_ERROR(Pack(parts.values, to, i + 1));
  return Pack(parts.shape, to, i + 2);
}

Error SerializeSparse(KernelContext& ctx) {
  RETURN_IF_ERROR(CheckSparseTensor(ctx.input(0), &ctx.input(1), ctx.input(2)));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {3}));
  return PackAll({ctx.input(0), ctx.input(1), ctx.input(2)}, out, 0);
}

// Returns the rows of the first dimension as separate sparse tensors.
Expected<std::vector<Parts>> RowsOf(KernelContext& ctx) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1), &shape = ctx.input(2);
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, shape));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(shape));
  int64_t depth = static_cast<int64_t>(dims.size());
  if (depth < 2) return MakeError("rank of the input must be > 1, but is {0}", depth);
  RETURN_IF_ERROR(CheckSparseIndices(indices, dims, true));
  // Each row becomes a separate tensor, so a shape that claims billions of rows is an error.
  if (dims[0] > (int64_t{1} << 28))
    return MakeError(
        "{0} rows are too many to be separate tensors: at most 268435456 are supported", dims[0]);
  std::vector<std::vector<int64_t>> rows(dims[0]);
  for (int64_t i = 0; i < indices.dim(0); ++i)
    rows[indices.data<int64_t>()[i * depth]].push_back(i);
  ASSIGN_OR_RETURN(Tensor inner, ctx.Scratch(proto::DT_INT64, {depth - 1}));
  std::copy(dims.begin() + 1, dims.end(), inner.data<int64_t>());
  std::vector<Parts> all;
  all.reserve(rows.size());
  for (const std::vector<int64_t>& row : rows) {
    int64_t count = static_cast<int64_t>(row.size());
    Parts parts;
    ASSIGN_OR_RETURN(parts.indices, ctx.Scratch(proto::DT_INT64, {count, depth - 1}));
    ASSIGN_OR_RETURN(parts.values, ctx.Scratch(values.dtype(), {count}));
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(indices.data<int64_t>() + row[i] * depth + 1, depth - 1,
                  parts.indices.data<int64_t>() + i * (depth - 1));
      CopyElements(values.dtype(), At(values, row[i]), At(parts.values, i), 1);
    }
    parts.shape = inner;
    all.push_back(std::move(parts));
  }
  return all;
}

Error SerializeManySparse(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::vector<Parts> rows, RowsOf(ctx));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {static_cast<int64_t>(rows.size()), 3}));
  for (size_t i = 0; i < rows.size(); ++i)
    RETURN_IF_ERROR(PackAll(rows[i], out, static_cast<int64_t>(3 * i)));
  return Error::success();
}

// --- From strings or variants

Expected<Tensor> Unpack(KernelContext& ctx, const Tensor& from, int64_t i) {
  if (from.dtype() == proto::DT_STRING)
    return TensorOfMessage(from.data<std::string>()[i], ctx.allocator());
  if (auto* value = dynamic_cast<TensorValue*>(from.data<ObjectRef>()[i].get()))
    return value->tensor;
  return MakeError("element {0} of serialized_sparse does not hold a tensor", i);
}

Expected<Parts> UnpackAll(KernelContext& ctx, const Tensor& from, int64_t i, DataType dtype) {
  Parts parts;
  ASSIGN_OR_RETURN(parts.indices, Unpack(ctx, from, i));
  ASSIGN_OR_RETURN(parts.values, Unpack(ctx, from, i + 1));
  ASSIGN_OR_RETURN(parts.shape, Unpack(ctx, from, i + 2));
  if (parts.indices.dtype() != proto::DT_INT64 || parts.shape.dtype() != proto::DT_INT64)
    return MakeError("sparse tensor {0}: indices and shape must be int64, not {1} and {2}", i / 3,
                     DataTypeName(parts.indices.dtype()), DataTypeName(parts.shape.dtype()));
  if (parts.values.dtype() != dtype)
    return MakeError("sparse tensor {0}: requested type {1}, but the values are {2}", i / 3,
                     DataTypeName(dtype), DataTypeName(parts.values.dtype()));
  if (Error error = CheckSparseTensor(parts.indices, &parts.values, parts.shape))
    return Annotate("sparse tensor " + std::to_string(i / 3), std::move(error));
  return parts;
}

// Combines all tensors into one, with the dimensions `prefix` in front; the other sizes are the
// largest among them.
Error Join(KernelContext& ctx, llvm::ArrayRef<Parts> all, llvm::ArrayRef<int64_t> prefix) {
  int64_t inner = all[0].indices.dim(1), lead = static_cast<int64_t>(prefix.size()), count = 0;
  Dims dims(prefix.begin(), prefix.end());
  dims.resize(lead + inner, 0);
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].indices.dim(1) != inner)
      return MakeError(
          "inconsistent rank across sparse tensors: {0} in tensor 0, {1} in tensor {2}", inner,
          all[k].indices.dim(1), k);
    count += all[k].indices.dim(0);
    for (int64_t d = 0; d < inner; ++d)
      dims[lead + d] = std::max(dims[lead + d], all[k].shape.IntAt(d));
  }
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(0, {count, lead + inner}));
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(1, {count}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {lead + inner}));
  std::copy(dims.begin(), dims.end(), shape->data<int64_t>());
  Dims strides = RowMajorStrides(prefix);
  int64_t* to = indices->data<int64_t>();
  int64_t at = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    int64_t rows = all[k].indices.dim(0);
    for (int64_t i = 0; i < rows; ++i) {
      int64_t rest = static_cast<int64_t>(k);
      for (int64_t d = 0; d < lead; ++d) {
        *to++ = rest / strides[d];
        rest %= strides[d];
      }
      to = std::copy_n(all[k].indices.data<int64_t>() + i * inner, inner, to);
    }
    CopyElements(values->dtype(), all[k].values.raw(), At(*values, at), rows);
    at += rows;
  }
  return Error::success();
}

template <bool kMany>
Expected<KernelFn> MakeDeserialize(const KernelSetup& setup) {
  DataType dtype = setup.output_type(1);
  return KernelFn([dtype](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (in.rank() < 1 || in.dims().back() != 3 || (kMany && in.rank() != 2))
      return MakeError("serialized_sparse must {0} 3, got shape {1}",
                       kMany ? "be a matrix of width" : "have a last dimension of",
                       DimsText(in.dims()));
    if (in.num_elements() == 0) return MakeError("serialized_sparse must not be empty");
    std::vector<Parts> all;
    for (int64_t i = 0; i < in.num_elements(); i += 3) {
      ASSIGN_OR_RETURN(Parts parts, UnpackAll(ctx, in, i, dtype));
      all.push_back(std::move(parts));
    }
    if (in.rank() > 1) return Join(ctx, all, in.dims().drop_back());
    ctx.SetOutput(0, std::move(all[0].indices));
    ctx.SetOutput(1, std::move(all[0].values));
    ctx.SetOutput(2, std::move(all[0].shape));
    return Error::success();
  });
}

// --- By handle

class SparseMap : public Object {
 public:
  std::string ToString() const override { return "map of sparse tensors"; }
  int64_t Add(Parts parts) {
    std::lock_guard lock(mutex_);
    kept_.emplace(next_, std::move(parts));
    return next_++;
  }
  Expected<Parts> Take(int64_t handle) {
    std::lock_guard lock(mutex_);
    auto node = kept_.extract(handle);
    if (node.empty()) return MakeError("unable to find SparseTensor: {0} in map", handle);
    return std::move(node.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<int64_t, Parts> kept_;
  int64_t next_ = 0;
};

Expected<llvm::IntrusiveRefCntPtr<SparseMap>> MapOf(KernelContext& ctx, const Node& node) {
  std::string name = node.GetString("shared_name");
  if (name.empty()) name = node.name().str();
  if (!ctx.session()) return MakeError("maps of sparse tensors need a session");
  ObjectRef object = ctx.session()->FindOrMake(node.GetString("container"), name,
                                               [] { return ObjectRef(new SparseMap); });
  if (auto* map = dynamic_cast<SparseMap*>(object.get()))
    return llvm::IntrusiveRefCntPtr<SparseMap>(map);
  return MakeError("'{0}' is {1}, a map of sparse tensors was expected", name, object->ToString());
}

Expected<KernelFn> MakeAdd(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    RETURN_IF_ERROR(CheckSparseTensor(ctx.input(0), &ctx.input(1), ctx.input(2)));
    ASSIGN_OR_RETURN(auto map, MapOf(ctx, node));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
    *out->data<int64_t>() = map->Add({ctx.input(0), ctx.input(1), ctx.input(2)});
    return Error::success();
  });
}

Expected<KernelFn> MakeAddMany(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(std::vector<Parts> rows, RowsOf(ctx));
    ASSIGN_OR_RETURN(auto map, MapOf(ctx, node));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {static_cast<int64_t>(rows.size())}));
    for (size_t i = 0; i < rows.size(); ++i) out->data<int64_t>()[i] = map->Add(std::move(rows[i]));
    return Error::success();
  });
}

Expected<KernelFn> MakeTakeMany(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    const Tensor& handles = ctx.input(0);
    if (handles.rank() != 1 || handles.dim(0) < 1)
      return MakeError("sparse_handles must be a vector of at least one element, got shape {0}",
                       DimsText(handles.dims()));
    ASSIGN_OR_RETURN(auto map, MapOf(ctx, node));
    std::vector<Parts> all;
    for (int64_t i = 0; i < handles.dim(0); ++i) {
      ASSIGN_OR_RETURN(Parts parts, map->Take(handles.IntAt(i)));
      if (parts.values.dtype() != ctx.output_type(1))
        return MakeError("requested type {0}, but handle {1} has values of {2}",
                         DataTypeName(ctx.output_type(1)), handles.IntAt(i),
                         DataTypeName(parts.values.dtype()));
      all.push_back(std::move(parts));
    }
    return Join(ctx, all, handles.dims());
  });
}

#define GRAPNEL_MESSAGE_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make)
GRAPNEL_MESSAGE_KERNEL("SerializeSparse", KernelOf<SerializeSparse>);
GRAPNEL_MESSAGE_KERNEL("SerializeManySparse", KernelOf<SerializeManySparse>);
GRAPNEL_MESSAGE_KERNEL("DeserializeSparse", MakeDeserialize<false>);
GRAPNEL_MESSAGE_KERNEL("DeserializeManySparse", MakeDeserialize<true>);
GRAPNEL_MESSAGE_KERNEL("AddSparseToTensorsMap", MakeAdd);
GRAPNEL_MESSAGE_KERNEL("AddManySparseToTensorsMap", MakeAddMany);
GRAPNEL_MESSAGE_KERNEL("TakeManySparseFromTensorsMap", MakeTakeMany);

}  // namespace
}  // namespace grapnel
