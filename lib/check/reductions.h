// The steps by which a graph becomes smaller. Private to lib/check.
#ifndef GRAPNEL_LIB_CHECK_REDUCTIONS_H_
#define GRAPNEL_LIB_CHECK_REDUCTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// One thing that could go: in which body, of which node, and what of it.
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
  // Takes the items away, as far as they are still there.
  virtual void Apply(Module& module, llvm::ArrayRef<Item> items) const = 0;
  // What then nobody reads stays, as a result.
  virtual bool MakesResults() const { return false; }
};

// In the order in which they are tried: those that take most first.
std::vector<std::unique_ptr<Reduction>> AllReductions();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_REDUCTIONS_H_
