// The TensorBoard curves of a training run: scalars in event files, stored as simple_value (TF1) or
// as tensors.
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
  std::string run;  // its files' folder below the opened one: "train"; or empty
  std::string tag;
  // The points in the order in which they were written. If a later file starts again at an earlier
  // step, as when training is resumed from a checkpoint, its points replace the older ones from
  // that step on.
  std::vector<ScalarPoint> points;
  std::string name() const { return run.empty() ? tag : run + "/" + tag; }
};

struct ScalarLog {
  std::vector<ScalarSeries> series;   // sorted by run, then by tag
  std::vector<std::string> problems;  // damaged files, of which only the beginning is read
};

// True if `path` is an event file with a scalar, or a directory with such a file below it, at most
// six directories deep and among the first 100,000 entries. Reads up to the first scalar.
bool HasScalars(llvm::StringRef path);

// Reads the values of summaries that are one number: simple_value, and tensors with one element
// that belong to TensorBoard's scalars plugin. Skips records above 1 MiB. Reads the files of a
// directory in the order of their names, with the limits of HasScalars. Fails if a file cannot be
// opened or is truncated meanwhile.
Expected<ScalarLog> ReadScalarLog(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SCALAR_LOG_H_
