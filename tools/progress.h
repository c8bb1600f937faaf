// A progress line on stderr, shown on a terminal after one second.
#ifndef GRAPNEL_TOOLS_PROGRESS_H_
#define GRAPNEL_TOOLS_PROGRESS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The process's progress line. Between Start() and End(), any thread may call the other functions,
// which cost almost nothing if no line is shown.
class Progress {
 public:
  // Starts showing progress: the line appears after a second, and is redrawn five times a second.
  // Does nothing if stderr is not a terminal, or if TERM is not set or is "dumb".
  static void Start(llvm::StringRef command);
  // Sets the current activity, such as "constant_folding", and how many of its `total` steps are
  // done; total 0: unknown.
  static void Report(llvm::StringRef what, int64_t done = 0, int64_t total = 0);
  // Removes the line because the caller is about to write to the terminal; the line returns half a
  // second later.
  static void MakeWay();
  // Removes the line for good.
  static void End();
  static bool IsOn();
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_PROGRESS_H_
