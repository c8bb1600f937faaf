// Joins the parts into which FlowLine::Pieces has cut the data flow.
#include <algorithm>
#include <queue>
#include <tuple>

#include "lib/render/flow_pieces.h"

namespace grapnel {
namespace {

constexpr uint32_t kMostPeriod = 48;
// JoinToMost first joins only parts with an edge between them that have at most 1/kMostOfAll of all
// ops together, so that no part dominates the scope.
constexpr uint64_t kMostOfAll = 4;
// If one repeat has fewer than kSmallRepeat ops, at least kManyRepeats repeats are needed for a
// series.
constexpr uint64_t kSmallRepeat = 3, kManyRepeats = 4;

size_t CommonStart(llvm::StringRef a, llvm::StringRef b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return i;
}

// A repetition: `period` parts, repeated `times` times in a row.
struct Repeat {
  size_t begin = 0, period = 0, times = 0;
  size_t end() const { return begin + period * times; }
};

// Finds the repetitions that have a given period.
class RepeatFinder {
 public:
  RepeatFinder(const FlowLine& line, const std::vector<FlowPiece>& pieces, size_t period,
               bool pairs)
      : line_(line), pieces_(pieces), period_(period), pairs_(pairs), runs_(pieces.size(), 0) {
    for (size_t i = pieces.size() - period; i-- > 0;)
      runs_[i] = AreEqual(i, i + period) ? runs_[i + 1] + 1 : 0;
  }

  // The first repetition that begins at `from` or later.
  Repeat Next(size_t from) const {
    for (size_t i = from; i < pieces_.size(); ++i) {
      size_t times = runs_[i] / period_ + 1;
      if (times < 2 || !IsWorth(i, times)) continue;
      Repeat repeat = Shifted({i, period_, times}, runs_[i] % period_);
      if (IsConnected(repeat)) return repeat;
    }
    return {pieces_.size(), period_, 0};
  }

 private:
  bool AreEqual(size_t a, size_t b) const {
    return pieces_[a].structure == pieces_[b].structure &&
           pieces_[a].length() == pieces_[b].length();
  }

  bool IsConnected(const Repeat& repeat) const {
    for (size_t i = repeat.begin; i < repeat.end(); i += repeat.period) {
      uint32_t begin = pieces_[i].begin, end = pieces_[i + repeat.period - 1].end;
      if (!line_.IsConnected(begin, end)) return false;
    }
    return true;
  }

  // True if the repetition should become a series. Not if it is two repeats that contain a series
  // (unless `pairs_` is set), or few repeats of few ops.
  bool IsWorth(size_t begin, size_t times) const {
    uint64_t size = 0;
    bool series = false;
    for (size_t i = begin; i < begin + period_; ++i) {
      size += pieces_[i].size;
      series |= !pieces_[i].starts.empty();
    }
    if (series && times == 2 && !pairs_) return false;
    return size >= kSmallRepeat || times >= kManyRepeats;
  }

  // Moves the beginning of the repetition by up to `room` parts, to where the names of neighboring
  // members have least in common. Of equally good beginnings, prefers a part of several members.
  Repeat Shifted(Repeat repeat, size_t room) const {
    size_t best = 0;
    std::pair<size_t, bool> least = {~size_t{0}, true};
    for (size_t shift = 0; shift <= room; ++shift) {
      size_t shared = 0;
      for (size_t i = 1; i <= 2 && i < repeat.times; ++i)
        shared += SharedBefore(repeat.begin + shift + i * period_);
      std::pair<size_t, bool> cost = {shared, pieces_[repeat.begin + shift].length() == 1};
      if (cost < least) {
        least = cost;
        best = shift;
      }
    }
    repeat.begin += best;
    return repeat;
  }

  // Returns the length of the prefix that the names of a part's first member and of the member
  // before it have in common.
  size_t SharedBefore(size_t piece) const {
    uint32_t place = pieces_[piece].begin;
    return CommonStart(line_.member(place - 1).name, line_.member(place).name);
  }

