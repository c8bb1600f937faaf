// A program that runs op by op, and one that looks over its shoulder: every op with its line and
// what it made, up to the first that is not finite.
//
// Nothing needs to be added to step through it: `grapnel debug eager_steps.cpp:Softmax --eager`
// stops before its first op, and there `run -f has_inf_or_nan` goes to the one that is to blame.
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

// Told of each op as of a node of a graph. An error of it is the op's: what reads its result does
// not run.
class Steps : public RunHook {
 public:
  Tracer* tracer = nullptr;

  bool Wants(const Node&) override { return true; }
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override {
    std::optional<SourceFrame> frame = LineOf(StackOfNode(*tracer, node));
    llvm::outs() << "  step " << ++count_ << ": " << node.name() << " (" << node.op() << "), line "
                 << (frame ? frame->line : 0) << ": " << outputs[0].ToString() << "\n";
    if (HealthOf(outputs[0]).IsBad()) return MakeError("it makes what is not finite");
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
