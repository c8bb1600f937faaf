#include "lib/watch/tap_text.h"

#include "llvm/ADT/SmallString.h"

namespace grapnel {

void TapText::Write(const TapEvent& event) {
  llvm::SmallString<512> text;
  llvm::raw_svector_ostream os(text);
  Format(event, os);
  if (most_bytes_ > 0 && bytes_ + text.size() > most_bytes_) {
    ++left_out_;
    return;
  }
  bytes_ += text.size();
  os_ << text;
}

}  // namespace grapnel
