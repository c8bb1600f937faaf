// Writes tap events as lines of JSON.
#ifndef GRAPNEL_LIB_WATCH_TAP_LINES_H_
#define GRAPNEL_LIB_WATCH_TAP_LINES_H_

#include <memory>

#include "lib/watch/tap.h"
#include "lib/watch/tap_text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes one JSON object per event and line. With FULL_TENSOR, "value" has all elements, as
// WriteElementJson (lib/ir/literal_json.h) writes them. Not thread-safe.
class TapLines : public TapText {
 public:
  TapLines(TapMode mode, llvm::raw_ostream& os, uint64_t most_bytes = 0)
      : TapText(os, most_bytes), mode_(mode) {}

 private:
  void Format(const TapEvent& event, llvm::raw_ostream& os) override;
  const std::string& HeadOf(const Node& node);
  const std::string& TextOf(const TapCalls& calls);

  const TapMode mode_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::unique_ptr<std::string>> heads_;
  TapCalls calls_;  // of the last line; their JSON text is in the next member
  std::string calls_text_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_LINES_H_
