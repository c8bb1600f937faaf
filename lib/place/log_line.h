// One line of TensorFlow's log of placements, in any form that TensorFlow and the programs that
// keep logs have written it in.
//
//   name: (Op): /job:localhost/replica:0/task:0/device:CPU:0     1.0 and later, and with a prefix
//   name: (Op)/job:localhost/replica:0/task:0/gpu:0              prefixed, 1.0 to 1.13
//   name: /job:localhost/replica:0/task:0/gpu:0                  0.12 and before
//   Executing op X in device /job:...                            an op that Python runs
//   Dumped Graph to DIR/NAME.NNNN.GROUP.TAG.pbtxt                the graph of the next lines
//
// Private to lib/place.
#ifndef GRAPNEL_LIB_PLACE_LOG_LINE_H_
#define GRAPNEL_LIB_PLACE_LOG_LINE_H_

#include <map>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct LogLine {
  enum Kind {
    kOther,   // not about placement
    kNode,    // where a node of a graph is
    kEager,   // where something ran: `op` and `device`
    kDump,    // a graph was dumped: `node` is its name, `op` the stage ("before_placer")
    kBroken,  // begins like one of the others; `node` is its name where that is whole
  };
  Kind kind = kOther;
  bool is_prefixed = false;      // it has "placer.cc:NNN]" or the like before it
  bool follows_piece = false;    // the same line begins with a piece of another one, which is lost
  std::string stream;            // the thread and the container that wrote it; "": not said
  int number = -1;               // of a dump
  std::string node, op, device;  // `device` in full, as TensorFlow 2 spells it
};

// Reads the lines of one log in order: a container's runtime may have cut a line in pieces.
class LogLineReader {
 public:
  // Visits what `line`, without its end, says; nothing for lines of other kinds.
  void Read(llvm::StringRef line, llvm::function_ref<void(LogLine&)> visit);

 private:
  void ReadBare(llvm::StringRef line, llvm::StringRef source,
                llvm::function_ref<void(LogLine&)> visit);
  bool ReadJson(llvm::StringRef line, llvm::StringRef source,
                llvm::function_ref<void(LogLine&)> visit);
  std::map<std::string, std::string> pieces_;  // by container: of a line whose end is to come
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_LINE_H_
