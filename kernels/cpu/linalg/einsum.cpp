// Einsum: reorders each operand to [batch, rows, columns] and computes a batch of matrix products.
//
// A label of only one operand that the result lacks is summed during the reordering. A label that
// an operand repeats is traversed with the sum of its strides, which is the diagonal; a label that
// the result repeats is written the same way.
#include <algorithm>
#include <map>
#include <vector>

#include "kernels/cpu/linalg/gemm.h"
#include "kernels/cpu/linalg/half_gemm.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// A letter, or kEllipsis + i for the i-th dimension of "...", counted from the right.
using Label = int;
constexpr Label kEllipsis = 256;

struct Axis {
  int64_t size, stride;
};

struct Operand {
  std::vector<Label> labels;  // without repeats
  std::map<Label, Axis> axes;
  bool Has(Label label) const { return axes.count(label) != 0; }
};

struct Equation {
  std::vector<std::string> inputs;  // '.' represents "..."
  std::string output;
};

Expected<std::string> ParseTerm(llvm::StringRef term) {
  std::string labels;
  while (!term.empty()) {
    if (term.consume_front(" ")) continue;
    if (term.consume_front("...")) {
      if (labels.find('.') != std::string::npos) return MakeError("more than one '...' in a term");
      labels += '.';
    } else if (llvm::isAlpha(term.front())) {
      labels += term.front();
      term = term.drop_front();
    } else {
      return MakeError("'{0}' is not a label: labels are letters", term.front());
    }
  }
  return labels;
}

Expected<Equation> ParseEquation(llvm::StringRef text, int num_inputs) {
  Equation equation;
  auto [left, right] = text.split("->");
  if (left.size() == text.size() || right.contains("->"))
    return MakeError("equation '{0}' needs one '->'", text);
  llvm::SmallVector<llvm::StringRef, 2> terms;
  left.split(terms, ',');
  std::string all;
  for (llvm::StringRef term : terms) {
    ASSIGN_OR_RETURN(std::string labels, ParseTerm(term));
    equation.inputs.push_back(labels);
    all += labels;
  }
  ASSIGN_OR_RETURN(equation.output, ParseTerm(right));
  for (char label : equation.output) {
    if (all.find(label) == std::string::npos) {
      return MakeError("equation '{0}': output label '{1}' is in no input", text,
                       label == '.' ? "..." : std::string(1, label));
    }
  }
  if (static_cast<int>(terms.size()) != num_inputs || num_inputs < 1 || num_inputs > 2) {
    return MakeError(
        "equation '{0}' has {1} inputs, and the node has {2}; both must have 1, or both 2", text,
        terms.size(), num_inputs);
  }
  return equation;
}

// Returns the axes of an operand: a repeated label is one axis; dimensions of size 1 in "..." are
// dropped.
Expected<Operand> ReadOperand(const std::string& labels, const Tensor& tensor,
                              std::map<Label, int64_t>& sizes) {
  Operand operand;
  bool ellipsis = labels.find('.') != std::string::npos;
  int hidden = tensor.rank() - static_cast<int>(labels.size()) + (ellipsis ? 1 : 0);
  if (hidden < 0 || (!ellipsis && hidden > 0)) {
    return MakeError("the number of dimensions of an operand of shape {0} does not fit its labels",
                     DimsText(tensor.dims()));
  }
  std::vector<Label> expanded;
  for (char label : labels) {
    if (label != '.')
      expanded.push_back(label);
    else
      for (int i = hidden; i-- > 0;) expanded.push_back(kEllipsis + i);
  }
  int64_t stride = 1;
  for (int i = tensor.rank() - 1; i >= 0; --i) {
    Label label = expanded[i];
    int64_t size = tensor.dim(i);
    int64_t& known = sizes.try_emplace(label, size).first->second;
    bool broadcasts = label >= kEllipsis && (size == 1 || known == 1);
    if (known != size && !broadcasts) {
      return MakeError("label '{0}' has both size {1} and size {2}",
                       label < kEllipsis ? std::string(1, char(label)) : "...", known, size);
    }
    if (known == 1) known = size;
    if (label < kEllipsis || size != 1) {
      Axis& axis = operand.axes.try_emplace(label, Axis{size, 0}).first->second;
      axis.stride += stride;
    }
    stride *= size;
  }
  for (Label label : expanded) {
    if (operand.Has(label) && !llvm::is_contained(operand.labels, label))
      operand.labels.push_back(label);
  }
  return operand;
}

// Calls f(dense index, offset) for all positions of `axes` in [begin, end), the last axis fastest.
template <typename F>
void Walk(llvm::ArrayRef<Axis> axes, int64_t begin, int64_t end, F&& f) {
  if (begin >= end) return;  // an axis may have size 0
  llvm::SmallVector<int64_t, 8> at(axes.size());
  int64_t offset = 0, rest = begin;
  for (int i = static_cast<int>(axes.size()) - 1; i >= 0; --i) {
    at[i] = rest % axes[i].size;
    rest /= axes[i].size;
    offset += at[i] * axes[i].stride;
  }
  for (int64_t n = begin; n < end; ++n) {
    f(n, offset);
    for (int i = static_cast<int>(axes.size()) - 1; i >= 0; --i) {
      offset += axes[i].stride;
      if (++at[i] < axes[i].size) break;
      offset -= axes[i].stride * axes[i].size;
      at[i] = 0;
    }
  }
}

