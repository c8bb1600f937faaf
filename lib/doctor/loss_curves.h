// Finds the losses among the scalars of a log, and describes a loss curve over a training.
#ifndef GRAPNEL_LIB_DOCTOR_LOSS_CURVES_H_
#define GRAPNEL_LIB_DOCTOR_LOSS_CURVES_H_

#include <string>
#include <vector>

#include "lib/io/scalar_log.h"

namespace grapnel {

// A curve with fewer records is only checked for NaN and infinity.
constexpr size_t kFewestRecords = 5;

struct LossCurve {
  const ScalarSeries* series = nullptr;
  const ScalarSeries* accuracy = nullptr;  // accuracy of the same network; null: not logged
  bool is_validation = false;
  // True for a total loss: the only loss of its run (in training, or in validation), one with a
  // general name such as "loss", or the one that the user named. Other curves, such as the terms of
  // a loss or the losses of adversarial networks, may legitimately rise.
  bool is_whole = false;
};

// Returns the losses of a log, in the log's order: scalars whose tags have the word "loss"
// ("epoch_loss", "train/loss", but not "loss_scale"), or, if `wanted` is not empty, those with this
// tag or name. Of losses that Keras logs twice, leaves out the one by iteration. The curves point
// into the log.
std::vector<LossCurve> LossCurvesOf(const ScalarLog& log, llvm::StringRef wanted);

// The shape of a curve. Its values are medians of windows, each a fifth of the records (at least
// one), so that single batches have little influence.
struct CurveShape {
  double first = 0, last = 0, lowest = 0;
  int64_t lowest_at = 0;    // the step at which the lowest window begins
  bool ends_lowest = true;  // the lowest window is the last or the one before the last
  size_t records = 0;       // number of finite records
  // The standard error of a window's median, estimated from differences between adjacent records.
  double noise = 0;
  // True if the log begins with the training: its first step is at most two intervals between
  // records from 0.
  bool is_from_start = false;
};
CurveShape ShapeOf(const ScalarSeries& series);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_LOSS_CURVES_H_
