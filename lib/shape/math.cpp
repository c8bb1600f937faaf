// Shape functions of reductions, products of matrices and tensors, cumulative sums, Fourier
// transforms, random numbers.
#include <algorithm>
#include <map>

#include "lib/shape/functions.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// --- Reductions.

// Returns the reduction that computes the op on integers: All is Min and Any is Max of zeros and
// ones.
llvm::StringRef ReductionOf(llvm::StringRef op) {
  return op == "All" ? "Min" : op == "Any" ? "Max" : op;
}

// Computes Prod, Sum, Max and Min of all elements of a short integer tensor.
void ReduceElements(ShapeContext& c) {
  const Elements* elements = c.elements(0);
  if (!elements || c.outputs[0].shape.NumElements() != 1) return;
  llvm::StringRef op = ReductionOf(c.op());
  Dims sizes;
  int64_t result = op == "Prod" ? 1 : 0;
  for (size_t i = 0; i < elements->size(); ++i) {
    int64_t element = (*elements)[i];
    sizes.push_back(DimOfElement(element));
    if (op == "Prod") continue;
    if (!IsKnownElement(element)) return;
    if (op == "Sum")
      result = __builtin_add_overflow(result, element, &result) ? kUnknownElement : result;
    if (op == "Max") result = i == 0 ? element : std::max(result, element);
    if (op == "Min") result = i == 0 ? element : std::min(result, element);
    if (!IsKnownElement(result)) return;
  }
  if (op != "Sum" && op != "Prod" && elements->empty()) return;
  // ProductOf multiplies sizes, which are never negative: with a negative factor, the product stays
  // unknown.
  bool negative = std::any_of(elements->begin(), elements->end(),
                              [](int64_t e) { return IsKnownElement(e) && e < 0; });
  if (op == "Prod" && negative) return;
  if (op == "Prod") result = ElementOfDim(ProductOf(sizes));
  if (c.Type("T") == proto::DT_INT32 && IsKnownElement(result) &&
      result != static_cast<int32_t>(result))
    return;
  c.OutElements(0, {result});
}

void ReductionShape(ShapeContext& c) {
  const Shape &in = c.in(0), &axis_shape = c.in(1);
  const Elements* axes = c.integers(1);
  bool keep = c.Bool("keep_dims");
  if (!in.known_rank()) return;
  if (!axes) {
    if (keep) {
      c.Out(0, Shape::UnknownOfRank(in.rank()));
    } else if (!c.symbols && axis_shape.NumElements() == 1 && in.rank() > 0) {
      c.Out(0, Shape::UnknownOfRank(in.rank() - 1));
    }
    return;
  }
  llvm::SmallVector<bool, 6> reduced(in.rank(), false);
  for (int64_t axis : *axes) {
    std::optional<int> at = c.Axis(axis, in.rank());
    if (!at) return;
    reduced[*at] = true;
  }
  Shape out = Shape::Scalar();
  for (int i = 0; i < in.rank(); ++i) {
    if (!reduced[i]) out.Append(in.dim(i));
    if (reduced[i] && keep) out.Append(1);
  }
  c.Out(0, std::move(out));
  llvm::StringRef op = ReductionOf(c.op());
  if (op == "Prod" || op == "Sum" || op == "Max" || op == "Min") ReduceElements(c);
}

void ArgMaxShape(ShapeContext& c) {
  const Shape& in = c.in(0);
  if (!in.known_rank()) return;
  std::optional<int64_t> dimension = c.integer(1);
  if (in.rank() <= 1) return c.Out(0, Shape::Scalar());
  if (!dimension) return c.Out(0, Shape::UnknownOfRank(in.rank() - 1));
  std::optional<int> at = c.Axis(*dimension, in.rank());
  if (at) c.Out(0, ConcatShapes(SubShape(in, 0, *at), SubShape(in, *at + 1)));
}

// --- Products.

void MatMulShape(ShapeContext& c) {
  Shape a = c.WithRank(0, 2), b = c.WithRank(1, 2);
  if (!c.problem.empty()) return;
  int rows = c.Bool("transpose_a") ? 1 : 0, columns = c.Bool("transpose_b") ? 0 : 1;
  if (!MergeDims(a.dim(1 - rows), b.dim(1 - columns))) {
    return c.Fail("{0} needs matching inner sizes, got {1} and {2}", c.op(), a.ToString(),
                  b.ToString());
  }
  c.Equal(a.dim(1 - rows), b.dim(1 - columns), "inner sizes");
  c.Out(0, MatrixOf(a.dim(rows), b.dim(columns)));
  for (int i = 1; i < c.num_outputs(); ++i)
    c.Out(i, Shape::Scalar());  // the minimum and maximum, for quantized ops
}

