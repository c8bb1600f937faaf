// Variables: handles and references, reads, assignments, counters and partial writes.
#include "kernels/cpu/state/variable.h"

#include "kernels/common/dispatch.h"
#include "kernels/common/indices.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/array/scatter.h"

namespace grapnel {

Expected<StoredVariable*> VariableIn(const KernelContext& ctx, int i) {
  const Tensor& tensor = ctx.input(i);
  if (tensor.dtype() == proto::DT_RESOURCE && tensor.num_elements() == 1) {
    if (auto* variable = dynamic_cast<StoredVariable*>(tensor.data<ObjectRef>()->get()))
      return variable;
  }
  return MakeError("input {0} is {1}, a variable was expected", i, tensor.ToString());
}

Error ChangeVariable(KernelContext& ctx, StoredVariable& variable,
                     llvm::function_ref<Error(Tensor& value)> change) {
  RETURN_IF_ERROR(variable.Read().takeError());
  return variable.Update([&](Tensor* value) -> Error {
    if (!value->OwnsAlone()) {
      ASSIGN_OR_RETURN(Tensor copy, ctx.Scratch(value->dtype(), value->dims()));
      CopyElements(copy.dtype(), value->raw(), copy.raw(), copy.num_elements());
      *value = std::move(copy);
    }
    return change(*value);
  });
}

namespace {

using NumericTypes = Join<NumberTypes, TypeList<bool>>;

Shape ShapeAttr(const KernelSetup& setup) {
  auto attr = setup.node().Attr("shape");
  return attr ? attr->AsShape().value_or(Shape()) : Shape();
}

// VarHandleOp, VariableV2, Variable. Without a shared_name, a variable has the name of its node.
Expected<KernelFn> MakeVariable(const KernelSetup& setup) {
  std::string name = setup.node().GetString("shared_name");
  if (name.empty()) name = setup.node().name().str();
  std::string container = setup.node().GetString("container");
  DataType dtype = setup.node().GetType("dtype");
  Shape shape = ShapeAttr(setup);
  return KernelFn([=](KernelContext& ctx) -> Error {
    if (!ctx.session()) return MakeError("variables need a session");
    ObjectRef object = ctx.session()->FindOrMake(
        container, name, [&] { return ObjectRef(new StoredVariable(name, dtype, shape)); });
    auto* variable = dynamic_cast<StoredVariable*>(object.get());
    if (!variable)
      return MakeError("'{0}' is {1}, a variable was expected", name, object->ToString());
    if (variable->dtype() != dtype) {
      return MakeError("variable '{0}' has dtype {1} here and {2} elsewhere", name,
                       DataTypeName(dtype), DataTypeName(variable->dtype()));
    }
    ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, std::move(object)));
    return Error::success();
  });
}

Expected<Tensor> ValueOf(const KernelContext& ctx, int i, DataType dtype) {
  ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, i));
  if (variable->dtype() != dtype) {
    return MakeError("variable '{0}' has dtype {1}, {2} was expected", variable->name(),
                     DataTypeName(variable->dtype()), DataTypeName(dtype));
  }
  return variable->Read();
}

Error Read(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    ASSIGN_OR_RETURN(Tensor value, ValueOf(ctx, i, ctx.output_type(i)));
    ctx.SetOutput(i, std::move(value));
  }
  return Error::success();
}

Expected<KernelFn> MakeAssign(const KernelSetup& setup) {
  // Assign checks the shape by default, AssignVariableOp only on request.
  bool checks = setup.node().GetBool("validate_shape", setup.num_outputs() > 0);
  bool is_reference = setup.num_outputs() > 0;
  return KernelFn([=](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
    const Tensor& value = ctx.input(1);
    if (value.dtype() != variable->dtype()) {
      return MakeError("{0} cannot be assigned to variable '{1}' of {2}",
                       DataTypeName(value.dtype()), variable->name(),
                       DataTypeName(variable->dtype()));
    }
    // In old graphs a shape without dimensions means unknown.
    const Shape& shape = variable->shape();
    bool known = shape.known_rank() && !(is_reference && shape.rank() == 0);
    bool fits = !known || shape.rank() == value.rank();
    for (int d = 0; known && fits && d < value.rank(); ++d)
      fits = !shape.IsKnown(d) || shape.dim(d) == value.dim(d);
    if (checks && !fits) {
      return MakeError("shape {0} cannot be assigned to variable '{1}' of shape {2}",
                       DimsText(value.dims()), variable->name(), shape.ToString());
    }
    variable->Set(ctx.TakeInput(1));
    PassReference(ctx);
    return Error::success();
  });
}

