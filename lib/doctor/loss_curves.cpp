#include "lib/doctor/loss_curves.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// Splits a tag into lowercase words: "val", "loss" for "Val/loss".
std::vector<std::string> WordsOf(llvm::StringRef text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    if (llvm::isAlnum(c))
      words.back() += llvm::toLower(c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool HasWord(llvm::ArrayRef<std::string> words, const llvm::StringSet<>& wanted) {
  return llvm::any_of(words, [&](const std::string& word) { return wanted.contains(word); });
}

bool IsLoss(llvm::ArrayRef<std::string> words) {
  static const llvm::StringSet<> kOther = {"scale", "scaling", "weight", "weights", "rate"};
  return HasWord(words, {"loss"}) && !HasWord(words, kOther);
}

bool IsAccuracy(llvm::ArrayRef<std::string> words) {
  return HasWord(words, {"accuracy", "acc"}) && !HasWord(words, {"top"});
}

bool IsValidation(llvm::ArrayRef<std::string> words) {
  return HasWord(words, {"validation", "val", "valid", "eval", "evaluation", "test", "dev"});
}

// True if a tag such as "val/total_loss" consists of general words only, so that it is probably not
// the name of one term of a loss.
bool IsPlain(llvm::ArrayRef<std::string> words) {
  static const llvm::StringSet<> kPlain = {
      "loss", "epoch",      "batch", "step",       "train", "training", "total", "mean",
      "val",  "validation", "eval",  "evaluation", "test",  "vs",       "iter",  "iterations"};
  return llvm::all_of(words, [&](const std::string& word) { return kPlain.contains(word); });
}

// Returns the part of a tag before `word`: "epoch_" for "epoch_loss" and "loss". The accuracy that
// belongs to this loss has a tag with the same beginning.
llvm::StringRef Before(llvm::StringRef tag, llvm::StringRef word) {
  size_t at = tag.find_insensitive(word);
  return at == tag.npos ? llvm::StringRef() : tag.take_front(at);
}

const ScalarSeries* AccuracyOf(const ScalarLog& log, const ScalarSeries& loss) {
  for (const ScalarSeries& series : log.series) {
    bool fits = series.run == loss.run && IsAccuracy(WordsOf(series.tag)) &&
                llvm::StringRef(series.tag).starts_with(Before(loss.tag, "loss"));
    if (fits) return &series;
  }
  return nullptr;
}

double Median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<LossCurve> LossCurvesOf(const ScalarLog& log, llvm::StringRef wanted) {
  std::vector<LossCurve> curves;
  std::map<std::string, int> count;  // by run, separately for training and validation
  auto group = [](const LossCurve& curve) {
    return curve.series->run + (curve.is_validation ? " validation" : "");
  };
  for (const ScalarSeries& series : log.series) {
    std::vector<std::string> words = WordsOf(series.tag);
    bool is_asked = wanted == series.tag || wanted == series.name();
    if (wanted.empty() ? !IsLoss(words) : !is_asked) continue;
    LossCurve curve{&series, AccuracyOf(log, series), IsValidation(WordsOf(series.name())),
                    is_asked || IsPlain(words)};
    ++count[group(curve)];
    curves.push_back(curve);
  }
  // Keras logs the validation loss twice: by epoch and by iteration. Keep the first.
  llvm::erase_if(curves, [&](const LossCurve& curve) {
    bool is_second =
        count[group(curve)] > 1 && llvm::StringRef(curve.series->tag).ends_with("_vs_iterations");
    return is_second && wanted.empty();
  });
  for (LossCurve& curve : curves) curve.is_whole |= count[group(curve)] == 1;
  return curves;
}

CurveShape ShapeOf(const ScalarSeries& series) {
  CurveShape shape;
  std::vector<ScalarPoint> points;
  for (const ScalarPoint& point : series.points) {
    if (std::isfinite(point.value)) points.push_back(point);
  }
  shape.records = points.size();
  if (points.empty()) return shape;
  size_t size = std::max<size_t>(points.size() / 5, 1), windows = points.size() / size;
  auto window = [&](size_t begin) {
    std::vector<double> values;
    for (size_t i = begin; i < begin + size; ++i) values.push_back(points[i].value);
    return Median(std::move(values));
  };
  shape.first = shape.lowest = window(0);
  shape.last = window(points.size() - size);
  shape.lowest_at = points[0].step;
  size_t lowest = 0;
  for (size_t i = 1; i < windows; ++i) {
    double value = window(i * size);
    if (value >= shape.lowest) continue;
    shape.lowest = value;
    shape.lowest_at = points[i * size].step;
    lowest = i;
  }
  shape.lowest = std::min(shape.lowest, shape.last);
  shape.ends_lowest = shape.lowest == shape.last || lowest + 2 >= windows;
  if (points.size() > 1) {
    double squares = 0;
    for (size_t i = 1; i < points.size(); ++i) {
      double difference = points[i].value - points[i - 1].value;
      squares += difference * difference;
    }
    // Estimates the standard deviation of one record: that of a difference of two records is
    // sqrt(2) times as large. That of the median of n records is 1.25 / sqrt(n) times that of one.
    double one = std::sqrt(squares / static_cast<double>(points.size() - 1) / 2);
    shape.noise = 1.25 * one / std::sqrt(static_cast<double>(size));
    int64_t gap = points[1].step - points[0].step;
    shape.is_from_start = points[0].step <= 2 * std::max<int64_t>(gap, 1);
  }
  return shape;
}

}  // namespace grapnel
