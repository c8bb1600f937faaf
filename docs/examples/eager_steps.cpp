// A program that runs op by op, with a hook that prints every op with its line and output, up to
// the first output that is not finite.
//
// You can step through it without changes: `grapnel debug eager_steps.cpp:Softmax --eager` stops
// before its first op; from there `run -f has_inf_or_nan` runs to the op that caused it.
#include "grapnel/exec/executor.h"
#include "grapnel/trace/eager.h"
#include "grapnel/trace/ops.h"
#include "grapnel/trace/registration.h"
#include "grapnel/watch/health.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

// float's exp is infinite from 88.8 on.
Value Softmax(Tracer& t) {
  Value x = t.Constant(std::vector<float>{1, 100, 3});
  Value e = Exp(x);
  return e / ReduceSum(e);
}
GRAPNEL_TRACE(Softmax);

Value SoftmaxMended(Tracer& t) {
  Value x = t.Constant(std::vector<float>{1, 100, 3});
  Value e = Exp(x - ReduceMax(x));
  return e / ReduceSum(e);
}
GRAPNEL_TRACE(SoftmaxMended);

// Called for each op as for a node of a graph. An error from the hook is an error of the op: ops
// that read its result do not run.
class Steps : public RunHook {
 public:
  Tracer* tracer = nullptr;

  bool Wants(const Node&) override { return true; }
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override {
    std::optional<SourceFrame> frame = LineOf(StackOfNode(*tracer, node));
    llvm::outs() << "  step " << ++count_ << ": " << node.name() << " (" << node.op() << "), line "
                 << (frame ? frame->line : 0) << ": " << outputs[0].ToString() << "\n";
    if (HealthOf(outputs[0]).IsBad()) return MakeError("its output is not finite");
    return Error::success();
  }

 private:
  int count_ = 0;
};

int main() {
  for (const TracedFunction& function : TracedFunctions()) {
    llvm::outs() << function.name << "\n";
    Steps steps;
    EagerOptions options;
    options.hook = &steps;
    Tracer t(options);
    steps.tracer = &t;
    auto results = RunEagerly(t, function.name, function.inputs, function.call, {});
    if (results)
      llvm::outs() << "  result: " << (*results)[0].ToString() << "\n";
    else
      llvm::outs() << "  " << TextOf(results.takeError()) << "\n";
  }
}
