// Which scalars of a log are losses, and what a loss does over a training.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_LOSS_CURVES_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_LOSS_CURVES_H_

#include <string>
#include <vector>

#include "lib/io/scalar_log.h"

namespace grapnel {

// Of fewer records nothing is said but whether they are finite.
constexpr size_t kFewestRecords = 5;

struct LossCurve {
  const ScalarSeries* series = nullptr;
  const ScalarSeries* accuracy = nullptr;  // beside it; null: there is none
  bool is_validation = false;
  // What is trained: the one loss of its run, or the one that is called nothing but a loss. Parts
  // of it, and the losses of networks that play against each other, may do as they like.
  bool is_whole = false;
};

// By the words of tags: "epoch_loss", "train/loss", not "loss_scale"; or those that are called
// `wanted`. Borrowed from the log, in its order.
std::vector<LossCurve> LossCurvesOf(const ScalarLog& log, llvm::StringRef wanted);

// Medians of as many records as a fifth of all, so that single batches do not count.
struct CurveShape {
  double first = 0, last = 0, lowest = 0;
  int64_t lowest_at = 0;    // step, where the lowest window begins
  bool ends_lowest = true;  // the lowest window is the last, or the one before
  size_t records = 0;       // finite ones
  // What such a median is off by, as far as records differ from their neighbors.
  double noise = 0;
  // It was begun with the training: the first record is no further from 0 than two from each other.
  bool is_from_start = false;
};
CurveShape ShapeOf(const ScalarSeries& series);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_LOSS_CURVES_H_
