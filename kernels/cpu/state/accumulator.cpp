// Gradient accumulators, dense (ConditionalAccumulator, ResourceConditionalAccumulator) and sparse
// (SparseConditionalAccumulator): drop gradients older than the accumulator's step, sum the others,
// and return their mean or sum once there are enough.
//
// No kernel waits: too few gradients are an error, because nothing else in the run could add more.
#include <mutex>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/state/tensor_list.h"
#include "lib/exec/session.h"

namespace grapnel {
namespace {

using GradientTypes = TypeList<float, double, Eigen::half>;

class Accumulator : public Object {
 public:
  std::string ToString() const override {
    return llvm::formatv("accumulator '{0}' of {1} gradients", name, count).str();
  }

  std::mutex mutex;
  std::string name;
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  bool is_sparse = false, is_mean = true;
  int64_t count = 0, step = 0;
  Tensor sum;  // in a sparse one, one row per index
  std::vector<int64_t> indices, counts;
};
using AccumulatorRef = llvm::IntrusiveRefCntPtr<Accumulator>;

Expected<Accumulator*> AccumulatorIn(const KernelContext& ctx, bool sparse) {
  const Tensor& tensor = ctx.input(0);
  Accumulator* accumulator = nullptr;
  if (tensor.dtype() == proto::DT_RESOURCE && tensor.num_elements() == 1)
    accumulator = dynamic_cast<Accumulator*>(tensor.data<ObjectRef>()->get());
  if (accumulator && accumulator->is_sparse == sparse) return accumulator;
  return MakeError("input 0 is {0}, a {1} accumulator was expected", tensor.ToString(),
                   sparse ? "sparse" : "dense");
}

Expected<Accumulator*> AnyAccumulatorIn(const KernelContext& ctx) {
  const Tensor& tensor = ctx.input(0);
  bool sparse = false;
  if (tensor.dtype() == proto::DT_RESOURCE && tensor.num_elements() == 1) {
    auto* object = dynamic_cast<Accumulator*>(tensor.data<ObjectRef>()->get());
    sparse = object && object->is_sparse;
  }
  return AccumulatorIn(ctx, sparse);
}

Expected<AccumulatorRef> FromAttrs(const Node& node, bool sparse) {
  AccumulatorRef accumulator(new Accumulator);
  accumulator->name = node.GetString("shared_name");
  if (accumulator->name.empty()) accumulator->name = node.name().str();
  if (auto dtype = node.Attr("dtype"))
    accumulator->dtype = dtype->AsType().value_or(proto::DT_INVALID);
  if (auto shape = node.Attr("shape")) accumulator->shape = shape->AsShape().value_or(Shape());
  accumulator->is_sparse = sparse;
  std::string reduction = node.GetString("reduction_type", "MEAN");
  if (reduction != "MEAN" && reduction != "SUM")
    return MakeError("reduction_type '{0}' is not MEAN or SUM", reduction);
  accumulator->is_mean = reduction == "MEAN";
  return accumulator;
}

template <bool sparse>
Expected<KernelFn> MakeAccumulator(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(AccumulatorRef model, FromAttrs(setup.node(), sparse));
  std::string container = setup.node().GetString("container");
  return KernelFn([model, container](KernelContext& ctx) -> Error {
    if (!ctx.session()) return MakeError("accumulators need a session");
    ObjectRef object =
        ctx.session()->FindOrMake(container, model->name, [&] { return ObjectRef(model); });
    auto* accumulator = dynamic_cast<Accumulator*>(object.get());
    if (!accumulator || accumulator->is_sparse != sparse)
      return MakeError("'{0}' is {1}, a {2} accumulator was expected", model->name,
                       object->ToString(), sparse ? "sparse" : "dense");
    ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, std::move(object)));
    return Error::success();
  });
}

// --- Sums

// Add computes `to` += `from`, both of `dtype`; Divide computes `values` /= `by`.
void Add(const void* from, void* to, DataType dtype, int64_t n) {
  ForType(dtype, GradientTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(to)[i] += static_cast<const T*>(from)[i];
    return true;
  });
}
void Divide(void* values, DataType dtype, int64_t n, int64_t by) {
  ForType(dtype, GradientTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(values)[i] /= static_cast<T>(by);
    return true;
  });
}

