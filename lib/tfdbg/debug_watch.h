// A debug folder that grows while something runs: whether all that came is finite.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_WATCH_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_WATCH_H_

#include <string>
#include <utility>

#include "lib/support/error.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// For who looks after each step: reading the whole folder then takes longer with every one.
class DebugWatch {
 public:
  explicit DebugWatch(std::string folder) : folder_(std::move(folder)) {}
  // Whether a NaN or an infinity is in what was written since the last call; a record that is not
  // whole is for the next one. Of damaged records and modes that keep no health nothing is said.
  // Errors name the folder or a file that cannot be read. Cost: linear in what is new.
  Expected<bool> HasNewBad();

 private:
  std::string folder_;
  llvm::StringMap<size_t> read_;  // bytes, by the file's name
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_WATCH_H_
