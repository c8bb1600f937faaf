// Optimizer ops: one step on a variable and its slots, dense (ApplyAdam, ResourceApplyAdam) or by
// row (SparseApplyAdagrad, ResourceSparseApplyAdagrad).
#include "kernels/common/dispatch.h"
#include "kernels/common/indices.h"
#include "kernels/cpu/state/optimizer_rules.h"
#include "kernels/cpu/state/variable.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using optimizer::Flags;

// The inputs of an op, sorted by kind. A layout has one letter per input: v a variable, s a scalar,
// n an integer scalar, g the gradient, which row indices follow in sparse ops.
struct Inputs {
  std::vector<StoredVariable*> variables;
  std::vector<const Tensor*> scalars;
  const Tensor* gradient = nullptr;
  const Tensor* indices = nullptr;
  int64_t step = 0;
};

Expected<Inputs> Sort(const KernelContext& ctx, llvm::StringRef layout, DataType dtype,
                      bool sparse) {
  Inputs in;
  int i = 0;
  for (char kind : layout) {
    if (kind == 'v') {
      ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, i));
      if (variable->dtype() != dtype) {
        return MakeError("variable '{0}' has dtype {1}, {2} was expected", variable->name(),
                         DataTypeName(variable->dtype()), DataTypeName(dtype));
      }
      if (llvm::is_contained(in.variables, variable))
        return MakeError("variable '{0}' is given twice", variable->name());
      in.variables.push_back(variable);
    } else if (kind == 'g') {
      in.gradient = &ctx.input(i);
      if (sparse) in.indices = &ctx.input(++i);
    } else {
      const Tensor& scalar = ctx.input(i);
      if (scalar.rank() != 0)
        return MakeError("input {0} is of shape {1}, a scalar was expected", i,
                         DimsText(scalar.dims()));
      if (kind == 'n')
        in.step = scalar.IntAt(0);
      else
        in.scalars.push_back(&scalar);
    }
    ++i;
  }
  return in;
}

// Calls `change` with writable values of the variables. Locks them in address order, so that two
// ops with the same variables cannot deadlock.
Error ChangeAll(KernelContext& ctx, llvm::ArrayRef<StoredVariable*> variables,
                llvm::ArrayRef<size_t> order, llvm::MutableArrayRef<Tensor*> values,
                llvm::function_ref<Error()> change) {
  if (order.empty()) return change();
  return ChangeVariable(ctx, *variables[order[0]], [&](Tensor& value) {
    values[order[0]] = &value;
    return ChangeAll(ctx, variables, order.drop_front(), values, change);
  });
}

Error CheckShapes(const Inputs& in, llvm::ArrayRef<Tensor*> values) {
  llvm::ArrayRef<int64_t> dims = values[0]->dims();
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i]->dims() == dims) continue;
    return MakeError("variables '{0}' and '{1}' are of different shapes, {2} and {3}",
                     in.variables[0]->name(), in.variables[i]->name(), DimsText(dims),
                     DimsText(values[i]->dims()));
  }
  const Tensor& gradient = *in.gradient;
  if (!in.indices) {
    if (gradient.dims() == dims) return Error::success();
    return MakeError("a gradient of shape {0} does not fit variable '{1}' of shape {2}",
                     DimsText(gradient.dims()), in.variables[0]->name(), DimsText(dims));
  }
  if (dims.empty())
    return MakeError("variable '{0}' is a scalar: it has no rows to update",
                     in.variables[0]->name());
  if (in.indices->rank() != 1)
    return MakeError("indices of shape {0}, a vector was expected", DimsText(in.indices->dims()));
  if (gradient.rank() != values[0]->rank() || gradient.dim(0) != in.indices->dim(0) ||
      gradient.dims().drop_front() != dims.drop_front()) {
    return MakeError("a gradient of shape {0} does not fit {1} rows of variable '{2}' of shape {3}",
                     DimsText(gradient.dims()), in.indices->dim(0), in.variables[0]->name(),
                     DimsText(dims));
  }
  return CheckIndices(*in.indices, dims[0]);
}

// Applies an update rule, made from an op's scalars, to elements [begin, end) of the variable and
// its slots; the gradient's elements start at `g`. The function is small because it is instantiated
// for each rule and dtype, and everything else only for each dtype.
template <typename T>
using StepFn = void (*)(const T* scalars, int64_t step, Flags flags, llvm::ArrayRef<T*> slots,
                        const T* g, int64_t begin, int64_t end);

