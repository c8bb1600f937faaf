// Values in memory that can be fed like .npy files: LoadFeed finds them by name.
#ifndef GRAPNEL_LIB_EXEC_NAMED_FEED_H_
#define GRAPNEL_LIB_EXEC_NAMED_FEED_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// Registers `value` under `name` while this object lives: LoadFeed accepts the name as a path.
class NamedFeed {
 public:
  NamedFeed(std::string name, Tensor value);  // `name` must be unique in the process
  ~NamedFeed();
  NamedFeed(const NamedFeed&) = delete;
  NamedFeed& operator=(const NamedFeed&) = delete;

 private:
  std::string name_;
};

// Returns an empty tensor if no feed has this name.
Tensor FindNamedFeed(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_NAMED_FEED_H_
