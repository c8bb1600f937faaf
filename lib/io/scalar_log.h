// Curves that a training wrote for TensorBoard: scalars of event files, in both of their forms.
#ifndef GRAPNEL_LIB_IO_SCALAR_LOG_H_
#define GRAPNEL_LIB_IO_SCALAR_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct ScalarPoint {
  int64_t step;
  double value;
};

struct ScalarSeries {
  std::string run;  // the folder of its files below the one that was opened: "train"; or empty
  std::string tag;
  // In the order in which they were written. Where a later file goes back, as a training does that
  // was taken up from a checkpoint, it takes the place of what was written from there on.
  std::vector<ScalarPoint> points;
  std::string name() const { return run.empty() ? tag : run + "/" + tag; }
};

struct ScalarLog {
  std::vector<ScalarSeries> series;   // sorted by run, then by tag
  std::vector<std::string> problems;  // files that are damaged or end too soon; the rest is read
};

// Whether `path` is an event file with a scalar in it, or a folder with one below. Cost: what comes
// before the first scalar is walked over.
bool HasScalars(llvm::StringRef path);

// Values of summaries that are one number: simple_value, and tensors of one element whose plugin is
// TensorBoard's for scalars. Files of a folder in the order of their names. Errors: a file cannot
// be opened.
Expected<ScalarLog> ReadScalarLog(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SCALAR_LOG_H_
