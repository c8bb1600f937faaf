// The side effects of a run: what it prints, asserts, assigns and writes.
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

// The order in which a run executes nodes that are ready. If a rewrite dropped the control edge
// that ordered two nodes, they swap places in one of these orders.
enum class EffectOrder {
  kAsInFile,
  kWritesLast,  // nodes with effects as late as possible, the last in the file first
  kReadsLast,   // reads of variables and tables as late as possible
};

// One effect.
struct Effect {
  std::string op;
  std::vector<Tensor> values;  // its inputs but for resources; of what is printed the line
};

// The effects of one run by what they are done to, each list in the order in which they happened:
// "variable 'v'", "file 'log.txt'", "what is printed", "what is asserted".
using Effects = std::map<std::string, std::vector<Effect>>;

// Collects the effects of one run. The hook, the print sink and the session of the run's options
// must be those given here.
class EffectLog : public OrderingHook {
 public:
  // `debugging`: also what is printed and asserted.
  EffectLog(EffectOrder order, bool debugging) : order_(order), debugging_(debugging) {}

  // Whether nodes like this have effects, or read what others change: whether orders matter.
  static bool HasEffect(const Node& node);
  static bool ReadsState(const Node& node);

  MessageSink print();
  // When the run is over; the log is empty then. Resources are called by their names in `session`.
  Effects Take(const Session& session);
  // Whether an Assert was given what is not true.
  bool assertion_failed() const { return assertion_failed_; }

  bool Wants(const Node& node) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  bool EditsOutputs() const override { return false; }
  int64_t Rank(const Node& node) const override;

 private:
  struct Entry {
    std::string target;  // "" where it is the resource
    const Object* resource = nullptr;
    Effect effect;
  };
  EffectOrder order_;
  bool debugging_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
  bool assertion_failed_ = false;
};

// How values are compared: nothing where they are the same, else how they differ.
using SameValues =
    llvm::function_ref<std::optional<std::string>(const Tensor& got, const Tensor& expected)>;

// How the effects of a run differ from those expected; nothing: they do not. Those in `unordered`
// may come in any order.
std::optional<std::string> DifferenceOf(const Effects& got, const Effects& expected,
                                        const std::vector<std::string>& unordered, SameValues same);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_EFFECTS_H_
