// Finds the losses among the scalars of a log, and describes a loss curve over a training.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_LOSS_CURVES_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_LOSS_CURVES_H_

#include <string>
#include <vector>

#include "lib/io/scalar_log.h"

namespace grapnel {

// With fewer records, only their finiteness is checked.
constexpr size_t kFewestRecords = 5;

struct LossCurve {
  const ScalarSeries* series = nullptr;
  const ScalarSeries* accuracy = nullptr;  // of the same network; null: not logged
  bool is_validation = false;
  // The training loss: the only loss of its run, or the one named just "loss". Parts of it, and
  // losses of adversarial networks, may behave in any way.
  bool is_whole = false;
};

// Finds losses by the words of their tags: "epoch_loss", "train/loss", not "loss_scale"; or takes
// those named `wanted`. Borrowed from the log, in its order.
std::vector<LossCurve> LossCurvesOf(const ScalarLog& log, llvm::StringRef wanted);

// Medians over windows of a fifth of the records, so that single batches do not matter.
struct CurveShape {
  double first = 0, last = 0, lowest = 0;
  int64_t lowest_at = 0;    // the step at which the lowest window begins
  bool ends_lowest = true;  // the lowest window is the last, or the one before
  size_t records = 0;       // finite ones
  // The error of such a median, estimated from differences between adjacent records.
  double noise = 0;
  // The log began with the training: its first step is at most two record intervals from 0.
  bool is_from_start = false;
};
CurveShape ShapeOf(const ScalarSeries& series);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_LOSS_CURVES_H_