  const FlowLine& line_;
  const std::vector<FlowPiece>& pieces_;
  size_t period_;
  bool pairs_;
  std::vector<size_t> runs_;  // by part: how many parts from it on equal the part a period later
};

std::vector<FlowPiece> JoinPeriod(const FlowLine& line, std::vector<FlowPiece> pieces,
                                  size_t period, bool pairs) {
  RepeatFinder finder(line, pieces, period, pairs);
  Repeat repeat = finder.Next(0);
  if (repeat.times == 0) return pieces;
  std::vector<FlowPiece> result;
  for (size_t i = 0; i < pieces.size(); repeat = finder.Next(i)) {
    for (; i < repeat.begin; ++i) result.push_back(std::move(pieces[i]));
    if (repeat.times == 0) break;
    FlowPiece joined = line.Piece(pieces[repeat.begin].begin, pieces[repeat.end() - 1].end);
    for (size_t k = 0; k < repeat.times; ++k)
      joined.starts.push_back(pieces[repeat.begin + k * period].begin);
    i = repeat.end();
    result.push_back(std::move(joined));
  }
  return result;
}

class Joiner {
 public:
  Joiner(const FlowLine& line, const std::vector<FlowPiece>& pieces)
      : line_(line), pieces_(pieces), left_(pieces.size()) {
    for (uint32_t i = 0; i < pieces_.size(); ++i) {
      next_.push_back(i + 1);
      before_.push_back(i - 1);
    }
    version_.assign(pieces_.size(), 0);
  }

  void Join(uint32_t most, uint64_t largest, bool linked) {
    largest_ = largest;
    linked_ = linked;
    queue_ = {};
    for (uint32_t i = 0; i < pieces_.size(); i = next_[i]) Offer(i);
    while (left_ > most && !queue_.empty()) {
      auto [size, a, b, version_a, version_b] = queue_.top();
      queue_.pop();
      if (version_[a] != version_a || version_[b] != version_b || next_[a] != b) continue;
      if (linked_ && !line_.AreLinked(pieces_[a], pieces_[b])) continue;
      JoinTwo(a, b);
    }
  }

  std::vector<FlowPiece> Result() const {
    std::vector<FlowPiece> result;
    for (uint32_t i = 0; i < pieces_.size(); i = next_[i]) result.push_back(pieces_[i]);
    return result;
  }

 private:
  void Offer(uint32_t a) {
    uint32_t b = next_[a];
    if (b >= pieces_.size() || pieces_[a].size + pieces_[b].size > largest_) return;
    queue_.push({pieces_[a].size + pieces_[b].size, a, b, version_[a], version_[b]});
  }

  void JoinTwo(uint32_t a, uint32_t b) {
    pieces_[a].end = pieces_[b].end;
    pieces_[a].size += pieces_[b].size;
    pieces_[a].starts.clear();
    ++version_[a];
    ++version_[b];
    next_[a] = next_[b];
    if (next_[a] < pieces_.size()) before_[next_[a]] = a;
    --left_;
    Offer(a);
    if (a > 0) Offer(before_[a]);
  }

  const FlowLine& line_;
  std::vector<FlowPiece> pieces_;
  size_t left_;
  uint64_t largest_ = 0;
  bool linked_ = true;
  std::vector<uint32_t> next_, before_, version_;
  using Offered = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t, uint32_t>;
  std::priority_queue<Offered, std::vector<Offered>, std::greater<>> queue_;
};

}  // namespace

std::vector<FlowPiece> JoinEquals(const FlowLine& line, const std::vector<FlowPiece>& pieces) {
  std::vector<FlowPiece> result;
  for (size_t i = 0; i < pieces.size();) {
    size_t end = i + 1;
    auto equals = [&](const FlowPiece& piece) {
      return piece.structure == pieces[i].structure && piece.length() == pieces[i].length() &&
             line.IsConnected(piece.begin, piece.end);
    };
    bool may = pieces[i].length() > 1 && equals(pieces[i]);
    while (may && end < pieces.size() && equals(pieces[end])) ++end;
    FlowPiece joined = end == i + 1 ? pieces[i] : line.Piece(pieces[i].begin, pieces[end - 1].end);
    for (; end > i + 1 && joined.starts.size() < end - i;)
      joined.starts.push_back(pieces[i + joined.starts.size()].begin);
    result.push_back(std::move(joined));
    i = end;
  }
  return result;
}

std::vector<FlowPiece> JoinRepeats(const FlowLine& line, std::vector<FlowPiece> pieces,
                                   bool pairs) {
  for (size_t period = 1; period <= kMostPeriod && 2 * period <= pieces.size(); ++period)
    pieces = JoinPeriod(line, std::move(pieces), period, pairs);
  return pieces;
}

std::vector<FlowPiece> JoinSmallest(const FlowLine& line, const std::vector<FlowPiece>& pieces,
                                    uint32_t most, uint64_t largest) {
  Joiner joiner(line, pieces);
  joiner.Join(most, largest, true);
  return joiner.Result();
}

std::vector<FlowPiece> JoinToMost(const FlowLine& line, const std::vector<FlowPiece>& pieces,
                                  uint32_t most) {
  Joiner joiner(line, pieces);
  joiner.Join(most, line.ops() / kMostOfAll, true);
  joiner.Join(2 * most, ~uint64_t{0}, false);
  return joiner.Result();
}

}  // namespace grapnel