Expected<Tensor> CopyOf(KernelContext& ctx, const Tensor& tensor) {
  ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(tensor.dtype(), tensor.dims(), ctx.allocator()));
  CopyElements(tensor.dtype(), tensor.raw(), copy.raw(), tensor.num_elements());
  return copy;
}

Error CheckGradient(const Accumulator& accumulator, const Tensor& gradient, const Tensor& step) {
  if (step.num_elements() != 1) return MakeError("local_step must have one element");
  if (gradient.dtype() == accumulator.dtype) return Error::success();
  return MakeError("the gradient has dtype {0}, but accumulator '{1}' expects {2}",
                   DataTypeName(gradient.dtype()), accumulator.name,
                   DataTypeName(accumulator.dtype));
}

Error Apply(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Accumulator * to, AccumulatorIn(ctx, false));
  const Tensor& gradient = ctx.input(2);
  std::lock_guard lock(to->mutex);
  RETURN_IF_ERROR(CheckGradient(*to, gradient, ctx.input(1)));
  if (ctx.input(1).IntAt(0) < to->step) return Error::success();
  bool same = to->count == 0 || to->sum.dims() == gradient.dims();
  if (!same || !Fits(gradient.dims(), to->shape))
    return MakeError("shape mismatch: expected {0}, got {1}",
                     same ? to->shape.ToString() : DimsText(to->sum.dims()),
                     DimsText(gradient.dims()));
  if (to->count == 0) {
    ASSIGN_OR_RETURN(to->sum, CopyOf(ctx, gradient));
  } else {
    Add(gradient.raw(), to->sum.raw(), to->dtype, gradient.num_elements());
  }
  ++to->count;
  return Error::success();
}

// Checks that there are enough gradients to take.
Error CheckEnough(const KernelContext& ctx, const Accumulator& from) {
  if (ctx.input(1).num_elements() != 1) return MakeError("num_required must have one element");
  int64_t wanted = ctx.input(1).IntAt(0);
  if (wanted <= 0) return MakeError("num_required must be positive, but was {0}", wanted);
  if (from.count >= wanted) return Error::success();
  return MakeError(
      "accumulator '{0}' has {1} gradients, {2} were requested: ops do not wait, so an earlier op "
      "or run must add more",
      from.name, from.count, wanted);
}

Error Take(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Accumulator * from, AccumulatorIn(ctx, false));
  std::lock_guard lock(from->mutex);
  RETURN_IF_ERROR(CheckEnough(ctx, *from));
  if (ctx.output_type(0) != from->dtype)
    return MakeError("accumulator '{0}' has dtype {1}, {2} was expected", from->name,
                     DataTypeName(from->dtype), DataTypeName(ctx.output_type(0)));
  if (from->is_mean) Divide(from->sum.raw(), from->dtype, from->sum.num_elements(), from->count);
  ctx.SetOutput(0, std::move(from->sum));
  from->sum = Tensor();
  from->count = 0;
  from->step = AddOf<int64_t>(from->step, 1);  // may wrap: a graph can set the largest step
  return Error::success();
}

Error SetStep(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Accumulator * accumulator, AnyAccumulatorIn(ctx));
  if (ctx.input(1).num_elements() != 1) return MakeError("new_global_step must have one element");
  std::lock_guard lock(accumulator->mutex);
  accumulator->step = ctx.input(1).IntAt(0);
  return Error::success();
}

Error Count(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Accumulator * accumulator, AnyAccumulatorIn(ctx));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  std::lock_guard lock(accumulator->mutex);
  *out->data<int32_t>() = static_cast<int32_t>(accumulator->count);
  return Error::success();
}

// --- Sparse accumulators: rows with indices, in order

