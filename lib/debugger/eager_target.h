// A debugger target for a C++ function in eager mode.
#ifndef GRAPNEL_LIB_DEBUGGER_EAGER_TARGET_H_
#define GRAPNEL_LIB_DEBUGGER_EAGER_TARGET_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/debugger/debug_target.h"
#include "lib/exec/session.h"
#include "lib/support/cancel.h"
#include "lib/support/thread_pool.h"
#include "lib/trace/eager.h"

namespace grapnel {

// A function that can run op by op.
struct EagerProgram {
  std::string name;  // for errors
  std::vector<TensorSpec> inputs;
  std::function<Values(Tracer&, llvm::ArrayRef<Value>)> call;
};

// Returns the name that result `i` has in a traced graph: "Identity", "Identity_1".
std::string ResultName(size_t i);

class EagerTarget : public DebugTarget {
 public:
  // `feeds`: one value per input of the program.
  EagerTarget(EagerProgram program, std::vector<Tensor> feeds, MessageSink print);
  ~EagerTarget() override;

  Error Begin() override;
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> values) override;
  // Makes ops fail until the function returns.
  void End() override;
  const Module& module() const override { return tracer_ ? tracer_->module() : nothing_; }
  bool grows() const override { return true; }
  const std::vector<std::string>& feeds() const override { return feeds_; }
  const std::vector<Tensor>& feed_values() const override { return values_; }
  const std::vector<std::string>& fetches() const override { return results_; }
  const std::vector<std::string>& fetch_names() const override { return results_; }
  const LineTable& lines() const override;
  LineTable::Stack StackOf(const Node& node) const override;
  const std::string& path() const override { return path_; }

 private:
  const EagerProgram program_;
  std::vector<std::string> feeds_, results_;
  std::vector<Tensor> values_;
  MessageSink print_;
  ThreadPool pool_;
  Module nothing_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<CancelFlag> cancel_;
  std::unique_ptr<Tracer> tracer_;  // of the last run
  const std::string path_;
  // The source lines of the nodes; made when there were num_nodes_ nodes.
  mutable LineTable lines_;
  mutable size_t num_nodes_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUGGER_EAGER_TARGET_H_
