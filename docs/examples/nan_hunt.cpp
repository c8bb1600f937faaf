// A NaN hunt: a perceptron learns digits, its loss becomes NaN, and three steps find out why.
//
// CheckNumerics ends the step at the first op whose output is not finite and reports its line; taps
// list all tensors that are not finite, in the order in which they were made; a clip fixes it. From
// the command line: `grapnel train nan_hunt.cpp:Naive ... --checkpoint-dir D` saves the step that
// failed, and `grapnel blame` explains it.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "grapnel/ir/line_table.h"
#include "grapnel/job/program.h"
#include "grapnel/trace/array_ops.h"
#include "grapnel/trace/math_ops.h"
#include "grapnel/trace/nn_ops.h"
#include "grapnel/trace/optimizers.h"
#include "grapnel/trace/registration.h"
#include "grapnel/watch/check_numerics.h"
#include "grapnel/watch/tap.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

constexpr int kSide = 8, kPixels = kSide * kSide, kClasses = 10, kBatch = 50;

static Value Probabilities(Tracer& t, const Value& x) {
  Variable hidden(t, "hidden/kernel", initial::Glorot({kPixels, 32}, /*seed=*/1));
  Variable hidden_bias(t, "hidden/bias", initial::Zeros({32}));
  Variable output(t, "output/kernel", initial::Glorot({32, kClasses}, /*seed=*/2));
  Variable output_bias(t, "output/bias", initial::Zeros({kClasses}));
  Value h = Relu(MatMul(x, hidden) + hidden_bias);
  return Softmax(MatMul(h, output) + output_bias);
}

static Value Descend(Tracer& t, const Value& loss) {
  Adam adam(t, {.learning_rate = 0.1});
  adam.Minimize(loss, Trainable(t));
  return loss;
}

// A probability that rounds to 0 as a float has the logarithm -inf, and 0 * -inf is NaN.
Value Naive(Tracer& t, Value x, Value y) {
  Value p = Probabilities(t, x);
  Value labels = OneHot(y, kClasses);
  Value loss = -ReduceMean(ReduceSum(labels * Log(p), 1));
  return Descend(t, loss);
}

Value Fixed(Tracer& t, Value x, Value y) {
  Value p = ClipByValue(Probabilities(t, x), 1e-7f, 1.0f);
  Value labels = OneHot(y, kClasses);
  Value loss = -ReduceMean(ReduceSum(labels * Log(p), 1));
  return Descend(t, loss);
}

Value Classify(Tracer& t, Value x) { return Probabilities(t, x); }

GRAPNEL_TRACE(Naive, {{"x", proto::DT_FLOAT, {kBatch, kPixels}}, {"y", proto::DT_INT32, {kBatch}}});
GRAPNEL_TRACE(Fixed, {{"x", proto::DT_FLOAT, {kBatch, kPixels}}, {"y", proto::DT_INT32, {kBatch}}});

// Seven-segment digits, shifted by a pixel and with uneven ink.
static Expected<std::vector<Tensor>> Digits(int step) {
  constexpr uint8_t kSegments[kClasses] = {0x77, 0x24, 0x5d, 0x6d, 0x2e,
                                           0x6b, 0x7b, 0x25, 0x7f, 0x6f};
  struct Bar {
    int row, column, height, width;
  };
  constexpr Bar kBars[7] = {{0, 1, 1, 3}, {1, 0, 2, 1}, {1, 4, 2, 1}, {3, 1, 1, 3},
                            {4, 0, 2, 1}, {4, 4, 2, 1}, {6, 1, 1, 3}};
  ASSIGN_OR_RETURN(Tensor x, Tensor::Allocate(proto::DT_FLOAT, {kBatch, kPixels}));
  ASSIGN_OR_RETURN(Tensor y, Tensor::Allocate(proto::DT_INT32, {kBatch}));
  std::fill_n(x.data<float>(), kBatch * kPixels, 0.0f);
  uint32_t noise = 2463534242u + step * 7919u;
  auto draw = [&](uint32_t below) {
    noise ^= noise << 13, noise ^= noise >> 17, noise ^= noise << 5;
    return noise % below;
  };
  for (int i = 0; i < kBatch; ++i) {
    int digit = y.data<int32_t>()[i] = static_cast<int>(draw(kClasses));
    float* image = x.data<float>() + i * kPixels;
    int down = static_cast<int>(draw(2)), right = static_cast<int>(draw(4));
    for (int s = 0; s < 7; ++s) {
      if (!(kSegments[digit] >> s & 1)) continue;
      const Bar& bar = kBars[s];
      for (int r = bar.row; r < bar.row + bar.height; ++r) {
        for (int c = bar.column; c < bar.column + bar.width; ++c)
          image[(r + down) * kSide + c + right] = 1 - 0.3f * static_cast<float>(draw(100)) / 100;
      }
    }
  }
  return std::vector<Tensor>{x, y};
}