Error CheckRows(const Accumulator& to, const Tensor& indices, const Tensor& rows,
                const Tensor& shape, bool known_shape) {
  if (indices.rank() != 1 || rows.rank() < 1 || rows.dim(0) != indices.dim(0))
    return MakeError(
        "expected a vector of indices and a row of values for each, got shapes {0} and {1}",
        DimsText(indices.dims()), DimsText(rows.dims()));
  if (to.count > 0 && rows.dims().drop_front() != to.sum.dims().drop_front())
    return MakeError("shape mismatch: expected rows as in shape {0}, got shape {1}",
                     DimsText(to.sum.dims()), DimsText(rows.dims()));
  // In the gradient's shape, a negative size does not count as unknown, and dimensions beyond the
  // accumulator's rank are ignored.
  Dims said = known_shape ? Dims(IntsOf(shape)) : Dims();
  for (int d = 0; known_shape && to.shape.known_rank() && d < to.shape.rank(); ++d) {
    bool fits =
        d < static_cast<int>(said.size()) && (to.shape.dim(d) < 0 || said[d] == to.shape.dim(d));
    if (!fits)
      return MakeError("shape mismatch: expected {0}, got {1}", to.shape.ToString(),
                       IntsText(said));
  }
  if (!to.shape.known_rank() || to.shape.rank() == 0) return Error::success();
  if (to.shape.rank() > rows.rank())
    return MakeError("shape mismatch: expected values rank at least {0}, got {1}", to.shape.rank(),
                     rows.rank());
  for (int d = 1; d < to.shape.rank(); ++d) {
    if (to.shape.dim(d) >= 0 && to.shape.dim(d) != rows.dim(d))
      return MakeError("shape mismatch: expected values dim {0} to be {1}, got {2}", d,
                       to.shape.dim(d), rows.dim(d));
  }
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    if (to.shape.dim(0) >= 0 && indices.IntAt(i) >= to.shape.dim(0))
      return MakeError(
          "shape mismatch: index of slice {0} exceeded limits of shape; index is {1}, "
          "the limit {2}",
          i, indices.IntAt(i), to.shape.dim(0));
  }
  return Error::success();
}

// Merges the given rows into those of the accumulator and adds rows with the same index. Both must
// be sorted, which is not checked.
Error Merge(KernelContext& ctx, Accumulator& to, const Tensor& indices, const Tensor& rows) {
  struct Source {
    int64_t old = -1, added = -1;
  };
  std::vector<Source> sources;
  std::vector<int64_t> merged, counts;
  int64_t old_count = static_cast<int64_t>(to.indices.size()), count = indices.num_elements();
  for (int64_t i = 0, j = 0; i < old_count || j < count;) {
    bool take_old = i < old_count && (j == count || to.indices[i] <= indices.IntAt(j));
    bool take_added = j < count && (i == old_count || indices.IntAt(j) <= to.indices[i]);
    sources.push_back({take_old ? i : -1, take_added ? j : -1});
    merged.push_back(take_old ? to.indices[i] : indices.IntAt(j));
    counts.push_back((take_old ? to.counts[i] : 0) + (take_added ? 1 : 0));
    i += take_old ? 1 : 0;
    j += take_added ? 1 : 0;
  }
  Dims dims(rows.dims().begin(), rows.dims().end());
  dims[0] = static_cast<int64_t>(merged.size());
  ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(to.dtype, dims, ctx.allocator()));
  int64_t row = NumElements(rows.dims().drop_front()).value_or(0);
  for (size_t k = 0; k < sources.size(); ++k) {
    void* place = At(sum, static_cast<int64_t>(k) * row);
    const Source& source = sources[k];
    const void* first =
        source.old >= 0 ? At(to.sum, source.old * row) : At(rows, source.added * row);
    CopyElements(to.dtype, first, place, row);
    if (source.old >= 0 && source.added >= 0)
      Add(At(rows, source.added * row), place, to.dtype, row);
  }
  to.sum = std::move(sum);
  to.indices = std::move(merged);
  to.counts = std::move(counts);
  return Error::success();
}