int64_t SizeOf(llvm::ArrayRef<Axis> axes) {
  int64_t size = 1;
  for (const Axis& axis : axes) size *= axis.size;
  return size;
}

// True if traversing `axes` reads memory in order.
bool IsDense(llvm::ArrayRef<Axis> axes) {
  int64_t stride = 1;
  for (const Axis& axis : llvm::reverse(axes)) {
    if (axis.size != 1 && axis.stride != stride) return false;
    stride *= axis.size;
  }
  return true;
}

template <typename T>
class EinsumRun {
 public:
  // `halves`: the operands are halves held as floats.
  EinsumRun(KernelContext& ctx, const MatMulRunner<T>& runner, bool halves)
      : ctx_(ctx), runner_(runner), halves_(halves) {}

  // `output` has the axes of `labels` in order; it must be zeroed if a label repeats.
  Error Run(const std::vector<Operand>& operands, const std::vector<const T*>& data,
            const std::vector<Label>& labels, const std::map<Label, int64_t>& sizes, T* output);

 private:
  using Labels = std::vector<Label>;

  // Returns the operand laid out densely with its labels in `order`, summed over the labels in
  // `gone`.
  Expected<const T*> Lay(const Operand& operand, const T* data, llvm::ArrayRef<Labels> order,
                         const Labels& gone) {
    std::vector<Axis> axes, summed;
    for (const Labels& labels : order) {
      for (Label label : labels) axes.push_back(operand.axes.at(label));
    }
    for (Label label : gone) summed.push_back(operand.axes.at(label));
    if (summed.empty() && IsDense(axes)) return data;
    int64_t total = SizeOf(axes), inner = SizeOf(summed);
    ASSIGN_OR_RETURN(Tensor made, ctx_.Scratch(DataTypeOf<T>(), {total}));
    T* to = made.data<T>();
    ctx_.ParallelFor(total, 2.0 * inner, [&](int64_t begin, int64_t end) {
      Walk(axes, begin, end, [&](int64_t i, int64_t offset) {
        T sum = T(0);
        if (summed.empty())
          sum = data[offset];
        else
          Walk(summed, 0, inner,
               [&](int64_t, int64_t more) { sum = AddOf<T>(sum, data[offset + more]); });
        to[i] = sum;
      });
    });
    storage_.push_back(made);
    return to;
  }

  Error Multiply(const BatchedShape& shape, const T* a, const T* b, T* c) {
    if constexpr (std::is_same_v<T, float>) {
      if (halves_) return HalfGemm(ctx_, shape, a, b, c);
    }
    return runner_.Run(ctx_, shape, a, b, c, {});
  }

  KernelContext& ctx_;
  const MatMulRunner<T>& runner_;
  bool halves_;
  llvm::SmallVector<Tensor, 6> storage_;
};

