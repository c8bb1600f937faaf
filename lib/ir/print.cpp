#include "lib/ir/print.h"

namespace grapnel {

std::string ShortDevice(llvm::StringRef device) {
  llvm::StringRef rest = device;
  rest.consume_front("/job:localhost");
  rest.consume_front("/replica:0");
  rest.consume_front("/task:0");
  if (rest.consume_front("/device:") && rest.find('/') == llvm::StringRef::npos)
    return rest.lower();
  return device.str();
}

}  // namespace grapnel
