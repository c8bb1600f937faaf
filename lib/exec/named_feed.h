// Values that are at hand, where paths of files are expected.
#ifndef GRAPNEL_LIB_EXEC_NAMED_FEED_H_
#define GRAPNEL_LIB_EXEC_NAMED_FEED_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// While it lives, its name stands where LoadFeed's path of a file would. It is of the
// tensor's dtype, or LoadFeed says so.
class NamedFeed {
 public:
  NamedFeed(std::string name, Tensor value);  // a name that no other of the process has
  ~NamedFeed();
  NamedFeed(const NamedFeed&) = delete;
  NamedFeed& operator=(const NamedFeed&) = delete;

 private:
  std::string name_;
};

// No tensor where there is none of that name.
Tensor FindNamedFeed(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_NAMED_FEED_H_