template <typename Rule, typename T>
void Step(const T* scalars, int64_t step, Flags flags, llvm::ArrayRef<T*> slots, const T* g,
          int64_t begin, int64_t end) {
  const Rule rule(scalars, step, flags);
  constexpr int n = Rule::kSlots;
  T* var = slots[0] + begin;
  T* a = n > 1 ? slots[1] + begin : nullptr;
  T* b = n > 2 ? slots[2] + begin : nullptr;
  T* c = n > 3 ? slots[3] + begin : nullptr;
  int64_t size = end - begin;
  GRAPNEL_VECTORIZE
  for (int64_t i = 0; i < size; ++i) {
    if constexpr (n == 1) rule(var[i], g[i]);
    if constexpr (n == 2) rule(var[i], a[i], g[i]);
    if constexpr (n == 3) rule(var[i], a[i], b[i], g[i]);
    if constexpr (n == 4) rule(var[i], a[i], b[i], c[i], g[i]);
  }
}

// The form of an optimizer op: its input layout, its attributes, whether its gradient has rows.
struct Form {
  llvm::StringRef layout;
  Flags flags;
  bool sparse;
  bool is_proximal = false, is_ftrl = false;  // their scalars have bounds
};

// Checks the bounds of proximal Adagrad and of sparse FTRL: the scalars are lr, the regularization
// strengths, and FTRL's lr_power.
Error CheckBounds(const Form& form, llvm::ArrayRef<const Tensor*> scalars) {
  if (!form.is_proximal && !(form.is_ftrl && form.sparse)) return Error::success();
  double lr = scalars[0]->ToLiteral().AsDouble(0);
  bool may_be_zero = form.is_ftrl && form.flags.times_lr;
  if (!(lr > 0 || (may_be_zero && lr >= 0)))
    return MakeError("lr is {0}, {1} was expected", lr,
                     may_be_zero ? "0 or more" : "a positive number");
  size_t strengths = scalars.size() - (form.is_ftrl ? 1 : 0);
  for (size_t i = 1; i < strengths; ++i) {
    double strength = scalars[i]->ToLiteral().AsDouble(0);
    if (!(strength >= 0))
      return MakeError("a strength of regularization is {0}, 0 or more was expected", strength);
  }
  double power = form.is_ftrl ? scalars.back()->ToLiteral().AsDouble(0) : 0;
  if (!form.is_ftrl || power <= 0) return Error::success();
  return MakeError("lr_power is {0}, 0 or less was expected", power);
}

template <typename T>
Error Apply(KernelContext& ctx, const Form& form, StepFn<T> step) {
  ASSIGN_OR_RETURN(Inputs in, Sort(ctx, form.layout, DataTypeOf<T>(), form.sparse));
  RETURN_IF_ERROR(CheckBounds(form, in.scalars));
  std::vector<T> scalars;
  for (const Tensor* scalar : in.scalars) scalars.push_back(*scalar->data<T>());
  std::vector<size_t> order(in.variables.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::less<StoredVariable*>()(in.variables[a], in.variables[b]);
  });
  std::vector<Tensor*> values(order.size());
  RETURN_IF_ERROR(ChangeAll(ctx, in.variables, order, values, [&]() -> Error {
    RETURN_IF_ERROR(CheckShapes(in, values));
    std::vector<T*> slots;
    slots.reserve(values.size());
    for (Tensor* value : values) slots.push_back(value->data<T>());
    const T* g = in.gradient->data<T>();
    if (!form.sparse) {
      ctx.ParallelFor(values[0]->num_elements(), 2, [&](int64_t begin, int64_t end) {
        step(scalars.data(), in.step, form.flags, slots, g + begin, begin, end);
      });
      return Error::success();
    }
    // Duplicate rows are applied one after the other.
    int64_t rows = in.indices->num_elements();
    int64_t width = rows ? in.gradient->num_elements() / rows : 0;
    for (int64_t k = 0; k < rows; ++k) {
      int64_t row = in.indices->IntAt(k);
      step(scalars.data(), in.step, form.flags, slots, g + k * width, row * width,
           (row + 1) * width);
    }
    return Error::success();
  }));
  PassReference(ctx);
  return Error::success();
}

struct Layout {
  const char* letters;
};

Flags FlagsOf(const Node& node, bool of_rows) {
  Flags flags;
  flags.nesterov = node.GetBool("use_nesterov");
  flags.update_slots = node.GetBool("update_slots", true);
  flags.times_lr = node.GetBool("multiply_linear_by_lr");
  flags.of_rows = of_rows;
  return flags;
}

template <typename T>
KernelFn KernelOf(const Form& form, StepFn<T> step) {
  return [form, step](KernelContext& ctx) { return Apply<T>(ctx, form, step); };
}

template <template <typename> class Rule, typename Types, const Layout& kLayout, bool kSparse>
Expected<KernelFn> MakeOptimizer(const KernelSetup& setup) {
  const Node& node = setup.node();
  Form form{kLayout.letters, FlagsOf(node, kSparse), kSparse};
  form.is_proximal = node.op().ends_with("ProximalAdagrad");
  form.is_ftrl = node.op().contains("Ftrl");
  KernelFn fn;
  ForType(node.GetType("T"), Types(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = KernelOf<T>(form, Step<Rule<T>, T>);
    return true;
  });
  return fn;
}

