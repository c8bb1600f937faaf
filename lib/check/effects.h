// The side effects of a run: printing, assertions, assignments and writes.
#ifndef GRAPNEL_LIB_CHECK_EFFECTS_H_
#define GRAPNEL_LIB_CHECK_EFFECTS_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/exec/ordering_hook.h"
#include "lib/exec/session.h"

namespace grapnel {

// The order in which a run executes ready nodes. If a rewrite dropped the control edge between two
// nodes, their order changes in one of these orders.
enum class EffectOrder {
  kAsInFile,
  kWritesLast,  // nodes with effects as late as possible, the last in the file first
  kReadsLast,   // reads of variables and tables as late as possible
};

// One effect.
struct Effect {
  std::string op;
  std::vector<Tensor> values;  // its inputs without resources; for prints the line
};

// The effects of one run by target, each list in the order in which they happened. Targets are
// "variable 'v'", "file 'log.txt'", "what is printed", "what is asserted".
using Effects = std::map<std::string, std::vector<Effect>>;

// Collects the effects of one run. The run must use this hook, this print sink and the session
// passed to Take().
class EffectLog : public OrderingHook {
 public:
  // `debugging`: also collects prints and assertions.
  EffectLog(EffectOrder order, bool debugging) : order_(order), debugging_(debugging) {}

  // True if such nodes have effects, or read state that others change, so that their order matters.
  static bool HasEffect(const Node& node);
  static bool ReadsState(const Node& node);

  MessageSink print();
  // Call it after the run; empties the log. Resources are named as in `session`.
  Effects Take(const Session& session);
  // True if an Assert failed.
  bool assertion_failed() const { return assertion_failed_; }

  bool Wants(const Node& node) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  bool EditsOutputs() const override { return false; }
  int64_t Rank(const Node& node) const override;

 private:
  struct Entry {
    std::string target;  // "" for a resource
    const Object* resource = nullptr;
    Effect effect;
  };
  EffectOrder order_;
  bool debugging_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
  bool assertion_failed_ = false;
};

// Compares two values: nullopt if they are the same, else how they differ.
using SameValues =
    llvm::function_ref<std::optional<std::string>(const Tensor& got, const Tensor& expected)>;

// Returns how the effects of a run differ from those expected; nullopt if they do not. Targets in
// `unordered` accept any order.
std::optional<std::string> DifferenceOf(const Effects& got, const Effects& expected,
                                        const std::vector<std::string>& unordered, SameValues same);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_EFFECTS_H_