// A fused bias or activation keeps the product's shape; the bias has as many elements as the
// product has columns.
void FusedMatMulShape(ShapeContext& c) { MatMulShape(c); }

void BatchMatMulShape(ShapeContext& c) {
  Shape a = c.WithRankAtLeast(0, 2), b = c.WithRankAtLeast(1, 2);
  if (!a.known_rank() || !b.known_rank()) return;
  bool fixed_batch = c.op() == "BatchMatMul";
  Shape head_a = SubShape(a, 0, -2), head_b = SubShape(b, 0, -2);
  std::optional<Shape> batch =
      fixed_batch ? MergeShapes(head_a, head_b) : BroadcastShapes(head_a, head_b);
  int rows = a.rank() - (c.Bool("adj_x") ? 1 : 2), columns = b.rank() - (c.Bool("adj_y") ? 2 : 1);
  int inner_a = 2 * a.rank() - 3 - rows, inner_b = 2 * b.rank() - 3 - columns;
  if (!batch || !MergeDims(a.dim(inner_a), b.dim(inner_b))) {
    return c.Fail("{0} needs matching {1} sizes, got {2} and {3}", c.op(),
                  batch ? "inner" : "batch", a.ToString(), b.ToString());
  }
  if (fixed_batch) c.Equal(head_a, head_b);
  c.Equal(a.dim(inner_a), b.dim(inner_b), "inner sizes");
  c.Out(0, ConcatShapes(*batch, MatrixOf(a.dim(rows), b.dim(columns))));
}

// A term of an einsum equation, an operand or the result: letters, optionally with an ellipsis.
struct Term {
  llvm::StringRef before, after;
  bool ellipsis;
};

Term ParseTerm(llvm::StringRef text) {
  auto [before, after] = text.split("...");
  return {before, after, text.contains("...")};
}

class EinsumShapes {
 public:
  explicit EinsumShapes(ShapeContext& c) : c_(c) {}

  void Run() {
    auto [left, right] = c_.String("equation").split("->");
    llvm::SmallVector<llvm::StringRef, 3> terms;
    left.split(terms, ',');
    if (static_cast<int>(terms.size()) != c_.num_inputs()) {
      return c_.Fail("{0} has {1}, but its equation '{2}' has {3}", c_.op(),
                     Plural(c_.num_inputs(), "input"), c_.String("equation"), terms.size());
    }
    for (int i = 0; i < c_.num_inputs(); ++i) {
      if (!Operand(i, ParseTerm(terms[i]))) return;
    }
    Term result = ParseTerm(right);
    if (result.ellipsis && !batch_.known_rank()) return;
    Shape out = Shape::Scalar();
    for (char label : result.before) out.Append(DimOf(label));
    if (result.ellipsis) out = ConcatShapes(out, batch_);
    for (char label : result.after) out.Append(DimOf(label));
    c_.Out(0, std::move(out));
  }

 private:
  int64_t DimOf(char label) const {
    auto found = dims_.find(label);
    return found == dims_.end() ? kUnknownDim : found->second;
  }

  bool Operand(int i, const Term& term) {
    const Shape& in = c_.in(i);
    int labels = static_cast<int>(term.before.size() + term.after.size());
    if (!in.known_rank()) {
      if (term.ellipsis) batch_ = Shape::Unknown();
      return true;
    }
    if (term.ellipsis ? in.rank() < labels : in.rank() != labels) {
      c_.Fail("{0} '{1}' does not fit input {2} of shape {3}", c_.op(), c_.String("equation"), i,
              in.ToString());
      return false;
    }
    for (size_t k = 0; k < term.before.size(); ++k) Label(term.before[k], in.dim(k));
    int tail = in.rank() - static_cast<int>(term.after.size());
    for (size_t k = 0; k < term.after.size(); ++k) Label(term.after[k], in.dim(tail + k));
    if (term.ellipsis) {
      auto batch =
          BroadcastShapes(batch_, SubShape(in, static_cast<int>(term.before.size()), tail));
      if (!batch) c_.Fail("{0} cannot broadcast the '...' of its inputs", c_.op());
      batch_ = batch.value_or(Shape::Unknown());
    }
    return c_.problem.empty();
  }

