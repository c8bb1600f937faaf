// A report on all tensors of a module: how often each was tapped, or why it was not.
#ifndef GRAPNEL_LIB_WATCH_TAP_REPORT_H_
#define GRAPNEL_LIB_WATCH_TAP_REPORT_H_

#include <string>
#include <vector>

#include "lib/watch/tap.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// One output: how often it was tapped, or why it was not.
struct TapReportLine {
  std::string function;  // the function that has the node; "" for the main graph
  std::string tensor;    // "dense/BiasAdd:0"
  std::string op;
  int64_t times = 0;
  std::string why_not;  // empty if it was tapped
};

// Lists the outputs (if their dtypes are known) of the nodes in the main graph and then in the
// functions that it calls, directly or indirectly. `tap` must have counted outputs separately
// (Tap::CountEach); `fed` has the names of the fed tensors.
class TapReport {
 public:
  TapReport(const Module& module, llvm::ArrayRef<std::string> fed, Tap& tap);
  llvm::ArrayRef<TapReportLine> lines() const { return lines_; }
  void Write(llvm::raw_ostream& os) const;  // totals by reason, then a line for each output

 private:
  std::vector<TapReportLine> lines_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_REPORT_H_
