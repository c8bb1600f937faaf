// The kinds of steps that make a graph smaller. Private to lib/check.
#ifndef GRAPNEL_LIB_CHECK_REDUCTIONS_H_
#define GRAPNEL_LIB_CHECK_REDUCTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// An item that a step can remove or simplify: its function, its node, and the part of the node (an
// attribute, or the source of one of its control edges). An item of ShrinkDimensions is a dimension
// size alone, in `number`.
struct Item {
  std::string function, node, part;
  int64_t number = 0;
};
using Items = std::vector<Item>;

// One kind of step.
class Reduction {
 public:
  virtual ~Reduction() = default;
  virtual Items Find(Module& module) const = 0;
  // Applies the step to those of the items that still exist and still allow it.
  virtual void Apply(Module& module, llvm::ArrayRef<Item> items) const = 0;
  // True if nodes that lose their readers in this step become results instead of being removed.
  virtual bool MakesResults() const { return false; }
};

// Returns all kinds of steps in the order in which to try them, those that remove most first.
std::vector<std::unique_ptr<Reduction>> AllReductions();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_REDUCTIONS_H_
