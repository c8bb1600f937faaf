// The framework of `grapnel doctor`: checks that register themselves, their evidence, and their
// findings.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_DOCTOR_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_DOCTOR_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/check/doctor/network.h"
#include "lib/exec/tensor.h"
#include "lib/support/sentence.h"

namespace grapnel {

struct DebugRun;
struct ScalarLog;

// kCertain: it is true, and wrong. kLikely: it is true, and wrong in nearly every network.
// kPossible: it is true, and may be intended.
enum class Confidence : uint8_t { kCertain, kLikely, kPossible };
const char* ConfidenceName(Confidence confidence);

// A problem at a node of a graph, a variable, or a traced function.
struct Finding {
  std::string check;  // its name; set by the caller of the check
  Confidence confidence = Confidence::kLikely;
  std::string node, function;  // the function of the node; empty: the main graph
  std::string file;            // a checkpoint or a source file; else empty
  std::string what, advice;
  std::string made_at;  // "net.py:21 in loss_fn", if known; set by the caller of the check
};

// The evidence that a check needs; without it the check does not report.
enum class Evidence : uint8_t {
  kGraph,        // the graph alone
  kLoss,         // a graph with a loss
  kValues,       // a run
  kSteps,        // at least two runs of a training step
  kCheckpoints,  // two or more of one model
  kDebugFolder,
  kScalars,  // scalars of a training, in event files
};

// One variable over steps or checkpoints.
struct VariableHistory {
  std::string name;
  int variable = -1;  // in Network::variables(); -1: from a checkpoint
  DataType dtype = proto::DT_INVALID;
  std::vector<int64_t> dims;
  struct Moment {
    double norm = 0;    // Euclidean
    double change = 0;  // norm of the difference from the moment before
    double spread = 0;  // standard deviation
    int64_t bad = 0;    // NaN and infinities
  };
  std::vector<Moment> moments;  // the first is the initial state
  Tensor first, last;
  bool is_slot = false;  // from a checkpoint: an optimizer's slot
  bool IsWeight() const { return dims.size() >= 2; }
  bool Changed() const;
};
// Adds a moment; keeps `value`, which must not change.
void AddMoment(const Tensor& value, VariableHistory* history);

// The evidence for the checks. Everything is borrowed.
struct DoctorContext {
  const Network* network = nullptr;        // null: no graph
  int steps = 0;                           // the number run; 0: no values
  int batches = 0;                         // different feeds among the steps
  bool trained = false;                    // several steps changed variables
  std::vector<VariableHistory> variables;  // over the steps
  std::vector<std::string> checkpoints;    // names, in order
  std::vector<VariableHistory> saved;      // over the checkpoints
  const DebugRun* debug = nullptr;
  const ScalarLog* scalars = nullptr;
  std::string loss_tag;  // the tag of the loss that the user named; empty: search for losses

  // The history of a variable of the network; null if it has none.
  const VariableHistory* HistoryOf(int variable) const;
};

// The tensors of the run that a check wants to see. Callbacks come on one thread at a time.
class TensorWatches {
 public:
  using See = std::function<void(int step, const Tensor& value)>;
  // The producer or a reader of the tensor shows it; tensors whose nodes do not run are not shown.
  void Add(const BodyPort& port, See see);

  struct Entry {
    BodyPort port;
    See see;
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// One check on one context.
class Check {
 public:
  virtual ~Check() = default;
  // Called before the run; not called if there is no run.
  virtual void Watch(const DoctorContext&, TensorWatches&) {}
  // Called after the run. Returns "", or if the graph has nothing to check, why: "there is no
  // softmax".
  virtual std::string Run(const DoctorContext& context) = 0;

  std::vector<Finding> findings;
  bool lacks_evidence = false;  // the reason is missing evidence

 protected:
  // For use as the result of Run().
  std::string Lacks(std::string reason) {
    lacks_evidence = true;
    return reason;
  }
  // Adds a finding on a node; `what` and `advice` are sentences without a capital and a full stop.
  void Find(Confidence confidence, const Node& node, std::string what, std::string advice);
  // Adds a finding on a variable, function or file, by name.
  void Find(Confidence confidence, const std::string& name, std::string what, std::string advice);
};

// The stage from cause to consequence: findings are reported in this order.
enum class CheckStage : uint8_t { kInput, kModel, kActivation, kGradient, kStep };

struct CheckInfo {
  const char* name;  // the name of its file, in snake_case
  CheckStage stage;
  const char* looks_for;        // one line
  std::vector<Evidence> needs;  // any of these
  std::unique_ptr<Check> (*make)();
};
bool RegisterCheck(CheckInfo info);
std::vector<const CheckInfo*> Checks();  // sorted by name

// Use it at namespace scope, last in a check's file:
//   GRAPNEL_CHECK(DeadRelu, {.name = "dead_relu", .looks_for = "...", .needs = {...}});
#define GRAPNEL_CHECK(type, ...)                                                                \
  [[maybe_unused]] static const bool check_registered_ = [] {                                   \
    ::grapnel::CheckInfo info = __VA_ARGS__;                                                    \
    info.make = []() -> std::unique_ptr<::grapnel::Check> { return std::make_unique<type>(); }; \
    return ::grapnel::RegisterCheck(std::move(info));                                           \
  }()

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_DOCTOR_H_