using FloatsAndDoubles = TypeList<float, double>;
using NoBfloat16 = TypeList<float, double, Eigen::half>;
using NoBfloat16OrComplex = Join<NoBfloat16, ComplexTypes>;

#define GRAPNEL_OPTIMIZER_KERNEL(op, rule, types, sparse)                                  \
  GRAPNEL_CPU_KERNEL(op, (MakeOptimizer<optimizer::rule, types, kLayoutOf##rule, sparse>), \
                     OfTypes("T", DataTypesOf(types())))
#define GRAPNEL_OPTIMIZER(rule, types, letters) \
  constexpr Layout kLayoutOf##rule{letters};    \
  GRAPNEL_OPTIMIZER_KERNEL("ResourceApply" #rule, rule, types, false)
#define GRAPNEL_OLD_OPTIMIZER(rule, types) \
  GRAPNEL_OPTIMIZER_KERNEL("Apply" #rule, rule, types, false)
#define GRAPNEL_SPARSE_OPTIMIZER(rule, types) \
  GRAPNEL_OPTIMIZER_KERNEL("ResourceSparseApply" #rule, rule, types, true)
#define GRAPNEL_OLD_SPARSE_OPTIMIZER(rule, types) \
  GRAPNEL_OPTIMIZER_KERNEL("SparseApply" #rule, rule, types, true)
#define GRAPNEL_BOTH_OPTIMIZERS(rule, types, letters) \
  GRAPNEL_OPTIMIZER(rule, types, letters);            \
  GRAPNEL_OLD_OPTIMIZER(rule, types)
#define GRAPNEL_ALL_OPTIMIZERS(rule, types, letters, sparse_types) \
  GRAPNEL_BOTH_OPTIMIZERS(rule, types, letters);                   \
  GRAPNEL_SPARSE_OPTIMIZER(rule, sparse_types);                    \
  GRAPNEL_OLD_SPARSE_OPTIMIZER(rule, sparse_types)

GRAPNEL_BOTH_OPTIMIZERS(GradientDescent, FloatOrComplexTypes, "vsg");
GRAPNEL_ALL_OPTIMIZERS(Momentum, FloatOrComplexTypes, "vvsgs", FloatOrComplexTypes);
GRAPNEL_OPTIMIZER(KerasMomentum, FloatOrComplexTypes, "vvsgs");
GRAPNEL_SPARSE_OPTIMIZER(KerasMomentum, FloatOrComplexTypes);
GRAPNEL_BOTH_OPTIMIZERS(Adam, FloatOrComplexTypes, "vvvssssssg");
GRAPNEL_OPTIMIZER(AdamWithAmsgrad, FloatTypes, "vvvvssssssg");
GRAPNEL_BOTH_OPTIMIZERS(AdaMax, NoBfloat16, "vvvsssssg");
GRAPNEL_ALL_OPTIMIZERS(Adagrad, FloatOrComplexTypes, "vvsg", FloatOrComplexTypes);
GRAPNEL_ALL_OPTIMIZERS(AdagradV2, FloatOrComplexTypes, "vvssg", FloatOrComplexTypes);
GRAPNEL_ALL_OPTIMIZERS(AdagradDA, FloatsAndDoubles, "vvvgsssn", FloatsAndDoubles);
GRAPNEL_ALL_OPTIMIZERS(Adadelta, FloatOrComplexTypes, "vvvsssg", FloatOrComplexTypes);
GRAPNEL_ALL_OPTIMIZERS(RMSProp, FloatOrComplexTypes, "vvvssssg", NoBfloat16OrComplex);
GRAPNEL_ALL_OPTIMIZERS(CenteredRMSProp, FloatOrComplexTypes, "vvvvssssg", NoBfloat16OrComplex);
GRAPNEL_ALL_OPTIMIZERS(Ftrl, FloatTypes, "vvvgssss", FloatTypes);
GRAPNEL_ALL_OPTIMIZERS(FtrlV2, FloatTypes, "vvvgsssss", FloatTypes);
GRAPNEL_ALL_OPTIMIZERS(ProximalGradientDescent, FloatsAndDoubles, "vsssg", FloatsAndDoubles);
GRAPNEL_ALL_OPTIMIZERS(ProximalAdagrad, FloatsAndDoubles, "vvsssg", FloatsAndDoubles);
GRAPNEL_BOTH_OPTIMIZERS(AddSign, FloatTypes, "vvssssg");
GRAPNEL_BOTH_OPTIMIZERS(PowerSign, FloatTypes, "vvssssg");

}  // namespace
}  // namespace grapnel
