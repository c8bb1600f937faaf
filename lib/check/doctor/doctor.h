// What `grapnel doctor` looks for: checks that register themselves, what they are shown, and what
// they find.
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

// kCertain: it is so, and it is wrong. kLikely: it is so, and wrong in nearly every network.
// kPossible: it is so, and may be meant.
enum class Confidence : uint8_t { kCertain, kLikely, kPossible };
const char* ConfidenceName(Confidence confidence);

// Where: a node of a graph, a variable, or a function that was traced.
struct Finding {
  std::string check;  // its name; made by who runs it
  Confidence confidence = Confidence::kLikely;
  std::string node, function;  // the function that the node is in; empty: the main graph
  std::string file;            // of a checkpoint or a source file; else empty
  std::string what, advice;
  std::string made_at;  // "net.py:21 in loss_fn", where the graph says so; made by who runs it
};

// What a check needs to see; it says nothing where that is not there.
enum class Evidence : uint8_t {
  kGraph,        // the graph alone
  kLoss,         // a graph with a loss
  kValues,       // a run
  kSteps,        // runs of a step that trains, two at least
  kCheckpoints,  // two or more of one model
  kDebugFolder,
  kScalars,  // of a training, in event files
};

// One variable over steps or checkpoints.
struct VariableHistory {
  std::string name;
  int variable = -1;  // in Network::variables(); -1: of a checkpoint
  DataType dtype = proto::DT_INVALID;
  std::vector<int64_t> dims;
  struct Moment {
    double norm = 0;    // Euclid's
    double change = 0;  // norm of the difference from the moment before
    double spread = 0;  // standard deviation
    int64_t bad = 0;    // NaN and infinities
  };
  std::vector<Moment> moments;  // the first is the beginning
  Tensor first, last;
  bool is_slot = false;  // of a checkpoint: an optimizer's own
  bool IsWeight() const { return dims.size() >= 2; }
  bool Changed() const;
};
// Adds a moment; keeps `value`, which nobody may change.
void AddMoment(const Tensor& value, VariableHistory* history);

// What is there to be looked at. All borrowed.
struct DoctorContext {
  const Network* network = nullptr;        // null: no graph
  int steps = 0;                           // that were run; 0: no values
  int batches = 0;                         // of different feeds among them
  bool trained = false;                    // of several steps that change variables
  std::vector<VariableHistory> variables;  // over the steps
  std::vector<std::string> checkpoints;    // names, in order
  std::vector<VariableHistory> saved;      // over these
  const DebugRun* debug = nullptr;
  const ScalarLog* scalars = nullptr;
  std::string loss_tag;  // of scalars the one that a person named; empty: they are looked for

  // The history of a variable of the network; null: none.
  const VariableHistory* HistoryOf(int variable) const;
};

// Which tensors of the run a check wants to see. Called on one thread at a time.
class TensorWatches {
 public:
  using See = std::function<void(int step, const Tensor& value)>;
  // What makes it, or what reads it, shows it; not told of nodes that do not run.
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
  // Before the run; not called where there is none.
  virtual void Watch(const DoctorContext&, TensorWatches&) {}
  // After it. Where the graph has nothing that the check is of, what: "there is no softmax".
  virtual std::string Run(const DoctorContext& context) = 0;

  std::vector<Finding> findings;
  bool lacks_evidence = false;  // the reason is that what it needs was not there after all

 protected:
  // As the answer of Run().
  std::string Lacks(std::string reason) {
    lacks_evidence = true;
    return reason;
  }
  // Of a node; `what` and `advice` are sentences without a capital and a full stop.
  void Find(Confidence confidence, const Node& node, std::string what, std::string advice);
  // Of a variable, function or file, by name.
  void Find(Confidence confidence, const std::string& name, std::string what, std::string advice);
};

// Where along the way from cause to consequence: findings are told in this order.
enum class CheckStage : uint8_t { kInput, kModel, kActivation, kGradient, kStep };

struct CheckInfo {
  const char* name;  // as its file; snake_case
  CheckStage stage;
  const char* looks_for;        // one line
  std::vector<Evidence> needs;  // any of these
  std::unique_ptr<Check> (*make)();
};
bool RegisterCheck(CheckInfo info);
std::vector<const CheckInfo*> Checks();  // sorted by name

// At namespace scope, last in a check's file:
//   GRAPNEL_CHECK(DeadRelu, {.name = "dead_relu", .looks_for = "...", .needs = {...}});
#define GRAPNEL_CHECK(type, ...)                                                                \
  [[maybe_unused]] static const bool check_registered_ = [] {                                   \
    ::grapnel::CheckInfo info = __VA_ARGS__;                                                    \
    info.make = []() -> std::unique_ptr<::grapnel::Check> { return std::make_unique<type>(); }; \
    return ::grapnel::RegisterCheck(std::move(info));                                           \
  }()

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_DOCTOR_H_
