// Learning rates that depend on the step, and gradient clipping: Keras's formulas, in Keras's order
// of operations.
#include <cmath>
#include <utility>

#include "lib/trace/body.h"
#include "lib/trace/ops.h"
#include "lib/trace/optimizers.h"

namespace grapnel {
namespace {

// Makes ops on numbers of one dtype, all with the same source line.
class Maker {
 public:
  Maker(TraceState& state, DataType dtype, const SourceLocation& where)
      : state_(state), dtype_(dtype), where_(where) {}
  Value Op(llvm::StringRef op, llvm::ArrayRef<Value> inputs) const {
    llvm::SmallVector<Operand, 4> operands;
    for (const Value& input : inputs) operands.push_back(Operand(input, where_));
    return MakeOp(state_, {op, operands, {}, {}}, where_);
  }
  Value Number(double number) const {
    TraceBody& body = *state_.current;
    return MakeConstant(body, Literal::Scalar(dtype_, number), body.UniqueName("Const"), where_);
  }

 private:
  TraceState& state_;
  DataType dtype_;
  const SourceLocation where_;
};

}  // namespace

Value LearningRate::At(Tracer& t, const Value& step, const SourceLocation& where) const {
  if (schedule_) return schedule_(t, step);
  if (value_.body()) return value_;
  // Keras keeps the learning rate as a float32, whatever the dtype of the variables.
  TraceBody& body = *t.state().current;
  return MakeConstant(body, Literal::Scalar(proto::DT_FLOAT, rate_.value_or(0)),
                      body.UniqueName("learning_rate"), where);
}

LearningRate ExponentialDecay(double rate, int64_t steps, double decay, bool staircase) {
  return LearningRate::Schedule([=](Tracer& t, const Value& step) {
    Maker make(t.state(), proto::DT_FLOAT, SourceLocation());
    Value at = Cast(step, proto::DT_FLOAT);
    Value p = make.Op("RealDiv", {at, make.Number(static_cast<double>(steps))});
    if (staircase) p = make.Op("Floor", {p});
    return make.Op("Mul", {make.Number(rate), make.Op("Pow", {make.Number(decay), p})});
  });
}

LearningRate CosineDecay(double rate, int64_t steps, double alpha) {
  return LearningRate::Schedule([=](Tracer& t, const Value& step) {
    Maker make(t.state(), proto::DT_FLOAT, SourceLocation());
    Value last = make.Number(static_cast<double>(steps));
    Value at = make.Op("Minimum", {Cast(step, proto::DT_FLOAT), last});
    Value angle = make.Op("Mul", {make.Number(M_PI), make.Op("RealDiv", {at, last})});
    Value wave = make.Op("AddV2", {make.Number(1), make.Op("Cos", {angle})});
    Value cosine = make.Op("Mul", {make.Number(0.5), wave});
    Value scaled = make.Op("Mul", {make.Number(1 - alpha), cosine});
    Value decayed = make.Op("AddV2", {scaled, make.Number(alpha)});
    return make.Op("Mul", {make.Number(rate), decayed});
  });
}

LearningRate PiecewiseConstant(std::vector<int64_t> boundaries, std::vector<double> values) {
  return LearningRate::Schedule([boundaries = std::move(boundaries), values = std::move(values)](
                                    Tracer& t, const Value& step) {
    if (values.size() != boundaries.size() + 1) {
      t.ReportError(SourceLocation(),
                    llvm::formatv("piecewise constant: {0} boundaries need {1} values, {2} "
                                  "were given",
                                  boundaries.size(), boundaries.size() + 1, values.size())
                        .str());
      return Value(t.state().current, {});
    }
    Maker make(t.state(), proto::DT_FLOAT, SourceLocation());
    Maker integer(t.state(), proto::DT_INT64, SourceLocation());
    Value rate = make.Number(values.back());
    // Selects from the last boundary to the first, so that the smallest boundary that the step does
    // not exceed decides.
    for (size_t i = boundaries.size(); i-- > 0;) {
      Value limit = integer.Number(static_cast<double>(boundaries[i]));
      Value is_before = make.Op("LessEqual", {step, limit});
      rate = make.Op("SelectV2", {is_before, make.Number(values[i]), rate});
    }
    return rate;
  });
}

Values ClipByGlobalNorm(const Values& xs, double norm, SourceLocation where) {
  Values squares;
  for (const Value& x : xs) {
    if (x.ok()) squares.push_back(ReduceSum(Square(x, where), {}, false, where));
  }
  if (squares.empty()) return xs;
  Maker make(*squares[0].body()->state, squares[0].dtype(), where);
  Value length = Sqrt(ReduceSum(Stack(squares, 0, where), {}, false, where), where);
  Value inverse = make.Op("RealDiv", {make.Number(1), length});
  Value least = make.Op("Minimum", {inverse, make.Number(1 / norm)});
  Value finite = make.Op("Mul", {make.Number(norm), least});
  // If the length is infinite or NaN, makes the scale NaN.
  Value scale = make.Op("AddV2", {finite, make.Op("Sub", {length, length})});
  Values clipped;
  for (const Value& x : xs) clipped.push_back(x.ok() ? make.Op("Mul", {x, scale}) : x);
  return clipped;
}

}  // namespace grapnel
