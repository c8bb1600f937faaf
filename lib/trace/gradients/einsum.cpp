// Einsum: the gradient of an operand is an einsum of the incoming gradient and the other operand. A
// label that occurs in only one operand and not in the output was summed: the gradient is broadcast
// along it.
#include "lib/trace/gradients/broadcast.h"
#include "llvm/ADT/SmallSet.h"

namespace grapnel {
namespace {

using G = GradientContext;

constexpr llvm::StringRef kEllipsis = "...";

// Returns the labels that are not in `others`. TensorFlow uses a Python set, which has no order;
// here they keep the order of `labels`.
std::string Without(llvm::StringRef labels, llvm::StringRef others) {
  std::string rest;
  for (char label : labels) {
    if (!others.contains(label) && label != '.' && rest.find(label) == std::string::npos)
      rest += label;
  }
  return rest;
}

// The axis of `label`, counted from the front or, after the ellipsis, from the end (negative).
int64_t AxisOf(llvm::StringRef subscripts, char label) {
  auto [front, back] = subscripts.split(kEllipsis);
  if (size_t at = front.find(label); at != llvm::StringRef::npos) return static_cast<int64_t>(at);
  size_t at = back.find(label);
  return static_cast<int64_t>(at) - static_cast<int64_t>(back.size());
}

class EinsumGradient {
 public:
  explicit EinsumGradient(G& g) : g_(g) {}

  InputGradients Make() {
    std::string equation = g_.node().GetString("equation");
    auto [inputs, output] = llvm::StringRef(equation).split("->");
    if (g_.num_inputs() == 1) return {OfOne(inputs, output)};
    if (g_.num_inputs() != 2) return g_.Fail("it has a gradient only for one or two operands");
    std::string x_labels = inputs.split(',').first.str(), y_labels = inputs.split(',').second.str();
    bool broadcasts = output.contains(kEllipsis);
    if (broadcasts && !llvm::StringRef(x_labels).contains(kEllipsis)) x_labels += kEllipsis;
    if (broadcasts && !llvm::StringRef(y_labels).contains(kEllipsis)) y_labels += kEllipsis;
    Value x = g_.Conj(g_.x(0));
    Value y = g_.Conj(g_.x(1));
    Value x_shape = g_.ShapeOf(x);
    Value y_shape = g_.ShapeOf(y);
    Value gx = OfOperand(y, x_shape, x_labels, y_labels, output);
    Value gy = OfOperand(x, y_shape, y_labels, x_labels, output);
    if (!broadcasts) return {gx, gy};
    return ReduceEllipsis(gx, gy, x, y, x_shape, y_shape, x_labels, y_labels);
  }

 private:
  Value Einsum(const Values& operands, const std::string& equation) {
    return g_.Op("Einsum", {operands}, {{"equation", llvm::StringRef(equation)}});
  }

  Value OfOne(llvm::StringRef input, llvm::StringRef output) {
    Value shape = g_.ShapeOf(g_.x(0));
    std::string summed = Without(input, output);
    if (summed.empty()) return Einsum({g_.dy()}, (output + "->" + input).str());
    return Spread(g_.dy(), output, input, shape, summed);
  }

  Value OfOperand(const Value& other, const Value& shape, llvm::StringRef labels,
                  llvm::StringRef other_labels, llvm::StringRef output) {
    std::string summed = Without(labels, (output + other_labels).str());
    std::string left;
    for (char label : labels) {
      if (summed.find(label) == std::string::npos) left += label;
    }
    Value gradient = Einsum({g_.dy(), other}, (output + "," + other_labels + "->" + left).str());
    return summed.empty() ? gradient : Spread(gradient, left, labels, shape, summed);
  }

  static bool Repeats(llvm::StringRef labels) {
    llvm::SmallSet<char, 8> seen;
    return !llvm::all_of(labels, [&](char label) { return seen.insert(label).second; });
  }

  // Broadcasts the gradient along the summed labels; a Pack makes a vector of their sizes, as in
  // TensorFlow.
  Value Spread(const Value& gradient, llvm::StringRef output, llvm::StringRef input,
               const Value& shape, llvm::StringRef summed) {
    std::vector<Operand> sizes;
    std::vector<int64_t> axes;
    for (char label : summed) {
      axes.push_back(AxisOf(input, label));
      sizes.push_back(g_.At(shape, axes.back()));
    }
    Value dims = g_.Stack(sizes);
    std::string left;
    for (char label : input) {
      if (summed.find(label) == llvm::StringRef::npos) left += label;
    }
    if (!Repeats(input) && !Repeats(output) && left == output) {
      Operand kept = g_.ReducedShape(shape, g_.ConstantInts(axes));
      return g_.Op("BroadcastTo", {g_.Reshape(gradient, kept), shape});
    }
    Value wide = g_.Concat({dims, g_.ShapeOf(gradient)}, 0);
    Value ones =
        g_.Ones(llvm::ArrayRef<int64_t>(static_cast<int64_t>(summed.size())), proto::DT_INT32);
    Value narrow = g_.Concat({ones, g_.ShapeOf(gradient)}, 0);
    Value spread = g_.Op("BroadcastTo", {g_.Reshape(gradient, narrow), wide});
    return Einsum({spread}, (summed + output + "->" + input).str());
  }

  // The dimensions of a shape that the ellipsis stands for.
  struct Part {
    int64_t begin = 0, end = 0;  // end as in Python: negative from the end; kEnd: to the end
  };
  static Part EllipsisOf(llvm::StringRef labels) {
    size_t at = labels.find(kEllipsis);
    if (at == llvm::StringRef::npos) return {};
    int64_t behind = static_cast<int64_t>(labels.size() - at - kEllipsis.size());
    return {static_cast<int64_t>(at), behind > 0 ? -behind : G::kEnd};
  }
  static llvm::ArrayRef<int64_t> Of(const Shape& shape, const Part& part) {
    int64_t end = part.end == G::kEnd ? shape.rank()
                  : part.end < 0      ? shape.rank() + part.end
                                      : part.end;
    if (end < part.begin) return {};
    return shape.dims().slice(part.begin, end - part.begin);
  }

  InputGradients ReduceEllipsis(const Value& gx, const Value& gy, const Value& x, const Value& y,
                                const Value& x_shape, const Value& y_shape,
                                llvm::StringRef x_labels, llvm::StringRef y_labels) {
    Part x_part = EllipsisOf(x_labels), y_part = EllipsisOf(y_labels);
    Shape x_known = x.shape(), y_known = y.shape();
    if (x_known.IsFullyKnown() && y_known.IsFullyKnown() &&
        Of(x_known, x_part) == Of(y_known, y_part))
      return {gx, gy};
    Value x_dims = g_.CutBetween(x_shape, x_part.begin, x_part.end);
    BroadcastAxes axes = AxesOf(g_, x_dims, g_.CutBetween(y_shape, y_part.begin, y_part.end));
    auto moved = [](int64_t by, const Value& axis) { return static_cast<int>(by) + axis; };
    Value first = SumTo(g_, gx, moved(x_part.begin, axes.x), x_shape);
    return {first, SumTo(g_, gy, moved(y_part.begin, axes.y), y_shape)};
  }

  G& g_;
};
GRAPNEL_GRADIENT("Einsum", [](G& g) { return EinsumGradient(g).Make(); });

}  // namespace
}  // namespace grapnel
