#include "lib/trace/losses.h"

#include "lib/trace/body.h"

namespace grapnel {
namespace {

constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()

// Makes one loss: matches truth and prediction, adds ops, all with the same source line, and
// reduces.
class Loss {
 public:
  Loss(const char* name, const Value& truth, const Value& prediction, const SourceLocation& where)
      : name_(name), truth_(truth), prediction_(prediction), where_(where) {}

  bool Begin() {
    if (!prediction_.ok() || !truth_.ok()) return false;
    if (!IsFloating(prediction_.dtype())) {
      Fail("the prediction is " + DataTypeName(prediction_.dtype()).str() +
           ", floating point was expected");
      return false;
    }
    return true;
  }

  TraceState& state() const { return *prediction_.body()->state; }
  void Fail(const std::string& text) const { state().Report(where_, name_ + (": " + text)); }
  Value Failed() const {
    TraceBody* body = prediction_.body() ? prediction_.body() : truth_.body();
    return body ? Value(body->state->current, {}) : Value();
  }

  Operation Op(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
               std::vector<OpAttribute> attributes = {}) const {
    return MakeOp(state(), {op, inputs, std::move(attributes), {}}, where_);
  }
  Operand Of(const Value& x) const { return Operand(x, where_); }
  Operand Of(double number) const {
    return Operand(Literal::Scalar(prediction_.dtype(), number), where_);
  }

  // Casts the truth to the prediction's dtype and gives both the same rank. Returns false after an
  // error, such as shapes that do not match.
  bool Match() {
    truth_ = Cast(truth_, prediction_.dtype(), where_);
    return SameRank() && SameShape(prediction_.shape(), 0);
  }

  bool SameRank() {
    Shape t = truth_.shape(), p = prediction_.shape();
    if (!t.known_rank() || !p.known_rank() || t.rank() == p.rank()) return true;
    if (t.rank() == p.rank() + 1 && t.dim(t.rank() - 1) == 1) {
      if (p.rank() == 1)
        prediction_ = ExpandLast(prediction_);
      else
        truth_ = SqueezeLast(truth_);
      return true;
    }
    if (p.rank() == t.rank() + 1 && p.dim(p.rank() - 1) == 1) {
      if (t.rank() == 1)
        truth_ = ExpandLast(truth_);
      else
        prediction_ = SqueezeLast(prediction_);
      return true;
    }
    Fail("the shapes do not match: the truth has " + t.ToString() + ", the prediction " +
         p.ToString());
    return false;
  }

  // True if the truth may have the dimensions of `wanted` without its last `without` dimensions;
  // otherwise reports an error.
  bool SameShape(const Shape& wanted, int without) const {
    Shape t = truth_.shape();
    if (!t.known_rank() || !wanted.known_rank()) return true;
    bool same = t.rank() == wanted.rank() - without;
    for (int i = 0; same && i < t.rank(); ++i)
      same = !t.IsKnown(i) || !wanted.IsKnown(i) || t.dim(i) == wanted.dim(i);
    if (!same)
      Fail("the shapes do not match: the truth has " + t.ToString() + ", the prediction " +
           prediction_.shape().ToString());
    return same;
  }

  Value ExpandLast(const Value& x) const { return Op("ExpandDims", {Of(x), Operand(-1, where_)}); }
  Value SqueezeLast(const Value& x) const {
    return Op("Squeeze", {Of(x)}, {{"squeeze_dims", std::vector<int64_t>{-1}}});
  }
  Value MeanOfLast(const Value& x) const {
    return ReduceMean(x, Operand(-1, where_), false, where_);
  }
  Value Clip(const Value& x) const {
    Value low = Op("Minimum", {Of(x), Of(1 - kEpsilon)});
    return Op("Maximum", {Of(low), Of(kEpsilon)});
  }
  Value LogOf(const Value& x) const { return grapnel::Log(x, where_); }

  Value Reduce(const Value& values, LossReduction reduction) const {
    Shape shape = values.shape();
    if (reduction == LossReduction::kNone || (shape.known_rank() && shape.rank() == 0))
      return values;
    Value sum = ReduceSum(values, {}, false, where_);
    if (reduction == LossReduction::kSum) return sum;
    Value count = Cast(Size(values, where_), values.dtype(), where_);
    return Op("DivNoNan", {Of(sum), Of(count)});
  }

