// Writes tap events as text, an event at a time.
#ifndef GRAPNEL_LIB_WATCH_TAP_TEXT_H_
#define GRAPNEL_LIB_WATCH_TAP_TEXT_H_

#include "lib/watch/tap_event.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Not thread-safe.
class TapText {
 public:
  virtual ~TapText() = default;
  // Writes an event. An event whose text would exceed the total of `most_bytes` is counted but not
  // written.
  void Write(const TapEvent& event);
  int64_t left_out() const { return left_out_; }

 protected:
  // `os` must outlive this object; `most_bytes` 0: no limit.
  TapText(llvm::raw_ostream& os, uint64_t most_bytes) : os_(os), most_bytes_(most_bytes) {}

 private:
  virtual void Format(const TapEvent& event, llvm::raw_ostream& os) = 0;

  llvm::raw_ostream& os_;
  const uint64_t most_bytes_;
  uint64_t bytes_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_TEXT_H_
