// Writes tap events as lines of JSON.
#ifndef GRAPNEL_LIB_WATCH_TAP_LINES_H_
#define GRAPNEL_LIB_WATCH_TAP_LINES_H_

#include <memory>

#include "lib/watch/tap.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes one JSON object per event and line. With FULL_TENSOR, "value" has all elements, as
// WriteElementJson (lib/ir/literal_json.h) writes them. Not thread-safe.
class TapLines {
 public:
  // `os` must outlive this object. A line that would exceed the total of `most_bytes` (0: no limit)
  // is counted but not written.
  TapLines(TapMode mode, llvm::raw_ostream& os, uint64_t most_bytes = 0)
      : mode_(mode), os_(os), most_bytes_(most_bytes) {}
  void Write(const TapEvent& event);
  int64_t left_out() const { return left_out_; }

 private:
  const std::string& HeadOf(const Node& node);
  const std::string& TextOf(const TapCalls& calls);

  const TapMode mode_;
  llvm::raw_ostream& os_;
  const uint64_t most_bytes_;
  uint64_t bytes_ = 0;
  int64_t left_out_ = 0;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::unique_ptr<std::string>> heads_;
  TapCalls calls_;  // of the last line; their JSON text is in the next member
  std::string calls_text_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_LINES_H_
