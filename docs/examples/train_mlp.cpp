// A two-layer perceptron on digits that the program draws: trained, saved, and loaded again.
//
// The same functions without a program: `grapnel train train_mlp.cpp:TrainStep --feed x=X.npy
// --feed y=Y.npy`.
#include <cstdint>

#include "grapnel/job/program.h"
#include "grapnel/trace/losses.h"
#include "grapnel/trace/optimizers.h"
#include "grapnel/trace/registration.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

// Seven segments, lit as on a clock.
constexpr int kInputs = 7, kClasses = 10, kBatch = 20;
constexpr uint8_t kSegments[kClasses] = {0x77, 0x24, 0x5d, 0x6d, 0x2e,
                                         0x6b, 0x7b, 0x25, 0x7f, 0x6f};

struct Mlp {
  explicit Mlp(Tracer& t)
      : hidden(t, "hidden/kernel", initial::Glorot({kInputs, 32}, /*seed=*/1)),
        hidden_bias(t, "hidden/bias", initial::Zeros({32})),
        output(t, "output/kernel", initial::Glorot({32, kClasses}, /*seed=*/2)),
        output_bias(t, "output/bias", initial::Zeros({kClasses})) {}

  Value Logits(const Value& x) const {
    Value h = Relu(MatMul(x, hidden) + hidden_bias);
    return MatMul(h, output) + output_bias;
  }

  Variable hidden, hidden_bias, output, output_bias;
};

Value TrainStep(Tracer& t, Value x, Value y) {
  Mlp mlp(t);
  Value loss = SparseCategoricalCrossentropy(y, mlp.Logits(x), Predictions::kLogits);
  Adam adam(t, {.learning_rate = 0.01});
  adam.Minimize(loss, Trainable(t));
  return loss;
}
GRAPNEL_TRACE(TrainStep,
              {{"x", proto::DT_FLOAT, {kBatch, kInputs}}, {"y", proto::DT_INT32, {kBatch}}});

Value Serve(Tracer& t, Value x) { return Mlp(t).Logits(x); }
GRAPNEL_TRACE(Serve, {{"x", proto::DT_FLOAT, {kUnknownDim, kInputs}}});

// Digits with slightly flickering segments.
static Expected<std::vector<Tensor>> Batch(int step) {
  ASSIGN_OR_RETURN(Tensor x, Tensor::Allocate(proto::DT_FLOAT, {kBatch, kInputs}));
  ASSIGN_OR_RETURN(Tensor y, Tensor::Allocate(proto::DT_INT32, {kBatch}));
  uint32_t noise = 2463534242u + step;
  for (int i = 0; i < kBatch; ++i) {
    int digit = i % kClasses;
    y.data<int32_t>()[i] = digit;
    for (int k = 0; k < kInputs; ++k) {
      noise ^= noise << 13, noise ^= noise >> 17, noise ^= noise << 5;
      x.data<float>()[i * kInputs + k] =
          static_cast<float>(kSegments[digit] >> k & 1) + static_cast<float>(noise % 1000) * 3e-4f;
    }
  }
  return std::vector<Tensor>{x, y};
}

static Error Run(llvm::StringRef folder) {
  ModelBuilder builder;
  builder.Add("train_step",
              {{"x", proto::DT_FLOAT, {kBatch, kInputs}}, {"y", proto::DT_INT32, {kBatch}}},
              TrainStep, {"loss"});
  builder.Add("serve", {{"x", proto::DT_FLOAT, {kUnknownDim, kInputs}}}, Serve, {"logits"});
  ASSIGN_OR_RETURN(TracedModel model, builder.Finish());
  ASSIGN_OR_RETURN(Program program, Program::Make(std::move(model)));
  for (int step = 0; step < 300; ++step) {
    ASSIGN_OR_RETURN(std::vector<Tensor> batch, Batch(step));
    ASSIGN_OR_RETURN(std::vector<Tensor> loss, program.Call("train_step", std::move(batch)));
    if (step % 100 == 0 || step == 299)
      llvm::outs() << "step " << step << ": loss " << *loss[0].data<float>() << "\n";
  }
  RETURN_IF_ERROR(program.SaveModel(folder));

  ASSIGN_OR_RETURN(Program loaded, Program::Load(folder));
  ASSIGN_OR_RETURN(std::vector<Tensor> test, Batch(1000));
  ASSIGN_OR_RETURN(std::vector<Tensor> logits, loaded.Call("serve", {test[0]}));
  int right = 0;
  for (int i = 0; i < kBatch; ++i) {
    const float* row = logits[0].data<float>() + i * kClasses;
    right += std::max_element(row, row + kClasses) - row == test[1].data<int32_t>()[i];
  }
  llvm::outs() << "unseen digits: " << right << " of " << kBatch << " are right\n";
  return Error::success();
}

int main(int argc, char** argv) {
  llvm::ExitOnError check("train_mlp: ");
  check(Run(argc > 1 ? argv[1] : "trained_mlp"));
}
