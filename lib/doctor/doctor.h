// The framework of `grapnel doctor`: checks that register themselves, their evidence, and their
// findings.
#ifndef GRAPNEL_LIB_DOCTOR_DOCTOR_H_
#define GRAPNEL_LIB_DOCTOR_DOCTOR_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/doctor/network.h"
#include "lib/exec/tensor.h"
#include "lib/support/sentence.h"

namespace grapnel {

struct DebugRun;
struct ScalarLog;

// How certain it is that a finding, which is always a true statement, is a problem. kCertain: it is
// one. kLikely: it is one in nearly every network. kPossible: it may be intended.
enum class Confidence : uint8_t { kCertain, kLikely, kPossible };
const char* ConfidenceName(Confidence confidence);

// A problem at a node of a graph, a variable, a traced function, or a curve.
struct Finding {
  std::string check;  // name of the check; set by the caller of the check
  Confidence confidence = Confidence::kLikely;
  std::string node, function;  // function: the one that has the node; empty: the main graph
  std::string file;            // file, folder or source line of the problem; or empty
  std::string what, advice;
  // Set by the caller of the check, if known: "net.py:21 in loss_fn", the path of the layer, and
  // the name that the variable has in the program: "dense1/kernel".
  std::string made_at, layer, variable;
};

// The kinds of evidence that checks need. A check for which none of its kinds is available does not
// run.
enum class Evidence : uint8_t {
  kGraph,        // the graph alone
  kLoss,         // a graph with a loss
  kValues,       // a run
  kSteps,        // at least two runs of a training step
  kCheckpoints,  // one or more checkpoints of one model
  kDebugFolder,
  kScalars,  // scalars of a training, in event files
};

// The history of one variable over steps or checkpoints.
struct VariableHistory {
  std::string name;
  int variable = -1;  // in Network::variables(); -1: from a checkpoint
  DataType dtype = proto::DT_INVALID;
  std::vector<int64_t> dims;
  struct Moment {
    double norm = 0;    // Euclidean norm
    double change = 0;  // norm of the difference from the previous moment
    double spread = 0;  // standard deviation
    int64_t bad = 0;    // number of NaNs and infinities
  };
  std::vector<Moment> moments;  // the first is the initial state or the first checkpoint
  Tensor first, last;
  bool is_slot = false;  // the variable is a slot of an optimizer (known only for checkpoints)
  bool IsWeight() const { return dims.size() >= 2; }
  bool Changed() const;
};
// Adds a moment to the history. The history keeps `value` without a copy: do not change the tensor
// afterwards.
void AddMoment(const Tensor& value, VariableHistory* history);

// The evidence for the checks. All pointers are borrowed.
struct DoctorContext {
  const Network* network = nullptr;        // null: no graph
  int steps = 0;                           // number of steps that ran; 0: there are no values
  int batches = 0;                         // number of batches among which the steps rotate
  bool trained = false;                    // several steps of a graph that trains ran
  std::vector<VariableHistory> variables;  // over the steps
  std::vector<std::string> checkpoints;    // names of the checkpoints, in order
  std::vector<VariableHistory> saved;      // over the checkpoints
  const DebugRun* debug = nullptr;
  const ScalarLog* scalars = nullptr;
  std::string loss_tag;  // the tag of the loss that the user named; empty: search for losses

  // Returns the history of a variable, given its index in Network::variables(); null if there is
  // none.
  const VariableHistory* HistoryOf(int variable) const;
};

// The tensors of the run that a check wants to see, each with a callback. Callbacks are called by
// one thread at a time.
class TensorWatches {
 public:
  using See = std::function<void(int step, const Tensor& value)>;
  // Calls `see` when the node that computes the tensor has run or, for a function's argument,
  // before its first reader runs; does not call it if this node does not run. If the tensor is fed,
  // `see` gets the fed value in each step.
  void Add(const BodyPort& port, See see);

  struct Entry {
    BodyPort port;
    See see;
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// A check. Each object is used for one context only.
class Check {
 public:
  virtual ~Check() = default;
  // Called before the run, if there is one.
  virtual void Watch(const DoctorContext&, TensorWatches&) {}
  // Called after the run; adds to `findings`. Returns "", or the reason why there is nothing to
  // check, "there is no softmax", or why it cannot be checked (Lacks()).
  virtual std::string Run(const DoctorContext& context) = 0;

  std::vector<Finding> findings;
  bool lacks_evidence = false;  // Run() returned a reason because evidence is missing

 protected:
  // Sets lacks_evidence and returns the reason, as the result of Run().
  std::string Lacks(std::string reason) {
    lacks_evidence = true;
    return reason;
  }
  // Adds a finding about a node; `what` and `advice` are sentences without a capital and a period.
  void Find(Confidence confidence, const Node& node, std::string what, std::string advice);
  // Adds a finding about a variable, function, curve or op with this name.
  void Find(Confidence confidence, const std::string& name, std::string what, std::string advice);
};

// The part of training that a check is about, from causes to consequences. Findings are reported in
// this order.
enum class CheckStage : uint8_t { kInput, kModel, kActivation, kGradient, kStep };

struct CheckInfo {
  const char* name;  // in snake_case, the same as the name of the check's file
  CheckStage stage;
  const char* looks_for;        // what the check finds, in one line
  std::vector<Evidence> needs;  // any one of these suffices
  std::unique_ptr<Check> (*make)();
};
bool RegisterCheck(CheckInfo info);
std::vector<const CheckInfo*> Checks();  // sorted by name

// Registers a check. Use it at namespace scope, last in the check's file:
//   GRAPNEL_CHECK(DeadRelu, {.name = "dead_relu", .looks_for = "...", .needs = {...}});
#define GRAPNEL_CHECK(type, ...)                                                                \
  [[maybe_unused]] static const bool check_registered_ = [] {                                   \
    ::grapnel::CheckInfo info = __VA_ARGS__;                                                    \
    info.make = []() -> std::unique_ptr<::grapnel::Check> { return std::make_unique<type>(); }; \
    return ::grapnel::RegisterCheck(std::move(info));                                           \
  }()

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_DOCTOR_H_
