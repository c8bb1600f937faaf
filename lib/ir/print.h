// Names of devices as people read them.
#ifndef GRAPNEL_LIB_IR_PRINT_H_
#define GRAPNEL_LIB_IR_PRINT_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// "/job:localhost/replica:0/task:0/device:CPU:0" -> "cpu:0"; other spellings as they are.
std::string ShortDevice(llvm::StringRef device);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_PRINT_H_
