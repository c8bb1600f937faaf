// Finds labels that do not fit their cross-entropy: class indices out of range, rows of
// probabilities that do not add up to 1, labels of -1 and 1 instead of 0 and 1.
#include <cmath>

#include "lib/doctor/cross_entropy.h"
#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"

namespace grapnel {
namespace {

struct Seen {
  CrossEntropy loss;
  NumberStatistics labels;
  int64_t classes = -1;
  int64_t rows = 0, zero_rows = 0, other_rows = 0;
};

class LabelsOutOfRange : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    for (const CrossEntropy& loss : CrossEntropiesOf(*context.network)) {
      auto seen = std::make_shared<Seen>();
      seen->loss = loss;
      seen_.push_back(seen);
      const Flow& flow = context.network->flow();
      watches.Add(flow.Source(loss.logits), [seen](int, const Tensor& value) {
        if (value.rank() > 0) seen->classes = value.dim(value.rank() - 1);
      });
      watches.Add(flow.Source(loss.labels),
                  [seen](int, const Tensor& value) { Count(value, *seen); });
    }
  }

  std::string Run(const DoctorContext&) override {
    for (const auto& seen : seen_) {
      switch (seen->loss.kind) {
        case CrossEntropy::kSparse:
          CheckNumbers(*seen);
          break;
        case CrossEntropy::kDense:
          CheckRows(*seen);
          break;
        case CrossEntropy::kBinary:
          CheckProbabilities(*seen);
          break;
      }
    }
    return seen_.empty() ? "there is no cross-entropy" : "";
  }

 private:
  static void Count(const Tensor& labels, Seen& seen) {
    seen.labels += StatisticsOf(labels);
    if (seen.loss.kind != CrossEntropy::kDense || labels.rank() < 2) return;
    int64_t width = labels.dim(labels.rank() - 1), column = 0;
    double sum = 0;
    ForEachNumber(labels, [&](double x) {
      sum += x;
      if (++column < width) return;
      ++seen.rows;
      seen.zero_rows += sum == 0;
      seen.other_rows += sum != 0 && std::abs(sum - 1) > 0.01;
      sum = 0;
      column = 0;
    });
  }

  void CheckNumbers(const Seen& seen) {
    if (seen.classes < 0 || seen.labels.elements() == 0) return;
    if (seen.labels.min >= 0 && seen.labels.max < seen.classes) return;
    Find(Confidence::kCertain, seen.loss.node,
         Sentence("labels go from {0} to {1}, and there are {2} classes, from 0 to {3}",
                  Short(seen.labels.min), Short(seen.labels.max), seen.classes, seen.classes - 1),
         seen.labels.max == seen.classes
             ? "count classes from 0"
             : "drop such rows, or give the last layer a unit for each class");
  }

  void CheckRows(const Seen& seen) {
    if (seen.labels.elements() > 0 && seen.labels.min < 0) {
      Find(Confidence::kCertain, seen.loss.node,
           Sentence("labels are rows of probabilities, and the smallest is {0}",
                    Short(seen.labels.min)),
           "make them 0 to 1, each row adding up to 1");
    } else if (seen.zero_rows > 0) {
      Find(Confidence::kLikely, seen.loss.node,
           Sentence(
               "{0} of {1} rows of labels are all zero: tf.one_hot returns that for a number that "
               "is not a class, and such a row has no loss",
               seen.zero_rows, seen.rows),
           "count classes from 0, and pass one_hot the right number of classes");
    } else if (seen.other_rows > 0) {
      Find(Confidence::kLikely, seen.loss.node,
           Sentence("{0} of {1} rows of labels do not add up to 1", seen.other_rows, seen.rows),
           "for several labels at once use sigmoid_cross_entropy_with_logits; else divide by the "
           "row's sum");
    }
  }

  void CheckProbabilities(const Seen& seen) {
    if (seen.labels.elements() == 0 || (seen.labels.min >= 0 && seen.labels.max <= 1)) return;
    Find(Confidence::kCertain, seen.loss.node,
         Sentence("labels go from {0} to {1}, and a cross-entropy of sigmoids needs 0 to 1",
                  Short(seen.labels.min), Short(seen.labels.max)),
         seen.labels.min == -1 && seen.labels.max == 1 ? "map -1 and 1 to 0 and 1: (label + 1) / 2"
                                                       : "make them 0 to 1");
  }

  std::vector<std::shared_ptr<Seen>> seen_;
};

GRAPNEL_CHECK(LabelsOutOfRange, {.name = "labels_out_of_range",
                                 .stage = CheckStage::kInput,
                                 .looks_for = "labels that are not classes, or not probabilities",
                                 .needs = {Evidence::kValues}});

}  // namespace
}  // namespace grapnel