  void Label(char label, int64_t dim) {
    auto [at, added] = dims_.try_emplace(label, dim);
    if (!added) at->second = c_.Equal(at->second, dim, "sizes of one letter");
  }

  ShapeContext& c_;
  std::map<char, int64_t> dims_;
  Shape batch_ = Shape::Scalar();
};

void EinsumShape(ShapeContext& c) { EinsumShapes(c).Run(); }

void CrossShape(ShapeContext& c) { c.OutEqual(0, c.Equal(c.in(0), c.in(1))); }

// --- Fourier transforms. If input 1 requests length n for the last dimension, an RFFT outputs n /
// 2 + 1 elements there, and an IRFFT outputs n.

void RealTransform(ShapeContext& c, int rank, bool forward) {
  Shape out = c.WithRankAtLeast(0, rank);
  if (!out.known_rank() || !c.problem.empty()) return;
  const Elements* lengths = c.elements(1);
  for (int i = 0; i < rank; ++i) {
    int at = out.rank() - rank + i;
    int64_t dim = lengths && i < static_cast<int>(lengths->size()) ? DimOfElement((*lengths)[i])
                                                                   : kUnknownDim;
    if (forward && i == rank - 1) dim = dim == 0 ? 0 : AddDims(DivDims(dim, 2), 1);
    out.set_dim(at, dim);
  }
  c.Out(0, std::move(out));
}

void RFFTShape(ShapeContext& c) { RealTransform(c, 1, true); }
void RFFT2DShape(ShapeContext& c) { RealTransform(c, 2, true); }
void RFFT3DShape(ShapeContext& c) { RealTransform(c, 3, true); }
void IRFFTShape(ShapeContext& c) { RealTransform(c, 1, false); }
void IRFFT2DShape(ShapeContext& c) { RealTransform(c, 2, false); }
void IRFFT3DShape(ShapeContext& c) { RealTransform(c, 3, false); }

// --- Random numbers.

void ShapeFromInput0(ShapeContext& c) { c.Out(0, c.ShapeFrom(0)); }
void ShapeFromInput1(ShapeContext& c) { c.Out(0, c.ShapeFrom(1)); }
void ShapeFromInput2(ShapeContext& c) { c.Out(0, c.ShapeFrom(2)); }

// The output has the requested number of samples for each distribution.
void PerDistributionShape(ShapeContext& c) { c.Out(0, ConcatShapes(c.ShapeFrom(0), c.in(1))); }

void MultinomialShape(ShapeContext& c) {
  c.Out(0, MatrixOf(c.WithRank(0, 2).dim(0), c.SizeFrom(1)));
}

void KeyCounterShape(ShapeContext& c) {
  c.Out(0, VectorOf(1));
  c.Out(1, VectorOf(2));
  c.Out(2, Shape::Scalar());
}

void RandomCropShape(ShapeContext& c) {
  Shape image = c.WithRank(0, 3), size = c.ShapeFrom(1);
  if (!size.known_rank() || size.rank() != 2) size = Shape::UnknownOfRank(2);
  size.Append(image.dim(2));
  c.Out(0, std::move(size));
}

void SamplerShape(ShapeContext& c) {
  Shape classes = c.WithRank(0, 2);
  int64_t sampled = c.Int("num_sampled", kUnknownDim);
  c.Out(0, VectorOf(sampled));
  c.Out(1, MatrixOf(classes.dim(0), c.Int("num_true", kUnknownDim)));
  c.Out(2, VectorOf(sampled));
}

