// The steps that make a graph smaller. Private to lib/check.
#ifndef GRAPNEL_LIB_CHECK_REDUCTIONS_H_
#define GRAPNEL_LIB_CHECK_REDUCTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// A removable item: its function, its node, and the part of the node.
struct Item {
  std::string function, node, part;
  int64_t number = 0;
};
using Items = std::vector<Item>;

// A kind of step.
class Reduction {
 public:
  virtual ~Reduction() = default;
  virtual Items Find(Module& module) const = 0;
  // Removes the items that still exist.
  virtual void Apply(Module& module, llvm::ArrayRef<Item> items) const = 0;
  // Values that lose their readers stay, as results.
  virtual bool MakesResults() const { return false; }
};

// In the order in which they are tried: the largest reductions first.
std::vector<std::unique_ptr<Reduction>> AllReductions();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_REDUCTIONS_H_