template <bool kAdds>
Error AssignBy(KernelContext& ctx) {
  ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
  const Tensor& delta = ctx.input(1);
  RETURN_IF_ERROR(ChangeVariable(ctx, *variable, [&](Tensor& value) -> Error {
    if (value.dtype() != delta.dtype() || value.dims() != delta.dims()) {
      return MakeError("variable '{0}' is {1}{2}, but the value to {5} is {3}{4}", variable->name(),
                       DataTypeName(value.dtype()), DimsText(value.dims()),
                       DataTypeName(delta.dtype()), DimsText(delta.dims()),
                       kAdds ? "add" : "subtract");
    }
    bool known = ForType(value.dtype(), NumberTypes(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = value.data<T>();
      const T* from = delta.data<T>();
      ctx.ParallelFor(value.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
        GRAPNEL_VECTORIZE
        for (int64_t i = begin; i < end; ++i)
          to[i] = kAdds ? AddOf(to[i], from[i]) : SubOf(to[i], from[i]);
      });
      return true;
    });
    return known ? Error::success()
                 : MakeError("AssignAdd and AssignSub do not support variables of {0}",
                             DataTypeName(value.dtype()));
  }));
  PassReference(ctx);
  return Error::success();
}

Error IsInitialized(KernelContext& ctx) {
  ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
  bool has_value = variable->Get().operator bool();
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<bool>() = has_value;
  return Error::success();
}

Error ShapeOf(KernelContext& ctx) {
  ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
  ASSIGN_OR_RETURN(Tensor value, variable->Read());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {value.rank()}));
  for (int i = 0; i < value.rank(); ++i) {
    if (out->dtype() == proto::DT_INT32)
      out->data<int32_t>()[i] = static_cast<int32_t>(value.dim(i));
    else
      out->data<int64_t>()[i] = value.dim(i);
  }
  return Error::success();
}

Expected<KernelFn> MakeDestroy(const KernelSetup& setup) {
  bool may_lack = setup.node().GetBool("ignore_lookup_error", true);
  return KernelFn([may_lack](KernelContext& ctx) -> Error {
    const Tensor& handle = ctx.input(0);
    const ObjectRef& object = handle.data<ObjectRef>()[0];
    if (object && ctx.session() && ctx.session()->Forget(*object)) return Error::success();
    return may_lack ? Error::success()
                    : MakeError("{0} is not a resource of the session", handle.ToString());
  });
}

// CountUpTo and ResourceCountUpTo: outputs the variable's value before the increment; fails at the
// limit.
Expected<KernelFn> MakeCountUpTo(const KernelSetup& setup) {
  int64_t limit = setup.node().GetInt("limit");
  bool fits = setup.output_type(0) == proto::DT_INT64 || limit == static_cast<int32_t>(limit);
  if (!fits) return MakeError("limit {0} does not fit into int32", limit);
  return KernelFn([limit](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
    return ChangeVariable(ctx, *variable, [&](Tensor& value) -> Error {
      if (value.rank() != 0 || value.dtype() != ctx.output_type(0))
        return MakeError("a counter must be a scalar of {0}, not {1}{2}",
                         DataTypeName(ctx.output_type(0)), DataTypeName(value.dtype()),
                         DimsText(value.dims()));
      if (value.IntAt(0) >= limit) return MakeError("the counter has reached its limit {0}", limit);
      bool is_int = value.dtype() == proto::DT_INT32;
      if (is_int) *out->data<int32_t>() = value.data<int32_t>()[0]++;
      if (!is_int) *out->data<int64_t>() = value.data<int64_t>()[0]++;
      return Error::success();
    });
  });
}