static Expected<TracedModel> Build() {
  ModelBuilder builder;
  TensorSpec x{"x", proto::DT_FLOAT, {kBatch, kPixels}}, y{"y", proto::DT_INT32, {kBatch}};
  builder.Add("naive", {x, y}, Naive, {"loss"});
  builder.Add("fixed", {x, y}, Fixed, {"loss"});
  builder.Add("classify", {x}, Classify, {"probabilities"});
  return builder.Finish();
}

// Runs steps until the loss is not finite; returns that step, or -1.
static Expected<int> Train(Program& program, const char* function, int steps) {
  for (int step = 0; step < steps; ++step) {
    ASSIGN_OR_RETURN(std::vector<Tensor> digits, Digits(step));
    ASSIGN_OR_RETURN(std::vector<Tensor> loss, program.Call(function, std::move(digits)));
    float value = *loss[0].data<float>();
    if (step % 100 == 0 || step == steps - 1 || !std::isfinite(value))
      llvm::outs() << "  step " << step << ": loss " << llvm::formatv("{0:f4}", value) << "\n";
    if (!std::isfinite(value)) return step;
  }
  return -1;
}

// Collects the tensors that are not finite, in order.
class BadTensors : public Tap {
 public:
  BadTensors() : Tap({}, TapMode::kFullHealth) {}

 protected:
  bool Tells() const override { return true; }
  void Emit(TapEvent&& event) override {
    const Health& health = event.health;
    if (!health.IsBad() || ++count_ > 4) return;
    llvm::outs() << "  " << event.node.name() << " (" << event.node.op() << "): of "
                 << health.elements << " elements " << health.nan << " are NaN, "
                 << health.neg_inf + health.pos_inf << " infinite\n";
  }

 private:
  int count_ = 0;
};

static Error Hunt() {
  llvm::outs() << "The textbook loss:\n";
  ASSIGN_OR_RETURN(TracedModel model, Build());
  ASSIGN_OR_RETURN(Program program, Program::Make(std::move(model)));
  ASSIGN_OR_RETURN(int bad, Train(program, "naive", 500));
  if (bad < 0) return MakeError("500 steps, and the loss is finite");

  llvm::outs() << "The first op that is not finite, in a run from the start:\n";
  ASSIGN_OR_RETURN(model, Build());
  LineTable lines(*model.module);
  CheckNumerics numerics;
  numerics.SetStackSource([&](const Node& node) { return StackText(lines.StackOf(node)); });
  ASSIGN_OR_RETURN(Program checked, Program::Make(std::move(model), {.hook = &numerics}));
  llvm::consumeError(Train(checked, "naive", bad + 1).takeError());
  llvm::outs() << "  " << numerics.finding() << "\n";

  llvm::outs() << "The tensors of that step that are not finite:\n";
  ASSIGN_OR_RETURN(model, Build());
  BadTensors taps;
  ASSIGN_OR_RETURN(Program tapped, Program::Make(std::move(model), {.hook = &taps}));
  RETURN_IF_ERROR(Train(tapped, "naive", bad + 1).takeError());

  llvm::outs() << "With the probabilities clipped:\n";
  ASSIGN_OR_RETURN(model, Build());
  ASSIGN_OR_RETURN(Program fixed, Program::Make(std::move(model)));
  ASSIGN_OR_RETURN(bad, Train(fixed, "fixed", 500));
  if (bad >= 0) return MakeError("step {0} is not finite", bad);
  ASSIGN_OR_RETURN(std::vector<Tensor> test, Digits(1000));
  ASSIGN_OR_RETURN(std::vector<Tensor> p, fixed.Call("classify", {test[0]}));
  int right = 0;
  for (int i = 0; i < kBatch; ++i) {
    const float* row = p[0].data<float>() + i * kClasses;
    right += std::max_element(row, row + kClasses) - row == test[1].data<int32_t>()[i];
  }
  llvm::outs() << "unseen digits: " << right << " of " << kBatch << " are right\n";
  return Error::success();
}

int main() {
  llvm::ExitOnError check("nan_hunt: ");
  check(Hunt());
}
