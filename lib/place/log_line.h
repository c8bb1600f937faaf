// Parses one line of TensorFlow's log of placements, as written by any TensorFlow version and as
// stored by container runtimes and log collectors.
//
//   name: (Op): /job:localhost/replica:0/task:0/device:CPU:0     bare or prefixed, 1.0 and later
//   name: (Op)/job:localhost/replica:0/task:0/gpu:0              prefixed, 1.0 to 1.13
//   name: /job:localhost/replica:0/task:0/gpu:0                  0.12 and before
//   Executing op X in device /job:...                            an op that Python runs eagerly
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
    kNode,    // a node of a graph and its device
    kEager,   // an op that ran eagerly: `op` and `device`
    kDump,    // a graph was dumped: `node` is the graph's name, `op` the stage ("before_placer")
    kBroken,  // a damaged line; `node` is the node's name if that is complete
  };
  Kind kind = kOther;
  bool is_prefixed = false;      // "placer.cc:NNN]" or the like precedes the contents
  bool follows_piece = false;    // the line begins with a fragment of another line
  std::string stream;            // identifies its thread and container, if known
  int number = -1;               // kDump: NNNN in the file name
  std::string node, op, device;  // `device` in full, as TensorFlow 2 spells it
};

// Reads the lines of one log in order. A container's runtime may have split a line into pieces.
class LogLineReader {
 public:
  // Parses `line`, given without its line end. Visits nothing if the line is not about placement or
  // is a piece to be continued; visits several lines if a JSON record has several.
  void Read(llvm::StringRef line, llvm::function_ref<void(LogLine&)> visit);

 private:
  void ReadBare(llvm::StringRef line, llvm::StringRef source,
                llvm::function_ref<void(LogLine&)> visit);
  bool ReadJson(llvm::StringRef line, llvm::StringRef source,
                llvm::function_ref<void(LogLine&)> visit);
  std::map<std::string, std::string> pieces_;  // by container: the start of a split line
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_LINE_H_