// Gathers rows of a variable, like GatherV2 along the axis after `batch_dims`.
Expected<KernelFn> MakeGather(const KernelSetup& setup) {
  int64_t batch = setup.node().GetInt("batch_dims");
  return KernelFn([batch](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Tensor value, ValueOf(ctx, 0, ctx.output_type(0)));
    const Tensor& indices = ctx.input(1);
    if (batch < 0 || batch > indices.rank() || batch >= value.rank()) {
      return MakeError(
          "batch_dims {0} is negative, or too large for a variable of shape {1} or indices of "
          "shape {2}",
          batch, DimsText(value.dims()), DimsText(indices.dims()));
    }
    if (value.dims().take_front(batch) != indices.dims().take_front(batch)) {
      return MakeError("the first {0} dimensions of shapes {1} and {2} differ", batch,
                       DimsText(value.dims()), DimsText(indices.dims()));
    }
    RETURN_IF_ERROR(CheckIndices(indices, value.dim(batch)));
    llvm::ArrayRef<int64_t> inner = value.dims().drop_front(batch + 1);
    Dims dims(indices.dims().begin(), indices.dims().end());
    dims.append(inner.begin(), inner.end());
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    int64_t row = NumElements(inner).value_or(0), rows = value.dim(batch);
    int64_t batches = NumElements(indices.dims().take_front(batch)).value_or(0);
    int64_t picks = batches ? indices.num_elements() / batches : 0;
    double cost = 3 + row * ElementSize(value.dtype()) * 0.1;
    ctx.ParallelFor(indices.num_elements(), cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t from = i / picks * rows + indices.IntAt(i);
        CopyElements(value.dtype(), At(value, from * row), At(*out, i * row), row);
      }
    });
    return Error::success();
  });
}

Error GatherNd(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Tensor value, ValueOf(ctx, 0, ctx.output_type(0)));
  ASSIGN_OR_RETURN(SliceOffsets slices, ReadSliceIndices(ctx.input(1), value.dims()));
  Dims dims = slices.batch;
  dims.append(slices.slice.begin(), slices.slice.end());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  for (size_t i = 0; i < slices.at.size(); ++i)
    CopyElements(value.dtype(), At(value, slices.at[i]), At(*out, i * slices.length),
                 slices.length);
  return Error::success();
}

// ScatterAdd and similar ops write rows of the first dimension, ScatterNdAdd and similar ops any
// slices.
template <Combine kHow, bool kByRow>
Error ScatterInto(KernelContext& ctx) {
  ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
  Tensor indices = ctx.input(1);
  const Tensor& updates = ctx.input(2);
  if (kByRow) {
    Dims dims(indices.dims().begin(), indices.dims().end());
    dims.push_back(1);
    indices = indices.Reshaped(dims);
  }
  RETURN_IF_ERROR(ChangeVariable(ctx, *variable, [&](Tensor& value) -> Error {
    if (value.dtype() != updates.dtype()) {
      return MakeError("variable '{0}' has dtype {1}, but the updates have dtype {2}",
                       variable->name(), DataTypeName(value.dtype()),
                       DataTypeName(updates.dtype()));
    }
    if (value.rank() == 0)
      return MakeError("variable '{0}' is a scalar: it has no slices to update", variable->name());
    return kByRow ? ScatterSlices(indices, updates, kHow, value, true)
                  : ScatterNdSlices(indices, updates, kHow, value);
  }));
  PassReference(ctx);
  return Error::success();
}

Error Nothing(KernelContext&) { return Error::success(); }