template <typename T>
Error EinsumRun<T>::Run(const std::vector<Operand>& operands, const std::vector<const T*>& data,
                        const Labels& labels, const std::map<Label, int64_t>& sizes, T* output) {
  // The position of each label in the output; a repeated label is one axis along the diagonal.
  std::map<Label, Axis> out_axes;
  int64_t stride = 1;
  for (Label label : llvm::reverse(labels)) {
    Axis& axis = out_axes.try_emplace(label, Axis{sizes.at(label), 0}).first->second;
    axis.stride += stride;
    stride *= axis.size;
  }
  auto in_output = [&](Label label) { return out_axes.count(label) != 0; };
  Labels batch, rows, columns, inner, gone_a, gone_b;
  const Operand& a = operands[0];
  const Operand* b = operands.size() > 1 ? &operands[1] : nullptr;
  for (Label label : a.labels) {
    bool shared = b && b->Has(label);
    (shared             ? (in_output(label) ? batch : inner)
     : in_output(label) ? rows
                        : gone_a)
        .push_back(label);
  }
  for (Label label : b ? b->labels : Labels()) {
    if (!a.Has(label)) (in_output(label) ? columns : gone_b).push_back(label);
  }

  std::vector<Axis> result_axes;
  for (const Labels* group : {&batch, &rows, &columns}) {
    for (Label label : *group) result_axes.push_back(out_axes.at(label));
  }
  const T* result = nullptr;
  if (!b) {
    ASSIGN_OR_RETURN(result, Lay(a, data[0], {rows}, gone_a));
  } else {
    auto size = [&](const Labels& group) {
      int64_t product = 1;
      for (Label label : group) product *= sizes.at(label);
      return product;
    };
    BatchedShape shape;
    shape.count = shape.a_count = shape.b_count = size(batch);
    shape.m = size(rows);
    shape.n = size(columns);
    shape.k = size(inner);
    // The matrix product reads a transposed operand at little cost, so an operand that is already
    // dense in the transposed order is not reordered.
    auto lies = [](const Operand& operand, std::initializer_list<const Labels*> order) {
      std::vector<Axis> axes;
      for (const Labels* group : order) {
        for (Label label : *group) axes.push_back(operand.axes.at(label));
      }
      return IsDense(axes);
    };
    shape.transpose_a =
        gone_a.empty() && !lies(a, {&batch, &rows, &inner}) && lies(a, {&batch, &inner, &rows});
    shape.transpose_b = gone_b.empty() && !lies(*b, {&batch, &inner, &columns}) &&
                        lies(*b, {&batch, &columns, &inner});
    ASSIGN_OR_RETURN(
        const T* left,
        Lay(a, data[0], {batch, shape.transpose_a ? inner : rows, shape.transpose_a ? rows : inner},
            gone_a));
    ASSIGN_OR_RETURN(const T* right, Lay(*b, data[1],
                                         {batch, shape.transpose_b ? columns : inner,
                                          shape.transpose_b ? inner : columns},
                                         gone_b));
    T* product = output;
    if (!IsDense(result_axes) || result_axes.size() != labels.size()) {
      ASSIGN_OR_RETURN(Tensor made, ctx_.Scratch(DataTypeOf<T>(), {shape.count, shape.m, shape.n}));
      storage_.push_back(made);
      product = made.data<T>();
    }
    RETURN_IF_ERROR(Multiply(shape, left, right, product));
    result = product;
  }
  if (result == output) return Error::success();
  ctx_.ParallelFor(SizeOf(result_axes), 2, [&](int64_t begin, int64_t end) {
    Walk(result_axes, begin, end, [&](int64_t i, int64_t offset) { output[offset] = result[i]; });
  });
  return Error::success();
}

template <typename T>
class EinsumKernel {
 public:
  using Compute = ComputeType<T>;
  explicit EinsumKernel(Equation equation) : equation_(std::move(equation)) {}

  Error operator()(KernelContext& ctx) const {
    std::map<Label, int64_t> sizes;
    std::vector<Operand> operands;
    for (size_t i = 0; i < equation_.inputs.size(); ++i) {
      ASSIGN_OR_RETURN(Operand operand, ReadOperand(equation_.inputs[i], ctx.input(i), sizes));
      operands.push_back(std::move(operand));
    }
    std::vector<Label> labels;
    Dims dims;
    for (char label : equation_.output) {
      if (label != '.') {
        labels.push_back(label);
      } else {
        for (auto it = sizes.rbegin(); it != sizes.rend() && it->first >= kEllipsis; ++it)
          labels.push_back(it->first);
      }
    }
    for (Label label : labels) dims.push_back(sizes.at(label));
    std::optional<int64_t> elements = NumElements(dims);
    if (!elements) return MakeError("an output of shape {0} is too large", DimsText(dims));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if (*elements == 0) return Error::success();
    std::vector<const Compute*> data;
    llvm::SmallVector<Tensor, 6> storage;
    Tensor result = *out;
    for (size_t i = 0; i < operands.size(); ++i) {
      Tensor tensor = ctx.input(i);
      if constexpr (!std::is_same_v<T, Compute>) {
        ASSIGN_OR_RETURN(tensor, Widened(ctx, tensor));
      }
      storage.push_back(tensor);
      data.push_back(tensor.data<Compute>());
    }
    if constexpr (!std::is_same_v<T, Compute>) {
      ASSIGN_OR_RETURN(result, ctx.Scratch(proto::DT_FLOAT, dims));
    }
    Compute* to = result.data<Compute>();
    std::fill_n(to, *elements, Compute(0));
    RETURN_IF_ERROR((EinsumRun<Compute>(ctx, runner_, std::is_same_v<T, Eigen::half>)
                         .Run(operands, data, labels, sizes, to)));
    if constexpr (!std::is_same_v<T, Compute>) NarrowInto(ctx, result.data<float>(), *out);
    return Error::success();
  }

 private:
  Equation equation_;
  MatMulRunner<Compute> runner_;
};

using EinsumTypes = Join<FloatTypes, Join<ComplexTypes, TypeList<int32_t, int64_t>>>;

Expected<KernelFn> MakeEinsum(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Equation equation,
                   ParseEquation(setup.node().GetString("equation"), setup.num_inputs()));
  KernelFn fn;
  ForType(setup.output_type(0), EinsumTypes(), [&](auto tag) {
    fn = EinsumKernel<typename decltype(tag)::type>(equation);
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("Einsum", MakeEinsum, OfTypes("T", DataTypesOf(EinsumTypes())),
                   KernelCost::kWide);

}  // namespace
}  // namespace grapnel
