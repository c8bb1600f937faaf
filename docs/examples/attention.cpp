// Attention weights as heat maps: two heads learn to say a sentence backwards, and the program
// writes pictures of their weights before and after.
//
//   ./attention FOLDER     attention_before.png and attention_after.png: one tile per head, queries
//                          down, keys across
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>

#include "grapnel/job/program.h"
#include "grapnel/trace/array_ops.h"
#include "grapnel/trace/losses.h"
#include "grapnel/trace/math_ops.h"
#include "grapnel/trace/nn_ops.h"
#include "grapnel/trace/optimizers.h"
#include "grapnel/trace/registration.h"
#include "grapnel/watch/heat_map.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

constexpr int kBatch = 16, kTime = 8, kWords = 12, kHeads = 2, kUnits = 32;

struct Attended {
  Value logits;   // [batch, time, words]
  Value weights;  // [batch, heads, time, time]
};

static Attended Attend(Tracer& t, const Value& words) {
  uint64_t seed = 0;
  auto dense = [&](const char* name, const Value& x, int outputs) {
    Variable kernel(t, name, initial::Glorot({kUnits, outputs}, ++seed));
    Value flat = MatMul(Reshape(x, {kBatch * kTime, kUnits}), kernel);
    return Reshape(flat, {kBatch, kTime, outputs});
  };
  auto split = [](const Value& x) {  // [batch, heads, time, units per head]
    return Transpose(Reshape(x, {kBatch, kTime, kHeads, kUnits / kHeads}), {0, 2, 1, 3});
  };
  Variable table(t, "words", initial::Uniform({kWords, kUnits}, -0.5, 0.5, /*seed=*/100));
  Variable places(t, "places", initial::Uniform({kTime, kUnits}, -0.5, 0.5, /*seed=*/200));
  Value x = table.Gather(words) + places;
  Value q = split(dense("query", x, kUnits)), k = split(dense("key", x, kUnits));
  Value v = split(dense("value", x, kUnits));
  auto scope = t.Scope("attention");
  Value scores = t.Op("BatchMatMulV2", {q, k}, {{"adj_y", true}});
  Value weights = Softmax(scores / std::sqrt(static_cast<float>(kUnits / kHeads)));
  Value heads = t.Op("BatchMatMulV2", {weights, v});
  Value joined = Reshape(Transpose(heads, {0, 2, 1, 3}), {kBatch, kTime, kUnits});
  return {dense("output", joined, kWords), weights};
}

Value TrainStep(Tracer& t, Value words) {
  Value backwards = Reverse(words, {1});
  Attended made = Attend(t, words);
  Value loss = SparseCategoricalCrossentropy(backwards, made.logits, Predictions::kLogits);
  Adam adam(t, {.learning_rate = 0.01});
  adam.Minimize(loss, Trainable(t));
  return loss;
}
GRAPNEL_TRACE(TrainStep, {{"words", proto::DT_INT32, {kBatch, kTime}}});

// The words that the model says, and the weights of each head, averaged over the batch.
Values Look(Tracer& t, Value words) {
  Attended made = Attend(t, words);
  return {ArgMax(made.logits, -1, proto::DT_INT32), ReduceMean(made.weights, 0)};
}
GRAPNEL_TRACE(Look, {{"words", proto::DT_INT32, {kBatch, kTime}}});

static Expected<Tensor> Sentences(int step) {
  ASSIGN_OR_RETURN(Tensor words, Tensor::Allocate(proto::DT_INT32, {kBatch, kTime}));
  uint32_t noise = 2463534242u + step * 7919u;
  for (int i = 0; i < kBatch * kTime; ++i) {
    noise ^= noise << 13, noise ^= noise >> 17, noise ^= noise << 5;
    words.data<int32_t>()[i] = static_cast<int32_t>(noise % kWords);
  }
  return words;
}

static Error Report(Program& program, const std::string& picture) {
  ASSIGN_OR_RETURN(Tensor words, Sentences(100000));
  ASSIGN_OR_RETURN(std::vector<Tensor> seen, program.Call("look", {words}));
  int right = 0;
  for (int i = 0; i < kBatch * kTime; ++i) {
    int mirrored = i / kTime * kTime + kTime - 1 - i % kTime;
    right += seen[0].data<int32_t>()[i] == words.data<int32_t>()[mirrored];
  }
  llvm::outs() << llvm::formatv("{0} of {1} words are right\n", right, kBatch * kTime);
  for (int head = 0; head < kHeads; ++head) {
    llvm::outs() << "head " << head << " looks at";
    for (int query = 0; query < kTime; ++query) {
      const float* row = seen[1].data<float>() + (head * kTime + query) * kTime;
      const float* most = std::max_element(row, row + kTime);
      llvm::outs() << llvm::formatv(" {0} ({1:f2})", most - row, *most);
    }
    llvm::outs() << "\n";
  }
  ASSIGN_OR_RETURN(HeatMap map, HeatMapOf(seen[1]));
  std::ofstream(picture, std::ios::binary) << map.png;
  llvm::outs() << picture << ": " << map.layout << "\n";
  return Error::success();
}

static Error Run(const std::string& folder) {
  TensorSpec words{"words", proto::DT_INT32, {kBatch, kTime}};
  ModelBuilder builder;
  builder.Add("train_step", {words}, TrainStep, {"loss"});
  builder.Add("look", {words}, Look, {"words", "weights"});
  ASSIGN_OR_RETURN(TracedModel model, builder.Finish());
  ASSIGN_OR_RETURN(Program program, Program::Make(std::move(model)));
  RETURN_IF_ERROR(Report(program, folder + "/attention_before.png"));
  for (int step = 0; step < 400; ++step) {
    ASSIGN_OR_RETURN(Tensor batch, Sentences(step));
    ASSIGN_OR_RETURN(std::vector<Tensor> loss, program.Call("train_step", {batch}));
    if (step % 100 == 0 || step == 399)
      llvm::outs() << llvm::formatv("step {0}: loss {1:f4}\n", step, *loss[0].data<float>());
  }
  return Report(program, folder + "/attention_after.png");
}

int main(int argc, char** argv) {
  llvm::ExitOnError check("attention: ");
  check(Run(argc > 1 ? argv[1] : "."));
}
