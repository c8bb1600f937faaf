// A line at the foot of a terminal that says what a command is doing, for who waits longer than a
// second.
#ifndef GRAPNEL_TOOLS_PROGRESS_H_
#define GRAPNEL_TOOLS_PROGRESS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The process has one. Any thread may call it; where nothing is shown a call costs next to nothing.
class Progress {
 public:
  // From now on; a second later the line appears, and is written anew five times a second. Not
  // where stderr is no terminal, or a dumb one.
  static void Start(llvm::StringRef command);
  // What is being done, "constant_folding", and which of how many; total 0: not said.
  static void Report(llvm::StringRef what, int64_t done = 0, int64_t total = 0);
  // Somebody is about to write to the terminal: the line goes, and comes back half a second later.
  static void MakeWay();
  // For good.
  static void End();
  static bool IsOn();
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_PROGRESS_H_
