// While, If and Case of an eager program: C++ loops and branches on existing tensors.
#include "lib/exec/call_stack.h"
#include "lib/trace/eager_runner.h"
#include "lib/trace/user_call.h"

namespace grapnel {
namespace {

// Returns the tensor of `value`, the condition or index that selects a branch, if it has one
// element; nullopt after an error. `what`: "if"; `called`: "condition".
std::optional<Tensor> Chooser(TraceState& state, const Value& value, DataType dtype,
                              const char* what, const char* called, const SourceLocation& where,
                              Value* failed) {
  EagerRunner& runner = *state.eager;
  std::string problem;
  if (!value.ok() && value.body()) {
    *failed = value;  // already reported
    return std::nullopt;
  }
  const EagerTensor* tensor = value.ok() ? EagerOf(value) : nullptr;
  if (!value.body()) {
    problem = " is a Value that was never made";
  } else if (std::string foreign = ForeignText(value, state); !foreign.empty()) {
    problem = foreign;
  } else if (!tensor) {
    problem = " ('" + value.name() + "') is traced, and has no value here";
  } else if (!runner.IsSeen(*tensor)) {
    problem = " belongs to a branch or loop body that has ended: return the value from it";
  } else if (tensor->tensor.dtype() != dtype) {
    problem = (" is " + DataTypeName(tensor->tensor.dtype()) + ", " + DataTypeName(dtype) +
               " was expected")
                  .str();
  } else if (tensor->tensor.num_elements() != 1) {
    problem = " has shape " + DimsText(tensor->tensor.dims()) + ", a scalar was expected";
  } else {
    return tensor->tensor;
  }
  *failed = runner.Fail(where, std::string(what) + ": the " + called + problem);
  return std::nullopt;
}

class Loop {
 public:
  Loop(TraceState& state, llvm::ArrayRef<Operand> init, const SourceLocation& where)
      : state_(state), runner_(*state.eager), where_(where) {
    for (const Operand& operand : init) vars_.push_back(ToValue(state, operand));
  }

  Values Run(llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
             llvm::function_ref<Values(llvm::ArrayRef<Value>)> body) {
    for (const Value& var : vars_) {
      if (!var.ok())
        return Failed(
            var.body()
                ? var
                : runner_.Fail(
                      where_,
                      "while: the initial value of a variable is a Value that was never made"));
    }
    for (const Value& var : vars_) {
      types_.push_back(var.dtype());
      shapes_.push_back(var.shape());
    }
    // If there is a hook, the loop gets a name and the hook sees its iterations like those of a
    // loop in a graph.
    std::string name = runner_.options().hook ? state_.bodies[0]->UniqueName("while") : "";
    CallFrame frame;
    frame.loop = name;
    frame.outer = CurrentCall();
    InCall in_loop(name.empty() ? frame.outer : &frame);
    while (true) {
      Value go, failed;
      if (runner_.IsCancelled()) return Failed(runner_.Cancelled(where_));
      ++frame.iteration;
      {
        EagerRunner::Call call(runner_);
        if (!CallUser(state_, "while: the condition", where_, [&] { go = cond(vars_); }))
          return Failed(runner_.FailedAlready());
        auto chooser = Chooser(state_, go, proto::DT_BOOL, "while", "condition", where_, &failed);
        if (!chooser) return Failed(failed);
        if (!*chooser->data<bool>()) return vars_;
      }
      EagerRunner::Call call(runner_);
      Values next;
      if (!CallUser(state_, "while: the body", where_, [&] { next = body(vars_); }))
        return Failed(runner_.FailedAlready());
      if (!CheckNext(next, &failed)) return Failed(failed);
      call.GiveOut(next);
      vars_ = std::move(next);
    }
  }

 private:
  Values Failed(const Value& value) const { return Values(vars_.size(), value); }

  bool CheckNext(const Values& next, Value* failed) {
    std::string text;
    if (next.size() != vars_.size()) {
      text = llvm::formatv("while: the body returns {0} values for {1} variables", next.size(),
                           vars_.size());
    }
    for (size_t i = 0; i < next.size() && text.empty(); ++i) {
      if (!next[i].ok() && next[i].body()) {
        *failed = next[i];
        return false;
      }
      std::string foreign =
          next[i].body() ? ForeignText(next[i], state_) : " is a Value that was never made";
      if (!foreign.empty()) {
        text = llvm::formatv("while: result {0} of the body{1}", i, foreign);
      } else if (next[i].dtype() != types_[i]) {
        text = llvm::formatv("while: variable {0} is {1}, but the body returns {2}", i,
                             DataTypeName(types_[i]), DataTypeName(next[i].dtype()));
      } else if (next[i].shape() != shapes_[i]) {
        text = llvm::formatv("while: variable {0} has shape {1}, but the body returns shape {2}", i,
                             shapes_[i].ToString(), next[i].shape().ToString());
      }
    }
    if (!text.empty()) *failed = runner_.Fail(where_, text);
    return text.empty();
  }

  TraceState& state_;
  EagerRunner& runner_;
  const SourceLocation where_;
  Values vars_;
  std::vector<DataType> types_;
  std::vector<Shape> shapes_;
};

// Calls a branch and checks its results.
Values CallBranch(TraceState& state, const char* what, llvm::function_ref<Values()> branch,
                  const SourceLocation& where) {
  EagerRunner& runner = *state.eager;
  EagerRunner::Call call(runner);
  Values results;
  if (!CallUser(state, (llvm::Twine(what) + ": the branch").str(), where,
                [&] { results = branch(); }))
    return {runner.FailedAlready()};
  for (size_t i = 0; i < results.size(); ++i) {
    std::string problem;
    if (!results[i].body())
      problem = " is a Value that was never made";
    else if (results[i].ok())
      problem = ForeignText(results[i], state);
    if (!problem.empty())
      results[i] = runner.Fail(
          where, llvm::formatv("{0}: result {1} of the branch{2}", what, i, problem).str());
  }
  call.GiveOut(results);
  return results;
}

}  // namespace

Values RunWhile(TraceState& state, llvm::function_ref<Value(llvm::ArrayRef<Value>)> cond,
                llvm::function_ref<Values(llvm::ArrayRef<Value>)> body,
                llvm::ArrayRef<Operand> init, const SourceLocation& where) {
  return Loop(state, init, where).Run(cond, body);
}

Values RunIf(TraceState& state, const Operand& cond, llvm::function_ref<Values()> then,
             llvm::function_ref<Values()> otherwise, const SourceLocation& where) {
  Value failed;
  auto chooser =
      Chooser(state, ToValue(state, cond), proto::DT_BOOL, "if", "condition", where, &failed);
  if (!chooser) return {failed};
  return CallBranch(state, "if", *chooser->data<bool>() ? then : otherwise, where);
}

Values RunCase(TraceState& state, const Operand& index,
               llvm::ArrayRef<llvm::function_ref<Values()>> branches, const SourceLocation& where) {
  Value failed;
  if (branches.empty()) return {state.eager->Fail(where, "case: there are no branches")};
  auto chooser =
      Chooser(state, ToValue(state, index), proto::DT_INT32, "case", "index", where, &failed);
  if (!chooser) return {failed};
  int32_t chosen = *chooser->data<int32_t>(), count = static_cast<int32_t>(branches.size());
  if (chosen < 0 || chosen >= count) chosen = count - 1;
  return CallBranch(state, "case", branches[chosen], where);
}

}  // namespace grapnel
