// Writes tap events as a table, for people.
#ifndef GRAPNEL_LIB_WATCH_TAP_TABLE_H_
#define GRAPNEL_LIB_WATCH_TAP_TABLE_H_

#include "lib/watch/tap.h"
#include "lib/watch/tap_text.h"

namespace grapnel {

// A row for each event; its columns are those of the mode, and the name of the tensor comes last.
// With FULL_HEALTH, the columns are the least, the mean and the largest of the finite elements, and
// the counts; the tap must summarize (Tap::Summarize). With FULL_TENSOR, the elements follow the
// row, as NumPy prints them. The widths of columns are fixed, so that a row can be written at once.
class TapTable : public TapText {
 public:
  TapTable(TapMode mode, llvm::raw_ostream& os, uint64_t most_bytes = 0)
      : TapText(os, most_bytes), mode_(mode) {}

 private:
  void Format(const TapEvent& event, llvm::raw_ostream& os) override;

  const TapMode mode_;
  bool has_header_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_TABLE_H_