#define GRAPNEL_STATE_KERNEL(op, cost, make) GRAPNEL_CPU_KERNEL(op, make, cost)
GRAPNEL_STATE_KERNEL("VarHandleOp", KernelCost::kCheap, MakeVariable);
GRAPNEL_STATE_KERNEL("VariableV2", KernelCost::kCheap, MakeVariable);
GRAPNEL_STATE_KERNEL("Variable", KernelCost::kCheap, MakeVariable);
GRAPNEL_STATE_KERNEL("ReadVariableOp", KernelCost::kCheap, KernelOf<Read>);
GRAPNEL_STATE_KERNEL("_ReadVariablesOp", KernelCost::kCheap, KernelOf<Read>);
GRAPNEL_STATE_KERNEL("AssignVariableOp", KernelCost::kCheap, MakeAssign);
GRAPNEL_STATE_KERNEL("Assign", KernelCost::kCheap, MakeAssign);
GRAPNEL_STATE_KERNEL("AssignAddVariableOp", KernelCost::kElements, KernelOf<AssignBy<true>>);
GRAPNEL_STATE_KERNEL("AssignSubVariableOp", KernelCost::kElements, KernelOf<AssignBy<false>>);
GRAPNEL_STATE_KERNEL("AssignAdd", KernelCost::kElements, KernelOf<AssignBy<true>>);
GRAPNEL_STATE_KERNEL("AssignSub", KernelCost::kElements, KernelOf<AssignBy<false>>);
GRAPNEL_STATE_KERNEL("VarIsInitializedOp", KernelCost::kCheap, KernelOf<IsInitialized>);
GRAPNEL_STATE_KERNEL("IsVariableInitialized", KernelCost::kCheap, KernelOf<IsInitialized>);
GRAPNEL_STATE_KERNEL("VariableShape", KernelCost::kCheap, KernelOf<ShapeOf>);
GRAPNEL_STATE_KERNEL("DestroyResourceOp", KernelCost::kCheap, MakeDestroy);
GRAPNEL_STATE_KERNEL("DisableCopyOnRead", KernelCost::kCheap, KernelOf<Nothing>);
GRAPNEL_STATE_KERNEL("CountUpTo", KernelCost::kCheap, MakeCountUpTo);
GRAPNEL_STATE_KERNEL("ResourceCountUpTo", KernelCost::kCheap, MakeCountUpTo);
GRAPNEL_STATE_KERNEL("ResourceGather", KernelCost::kElements, MakeGather);
GRAPNEL_STATE_KERNEL("ResourceGatherNd", KernelCost::kElements, KernelOf<GatherNd>);

#define GRAPNEL_SCATTER_KERNEL(name, how)                      \
  GRAPNEL_STATE_KERNEL("Resource" name, KernelCost::kElements, \
                       (KernelOf<ScatterInto<how, true>>));    \
  GRAPNEL_STATE_KERNEL(name, KernelCost::kElements, (KernelOf<ScatterInto<how, true>>))
#define GRAPNEL_SCATTER_ND_KERNEL(name, how)                   \
  GRAPNEL_STATE_KERNEL("Resource" name, KernelCost::kElements, \
                       (KernelOf<ScatterInto<how, false>>));   \
  GRAPNEL_STATE_KERNEL(name, KernelCost::kElements, (KernelOf<ScatterInto<how, false>>))
GRAPNEL_SCATTER_KERNEL("ScatterUpdate", Combine::kUpdate);
GRAPNEL_SCATTER_KERNEL("ScatterAdd", Combine::kAdd);
GRAPNEL_SCATTER_KERNEL("ScatterSub", Combine::kSub);
GRAPNEL_SCATTER_KERNEL("ScatterMul", Combine::kMul);
GRAPNEL_SCATTER_KERNEL("ScatterDiv", Combine::kDiv);
GRAPNEL_SCATTER_KERNEL("ScatterMin", Combine::kMin);
GRAPNEL_SCATTER_KERNEL("ScatterMax", Combine::kMax);
GRAPNEL_SCATTER_ND_KERNEL("ScatterNdUpdate", Combine::kUpdate);
GRAPNEL_SCATTER_ND_KERNEL("ScatterNdAdd", Combine::kAdd);
GRAPNEL_SCATTER_ND_KERNEL("ScatterNdSub", Combine::kSub);
GRAPNEL_SCATTER_ND_KERNEL("ScatterNdMin", Combine::kMin);
GRAPNEL_SCATTER_ND_KERNEL("ScatterNdMax", Combine::kMax);

}  // namespace
}  // namespace grapnel
