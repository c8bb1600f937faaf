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

// Which of the ready nodes a run executes next. If a rewrite dropped a control edge that two nodes
// need, these nodes are likely to run in the wrong order in one of these modes.
enum class EffectOrder {
  kAsInFile,
  kWritesLast,  // nodes with effects as late as possible, in reverse order of the file
  kReadsLast,   // reads of variables and tables as late as possible
};

// One side effect: an op that ran, with its inputs.
struct Effect {
  std::string op;
  // the op's inputs except resources and variants; for prints, the printed line
  std::vector<Tensor> values;
};

// The effects of one run by target, those on each target in the order in which they happened.
// Targets are "'v'" for a variable or another resource with that name, "file 'log.txt'", "what is
// printed", "what is asserted"; else the op in quotes, or "a resource without a name".
using Effects = std::map<std::string, std::vector<Effect>>;

// Collects the effects of one run. The run must use this object as its hook, print() as its print
// sink, and the session that is passed to Take().
class EffectLog : public OrderingHook {
 public:
  // With `debugging`, prints and assertions are collected too.
  EffectLog(EffectOrder order, bool debugging) : order_(order), debugging_(debugging) {}

  // HasEffect: true if the node has side effects. ReadsState: true if it reads state that other
  // nodes change. The order of such nodes matters. Both are false for calls; the nodes in the
  // called function count.
  static bool HasEffect(const Node& node);
  static bool ReadsState(const Node& node);

  MessageSink print();
  // Returns the effects and empties the log. Call it after the run. Targets that are resources get
  // their names from `session`.
  Effects Take(const Session& session);
  // True if an Assert failed; always false without `debugging`.
  bool assertion_failed() const { return assertion_failed_; }

  bool Wants(const Node& node) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  bool EditsOutputs() const override { return false; }
  int64_t Rank(const Node& node) const override;

 private:
  struct Entry {
    std::string target;  // empty: the target is `resource`
    const Object* resource = nullptr;
    Effect effect;
  };
  EffectOrder order_;
  bool debugging_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
  bool assertion_failed_ = false;
};

// A function that compares two values: returns nullopt if they are the same, else a description of
// the difference.
using SameValues =
    llvm::function_ref<std::optional<std::string>(const Tensor& got, const Tensor& expected)>;

// Describes the first difference between the effects of a run and the expected effects; nullopt if
// there is none. The effects on targets in `unordered` may be in any order; of assertions, neither
// order nor number counts.
std::optional<std::string> DifferenceOf(const Effects& got, const Effects& expected,
                                        const std::vector<std::string>& unordered, SameValues same);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_EFFECTS_H_
