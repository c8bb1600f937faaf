// Checks a debug folder that grows during a run for NaN and infinity.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_WATCH_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_WATCH_H_

#include <string>
#include <utility>

#include "lib/support/error.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// Reads only what is new, for a check after each training step: reading the whole folder would take
// longer every time.
class DebugWatch {
 public:
  explicit DebugWatch(std::string folder) : folder_(std::move(folder)) {}
  // True if the records written since the last call have a NaN or an infinity; an incomplete record
  // is left for the next call. Ignores damaged records, and those whose debug mode does not show
  // NaNs and infinities. Errors name the folder or the file that cannot be read. Cost: linear in
  // the new bytes.
  Expected<bool> HasNewBad();

 private:
  std::string folder_;
  llvm::StringMap<size_t> read_;  // by file name: number of bytes read
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_WATCH_H_