constexpr ShapeRule kRules[] = {
    {"All", ReductionShape},
    {"Any", ReductionShape},
    {"EuclideanNorm", ReductionShape},
    {"Max", ReductionShape},
    {"Mean", ReductionShape},
    {"Min", ReductionShape},
    {"Prod", ReductionShape},
    {"Sum", ReductionShape},
    {"ReduceJoin", ReductionShape},
    {"ArgMax", ArgMaxShape},
    {"ArgMin", ArgMaxShape},
    {"Cumprod", SameAsInput},
    {"Cumsum", SameAsInput},
    {"CumulativeLogsumexp", SameAsInput},
    {"MatMul", MatMulShape},
    {"_FusedMatMul", FusedMatMulShape},
    {"_MklNativeFusedMatMul", FusedMatMulShape},
    {"SparseMatMul", MatMulShape},
    {"QuantizedMatMul", MatMulShape},
    {"BatchMatMul", BatchMatMulShape},
    {"BatchMatMulV2", BatchMatMulShape},
    {"BatchMatMulV3", BatchMatMulShape},
    {"_MklBatchMatMulV2", BatchMatMulShape},
    {"_MklFusedBatchMatMulV2", BatchMatMulShape},
    {"Einsum", EinsumShape},
    {"XlaEinsum", EinsumShape},
    {"Cross", CrossShape},
    {"FFT", SameAsInput},
    {"FFT2D", SameAsInput},
    {"FFT3D", SameAsInput},
    {"FFTND", SameAsInput},
    {"IFFT", SameAsInput},
    {"IFFT2D", SameAsInput},
    {"IFFT3D", SameAsInput},
    {"IFFTND", SameAsInput},
    {"BatchFFT", SameAsInput},
    {"BatchFFT2D", SameAsInput},
    {"BatchFFT3D", SameAsInput},
    {"BatchIFFT", SameAsInput},
    {"BatchIFFT2D", SameAsInput},
    {"BatchIFFT3D", SameAsInput},
    {"RFFT", RFFTShape},
    {"RFFT2D", RFFT2DShape},
    {"RFFT3D", RFFT3DShape},
    {"IRFFT", IRFFTShape},
    {"IRFFT2D", IRFFT2DShape},
    {"IRFFT3D", IRFFT3DShape},
    {"RandomStandardNormal", ShapeFromInput0},
    {"RandomUniform", ShapeFromInput0},
    {"RandomUniformInt", ShapeFromInput0},
    {"TruncatedNormal", ShapeFromInput0},
    {"ParameterizedTruncatedNormal", ShapeFromInput0},
    {"NonDeterministicInts", ShapeFromInput0},
    {"StatelessParameterizedTruncatedNormal", ShapeFromInput0},
    {"StatelessRandomBinomial", ShapeFromInput0},
    {"StatelessRandomGammaV2", ShapeFromInput0},
    {"StatelessRandomGammaV3", ShapeFromInput0},
    {"StatelessRandomNormal", ShapeFromInput0},
    {"StatelessRandomNormalV2", ShapeFromInput0},
    {"StatelessRandomPoisson", ShapeFromInput0},
    {"StatelessRandomUniform", ShapeFromInput0},
    {"StatelessRandomUniformFullInt", ShapeFromInput0},
    {"StatelessRandomUniformFullIntV2", ShapeFromInput0},
    {"StatelessRandomUniformInt", ShapeFromInput0},
    {"StatelessRandomUniformIntV2", ShapeFromInput0},
    {"StatelessRandomUniformV2", ShapeFromInput0},
    {"StatelessTruncatedNormal", ShapeFromInput0},
    {"StatelessTruncatedNormalV2", ShapeFromInput0},
    {"StatefulStandardNormal", ShapeFromInput1},
    {"StatefulStandardNormalV2", ShapeFromInput2},
    {"StatefulTruncatedNormal", ShapeFromInput2},
    {"StatefulUniform", ShapeFromInput2},
    {"StatefulUniformFullInt", ShapeFromInput2},
    {"StatefulUniformInt", ShapeFromInput2},
    {"StatefulRandomBinomial", ShapeFromInput2},
    {"RandomGamma", PerDistributionShape},
    {"RandomPoisson", PerDistributionShape},
    {"RandomPoissonV2", PerDistributionShape},
    {"RandomShuffle", SameAsInput},
    {"StatelessShuffle", SameAsInput},
    {"RandomIndexShuffle", SameAsInput},
    {"Multinomial", MultinomialShape},
    {"StatelessMultinomial", MultinomialShape},
    {"StatelessRandomGetKeyCounter", KeyCounterShape},
    {"StatelessRandomGetKeyCounterAlg", KeyCounterShape},
    {"StatelessRandomGetAlg", ScalarOutputs},
    {"RandomCrop", RandomCropShape},
    {"AllCandidateSampler", SamplerShape},
    {"FixedUnigramCandidateSampler", SamplerShape},
    {"LearnedUnigramCandidateSampler", SamplerShape},
    {"LogUniformCandidateSampler", SamplerShape},
    {"ThreadUnsafeUnigramCandidateSampler", SamplerShape},
    {"UniformCandidateSampler", SamplerShape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> MathShapeRules() { return kRules; }

}  // namespace grapnel
