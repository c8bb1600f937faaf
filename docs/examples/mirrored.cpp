// Mirrored variables on four virtual devices: each device has a copy of every variable and learns
// from its part of the batch; the gradients are averaged, and every copy takes the same step.
//
// Results stay on the device that makes them; only shares of the batch, losses, gradients and their
// means move between devices. The copies stay equal bit for bit, and the model equals that of one
// device with the whole batch, except for rounding.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>

#include "grapnel/job/program.h"
#include "grapnel/trace/array_ops.h"
#include "grapnel/trace/gradient.h"
#include "grapnel/trace/math_ops.h"
#include "grapnel/trace/registration.h"
#include "grapnel/trace/variable.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

constexpr int kDevices = 4, kBatch = 32, kInputs = 5;

static std::string DeviceName(int i) { return "/device:CPU:" + std::to_string(i); }

// One copy of a variable per device: `w`, `w_replica_1`, ...
struct Mirrored {
  Mirrored(Tracer& t, const std::string& name, const Literal& initial, int devices) {
    for (int i = 0; i < devices; ++i) {
      auto on = t.Device(DeviceName(i));
      std::string copy = i == 0 ? name : name + "_replica_" + std::to_string(i);
      copies.emplace_back(t, copy, initial);
    }
  }
  std::vector<Variable> copies;
};

// One step of gradient descent on a linear model, on the given number of devices.
static Value Step(Tracer& t, const Value& x, const Value& y, int devices) {
  Mirrored w(t, "w", initial::Zeros({kInputs, 1}), devices);
  Mirrored b(t, "b", initial::Zeros({1}), devices);
  Values xs = Split(x, devices), ys = Split(y, devices);
  Values losses, of_w, of_b;
  for (int i = 0; i < devices; ++i) {
    auto on = t.Device(DeviceName(i));
    auto scope = t.Scope("replica_" + std::to_string(i));
    Value error = MatMul(xs[i], w.copies[i]) + b.copies[i] - ys[i];
    Value loss = ReduceMean(Square(error));
    Values gradients = Gradients(t, {loss}, {w.copies[i], b.copies[i]});
    losses.push_back(loss);
    of_w.push_back(gradients[0]);
    of_b.push_back(gradients[1]);
  }
  auto mean = [&](const Values& values) {
    auto on = t.Device(DeviceName(0));
    return AddN(values) / static_cast<float>(devices);
  };
  Value step_w = 0.1f * mean(of_w), step_b = 0.1f * mean(of_b), loss = mean(losses);
  for (int i = 0; i < devices; ++i) {
    auto on = t.Device(DeviceName(i));
    w.copies[i].AssignSub(step_w);
    b.copies[i].AssignSub(step_b);
  }
  return loss;
}

Value OnFour(Tracer& t, Value x, Value y) { return Step(t, x, y, kDevices); }
Value OnOne(Tracer& t, Value x, Value y) { return Step(t, x, y, 1); }
GRAPNEL_TRACE(OnFour,
              {{"x", proto::DT_FLOAT, {kBatch, kInputs}}, {"y", proto::DT_FLOAT, {kBatch, 1}}});

// Counts the nodes that run on each device, in one call.
class NodesByDevice : public RunHook {
 public:
  bool Wants(const Node&) override { return true; }
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor>) override {
    std::lock_guard<std::mutex> lock(mutex_);
    ++counts[node.device().str()];
    return Error::success();
  }
  std::map<std::string, int> counts;

 private:
  std::mutex mutex_;  // devices run side by side
};

// y = x * (1, 2, 3, 4, 5) + 6.
static Expected<std::vector<Tensor>> Examples(int step) {
  ASSIGN_OR_RETURN(Tensor x, Tensor::Allocate(proto::DT_FLOAT, {kBatch, kInputs}));
  ASSIGN_OR_RETURN(Tensor y, Tensor::Allocate(proto::DT_FLOAT, {kBatch, 1}));
  uint32_t noise = 2463534242u + step * 7919u;
  for (int i = 0; i < kBatch; ++i) {
    float sum = 6;
    for (int k = 0; k < kInputs; ++k) {
      noise ^= noise << 13, noise ^= noise >> 17, noise ^= noise << 5;
      float number = x.data<float>()[i * kInputs + k] = static_cast<float>(noise % 2001) / 1000 - 1;
      sum += number * static_cast<float>(k + 1);
    }
    y.data<float>()[i] = sum;
  }
  return std::vector<Tensor>{x, y};
}

static Expected<Program> Build(Value (*step)(Tracer&, Value, Value),
                               const ProgramOptions& options) {
  ModelBuilder builder;
  builder.Add("train_step",
              {{"x", proto::DT_FLOAT, {kBatch, kInputs}}, {"y", proto::DT_FLOAT, {kBatch, 1}}},
              step, {"loss"});
  ASSIGN_OR_RETURN(TracedModel model, builder.Finish());
  return Program::Make(std::move(model), options);
}

static Error Run() {
  NodesByDevice nodes;
  ASSIGN_OR_RETURN(Program four, Build(OnFour, {.hook = &nodes, .devices = "cpu:4"}));
  ASSIGN_OR_RETURN(Program one, Build(OnOne, {}));
  for (int step = 0; step < 200; ++step) {
    ASSIGN_OR_RETURN(std::vector<Tensor> examples, Examples(step));
    ASSIGN_OR_RETURN(std::vector<Tensor> loss, four.Call("train_step", examples));
    RETURN_IF_ERROR(one.Call("train_step", examples).takeError());
    if (step == 0) {
      for (const auto& [device, count] : nodes.counts)
        llvm::outs() << device << " ran " << count << " nodes\n";
    }
    if (step % 50 == 0 || step == 199)
      llvm::outs() << llvm::formatv("step {0}: loss {1:f6}\n", step, *loss[0].data<float>());
  }
  float apart = 0, from_one = 0;
  ASSIGN_OR_RETURN(Tensor w, four.Get("w"));
  ASSIGN_OR_RETURN(Tensor alone, one.Get("w"));
  for (int i = 0; i < kDevices; ++i) {
    ASSIGN_OR_RETURN(Tensor copy, four.Get(i == 0 ? "w" : "w_replica_" + std::to_string(i)));
    llvm::outs() << "w of device " << i << ": " << copy.ToString() << "\n";
    for (int k = 0; k < kInputs; ++k) {
      apart = std::max(apart, std::abs(copy.data<float>()[k] - w.data<float>()[k]));
      from_one = std::max(from_one, std::abs(copy.data<float>()[k] - alone.data<float>()[k]));
    }
  }
  llvm::outs() << "copies are " << (apart == 0 ? "equal" : "not equal")
               << (from_one < 1e-5 ? ", and equal those of one device\n"
                                   : ", and differ from those of one device\n");
  return Error::success();
}

int main() {
  llvm::ExitOnError check("mirrored: ");
  check(Run());
}