  const Value& truth() const { return truth_; }
  const Value& prediction() const { return prediction_; }
  void SetTruth(const Value& truth) { truth_ = truth; }

 private:
  const char* name_;
  Value truth_, prediction_;
  const SourceLocation where_;
};

}  // namespace

Value MeanSquaredError(const Value& truth, const Value& prediction, LossReduction reduction,
                       SourceLocation where) {
  Loss loss("mean squared error", truth, prediction, where);
  if (!loss.Begin() || !loss.Match()) return loss.Failed();
  Value error = loss.Op("Sub", {loss.Of(loss.truth()), loss.Of(loss.prediction())});
  return loss.Reduce(loss.MeanOfLast(Square(error, where)), reduction);
}

Value MeanAbsoluteError(const Value& truth, const Value& prediction, LossReduction reduction,
                        SourceLocation where) {
  Loss loss("mean absolute error", truth, prediction, where);
  if (!loss.Begin() || !loss.Match()) return loss.Failed();
  Value error = loss.Op("Sub", {loss.Of(loss.truth()), loss.Of(loss.prediction())});
  return loss.Reduce(loss.MeanOfLast(Abs(error, where)), reduction);
}

Value Huber(const Value& truth, const Value& prediction, double delta, LossReduction reduction,
            SourceLocation where) {
  Loss loss("huber", truth, prediction, where);
  if (!loss.Begin() || !loss.Match()) return loss.Failed();
  Value error = loss.Op("Sub", {loss.Of(loss.prediction()), loss.Of(loss.truth())});
  Value size = Abs(error, where);
  Value is_near = loss.Op("LessEqual", {loss.Of(size), loss.Of(delta)});
  Value square = Square(error, where);
  Value near = loss.Op("Mul", {loss.Of(0.5), loss.Of(square)});
  Value scaled = loss.Op("Mul", {loss.Of(delta), loss.Of(size)});
  Value far = loss.Op("Sub", {loss.Of(scaled), loss.Of(0.5 * delta * delta)});
  Value chosen = loss.Op("SelectV2", {loss.Of(is_near), loss.Of(near), loss.Of(far)});
  return loss.Reduce(loss.MeanOfLast(chosen), reduction);
}

Value BinaryCrossentropy(const Value& truth, const Value& prediction, Predictions kind,
                         LossReduction reduction, SourceLocation where) {
  Loss loss("binary crossentropy", truth, prediction, where);
  if (!loss.Begin() || !loss.Match()) return loss.Failed();
  const Value &z = loss.truth(), &x = loss.prediction();
  Value cost;
  if (kind == Predictions::kLogits) {
    // Computes max(x, 0) - x z + log(1 + exp(-|x|)), with selects whose gradients are finite
    // everywhere.
    Value zeros = loss.Op("ZerosLike", {loss.Of(x)});
    Value is_positive = loss.Op("GreaterEqual", {loss.Of(x), loss.Of(zeros)});
    Value relu = loss.Op("SelectV2", {loss.Of(is_positive), loss.Of(x), loss.Of(zeros)});
    Value minus = loss.Op("Neg", {loss.Of(x)});
    Value minus_size = loss.Op("SelectV2", {loss.Of(is_positive), loss.Of(minus), loss.Of(x)});
    Value product = loss.Op("Mul", {loss.Of(x), loss.Of(z)});
    Value difference = loss.Op("Sub", {loss.Of(relu), loss.Of(product)});
    Value tail = loss.Op("Log1p", {loss.Of(Exp(minus_size, where))});
    cost = loss.Op("AddV2", {loss.Of(difference), loss.Of(tail)});
  } else {
    Value p = loss.Clip(x);
    Value of_true = loss.Op("Mul", {loss.Of(z), loss.Of(loss.LogOf(p))});
    Value other = loss.Op("Sub", {loss.Of(1), loss.Of(z)});
    Value rest = loss.Op("Sub", {loss.Of(1), loss.Of(p)});
    Value of_false = loss.Op("Mul", {loss.Of(other), loss.Of(loss.LogOf(rest))});
    Value sum = loss.Op("AddV2", {loss.Of(of_true), loss.Of(of_false)});
    cost = loss.Op("Neg", {loss.Of(sum)});
  }
  return loss.Reduce(loss.MeanOfLast(cost), reduction);
}

Value CategoricalCrossentropy(const Value& truth, const Value& prediction, Predictions kind,
                              LossReduction reduction, SourceLocation where) {
  Loss loss("categorical crossentropy", truth, prediction, where);
  if (!loss.Begin() || !loss.Match()) return loss.Failed();
  const Value &z = loss.truth(), &x = loss.prediction();
  Value cost;
  if (kind == Predictions::kLogits) {
    Shape shape = x.shape();
    if (!shape.known_rank() || shape.rank() < 1) {
      loss.Fail("the prediction must have a known rank of at least 1");
      return loss.Failed();
    }
    if (shape.rank() == 2) {
      cost = loss.Op("SoftmaxCrossEntropyWithLogits", {loss.Of(x), loss.Of(z)}).output(0);
    } else {
      Operand flat =
          Operand(std::vector<int>{-1, static_cast<int>(shape.dim(shape.rank() - 1))}, where);
      Value logits = loss.Op("Reshape", {loss.Of(x), flat});
      Value labels = loss.Op("Reshape", {loss.Of(z), flat});
      Value all = loss.Op("SoftmaxCrossEntropyWithLogits", {loss.Of(logits), loss.Of(labels)});
      Value dims = ShapeOf(x, where);
      Value outer = loss.Op("StridedSlice", {loss.Of(dims), Operand(std::vector<int>{0}, where),
                                             Operand(std::vector<int>{-1}, where),
                                             Operand(std::vector<int>{1}, where)});
      cost = loss.Op("Reshape", {loss.Of(all), loss.Of(outer)});
    }
  } else {
    Value sum = ReduceSum(x, Operand(-1, where), true, where);
    Value p = loss.Clip(loss.Op("RealDiv", {loss.Of(x), loss.Of(sum)}));
    Value weighted = loss.Op("Mul", {loss.Of(z), loss.Of(loss.LogOf(p))});
    cost = loss.Op("Neg", {loss.Of(ReduceSum(weighted, Operand(-1, where), false, where))});
  }
  return loss.Reduce(cost, reduction);
}

Value SparseCategoricalCrossentropy(const Value& truth, const Value& prediction, Predictions kind,
                                    LossReduction reduction, SourceLocation where) {
  Loss loss("sparse categorical crossentropy", truth, prediction, where);
  if (!loss.Begin()) return loss.Failed();
  Shape shape = prediction.shape(), of_truth = truth.shape();
  if (!shape.known_rank() || shape.rank() < 1) {
    loss.Fail("the prediction must have a known rank of at least 1");
    return loss.Failed();
  }
  Value labels = Cast(truth, proto::DT_INT64, where);
  if (of_truth.known_rank() && of_truth.rank() == shape.rank() &&
      of_truth.dim(of_truth.rank() - 1) == 1)
    labels = loss.SqueezeLast(labels);
  loss.SetTruth(labels);
  if (!loss.SameShape(shape, 1)) return loss.Failed();
  Value logits = prediction;
  if (kind == Predictions::kProbabilities) logits = loss.LogOf(loss.Clip(prediction));
  Value cost;
  if (shape.rank() == 2) {
    cost = loss.Op("SparseSoftmaxCrossEntropyWithLogits", {loss.Of(logits), loss.Of(labels)})
               .output(0);
  } else {
    Value dims = ShapeOf(labels, where);
    Value rows = loss.Op(
        "Reshape",
        {loss.Of(logits),
         Operand(std::vector<int>{-1, static_cast<int>(shape.dim(shape.rank() - 1))}, where)});
    Value flat = loss.Op("Reshape", {loss.Of(labels), Operand(std::vector<int>{-1}, where)});
    Value all = loss.Op("SparseSoftmaxCrossEntropyWithLogits", {loss.Of(rows), loss.Of(flat)});
    cost = loss.Op("Reshape", {loss.Of(all), loss.Of(dims)});
  }
  return loss.Reduce(cost, reduction);
}

}  // namespace grapnel