Expected<KernelFn> MakeSparseApply(const KernelSetup& setup) {
  return KernelFn([known = setup.node().GetBool("has_known_shape")](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Accumulator * to, AccumulatorIn(ctx, true));
    const Tensor &indices = ctx.input(2), &rows = ctx.input(3);
    std::lock_guard lock(to->mutex);
    RETURN_IF_ERROR(CheckGradient(*to, rows, ctx.input(1)));
    if (ctx.input(1).IntAt(0) < to->step) return Error::success();
    RETURN_IF_ERROR(CheckRows(*to, indices, rows, ctx.input(4), known));
    if (to->count == 0) {
      to->indices.assign(indices.data<int64_t>(), indices.data<int64_t>() + indices.num_elements());
      to->counts.assign(indices.num_elements(), 1);
      ASSIGN_OR_RETURN(to->sum, CopyOf(ctx, rows));
    } else {
      RETURN_IF_ERROR(Merge(ctx, *to, indices, rows));
    }
    ++to->count;
    return Error::success();
  });
}

Error SparseTake(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Accumulator * from, AccumulatorIn(ctx, true));
  std::lock_guard lock(from->mutex);
  RETURN_IF_ERROR(CheckEnough(ctx, *from));
  if (ctx.output_type(1) != from->dtype)
    return MakeError("accumulator '{0}' has dtype {1}, {2} was expected", from->name,
                     DataTypeName(from->dtype), DataTypeName(ctx.output_type(1)));
  auto rows = static_cast<int64_t>(from->indices.size());
  int64_t row = NumElements(from->sum.dims().drop_front()).value_or(0);
  // Divides each row by the number of gradients that contain it.
  for (int64_t i = 0; i < rows && from->is_mean; ++i)
    Divide(At(from->sum, i * row), from->dtype, row, from->counts[i]);
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(0, {rows}));
  std::copy(from->indices.begin(), from->indices.end(), indices->data<int64_t>());
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {from->sum.rank()}));
  for (int d = 0; d < from->sum.rank(); ++d) shape->data<int64_t>()[d] = from->sum.dim(d);
  bool known = from->shape.known_rank() && from->shape.rank() > 0;
  shape->data<int64_t>()[0] = known ? from->shape.dim(0) : -1;
  ctx.SetOutput(1, std::move(from->sum));
  from->sum = Tensor();
  from->count = 0;
  from->step = AddOf<int64_t>(from->step, 1);  // may wrap: a graph can set the largest step
  return Error::success();
}

#define GRAPNEL_ACCUMULATOR_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make)
#define GRAPNEL_MAKER_KERNEL(op, sparse)                                                          \
  GRAPNEL_CPU_KERNEL(op, MakeAccumulator<sparse>, OfTypes("dtype", DataTypesOf(GradientTypes())), \
                     KernelCost::kCheap)
GRAPNEL_MAKER_KERNEL("ConditionalAccumulator", false);
GRAPNEL_MAKER_KERNEL("ResourceConditionalAccumulator", false);
GRAPNEL_MAKER_KERNEL("SparseConditionalAccumulator", true);
#define GRAPNEL_DENSE_KERNELS(prefix)                                    \
  GRAPNEL_ACCUMULATOR_KERNEL(prefix "ApplyGradient", KernelOf<Apply>);   \
  GRAPNEL_ACCUMULATOR_KERNEL(prefix "TakeGradient", KernelOf<Take>);     \
  GRAPNEL_ACCUMULATOR_KERNEL(prefix "SetGlobalStep", KernelOf<SetStep>); \
  GRAPNEL_ACCUMULATOR_KERNEL(prefix "NumAccumulated", KernelOf<Count>)
GRAPNEL_DENSE_KERNELS("Accumulator");
GRAPNEL_DENSE_KERNELS("ResourceAccumulator");
GRAPNEL_ACCUMULATOR_KERNEL("SparseAccumulatorApplyGradient", MakeSparseApply);
GRAPNEL_ACCUMULATOR_KERNEL("SparseAccumulatorTakeGradient", KernelOf<SparseTake>);

}  // namespace
}  // namespace grapnel
