#include "lib/render/flow_pieces.h"

#include <algorithm>

#include "lib/render/pair_hash.h"

namespace grapnel {
namespace {

// Pieces cuts the largest part where the fewest members are read across the cut. This may split off
// only small parts, so after this many cuts it halves the largest part instead.
constexpr int kMostCuts = 16;
// A member with at least this many readers, the last of them at least a third of all positions
// away, may count as read throughout the flow.
constexpr uint32_t kReadersAllAlong = 4;
// If more members than this have such readers, no member counts as read throughout the flow.
constexpr int kMostAllAlong = 64;

}  // namespace

FlowLine::FlowLine(llvm::ArrayRef<FlowMember> members, const FlowEdges& edges)
    : members_(members), order_(DataFlowOrder(static_cast<uint32_t>(members.size()), edges)) {
  Connect(edges);
  Measure();
}

void FlowLine::Connect(const FlowEdges& edges) {
  uint32_t count = size();
  std::vector<uint32_t> place(count);
  for (uint32_t i = 0; i < count; ++i) place[order_[i]] = i;
  FlowEdges placed;
  placed.reserve(edges.size());
  for (auto [from, to] : edges) placed.push_back({place[from], place[to]});
  std::sort(placed.begin(), placed.end());
  placed.erase(std::unique(placed.begin(), placed.end()), placed.end());
  in_first_.assign(count + 1, 0);
  out_first_.assign(count + 1, 0);
  for (auto [from, to] : placed) {
    ++out_first_[from + 1];
    ++in_first_[to + 1];
  }
  for (uint32_t i = 0; i < count; ++i) {
    out_first_[i + 1] += out_first_[i];
    in_first_[i + 1] += in_first_[i];
  }
  in_.resize(placed.size());
  std::vector<uint32_t> next(in_first_.begin(), in_first_.end() - 1);
  for (auto [from, to] : placed) {
    out_.push_back(to);
    in_[next[to]++] = from;
  }
}

// The readers of each position must be sorted: the first and the last one are looked up.
void FlowLine::Leave(const std::vector<bool>& out) {
  uint32_t count = size();
  std::vector<int64_t> change(count + 1, 0);
  for (uint32_t i = 0; i < count; ++i) {
    if (out[i] || out_first_[i] == out_first_[i + 1]) continue;
    uint32_t first = std::min(i, out_[out_first_[i]]), last = out_[out_first_[i + 1] - 1];
    ++change[first + 1 < count ? first + 1 : count];
    --change[std::max(i, last) + 1 <= count ? std::max(i, last) + 1 : count];
  }
  width_.assign(count + 1, 0);
  for (uint32_t i = 1; i < count; ++i) width_[i] = static_cast<uint32_t>(width_[i - 1] + change[i]);
}

void FlowLine::Measure() {
  uint32_t count = size();
  std::vector<bool> wide(count, false);
  for (uint32_t i = 0; i < count; ++i) {
    bool many = out_first_[i + 1] - out_first_[i] >= kReadersAllAlong;
    wide[i] = many && (out_[out_first_[i + 1] - 1] - i) * uint64_t{3} >= count;
  }
  if (std::count(wide.begin(), wide.end(), true) > kMostAllAlong) wide.assign(count, false);
  Leave(wide);
  // A `wide` member has many readers far apart. It counts as read throughout the flow only if at
  // least kReadersAllAlong - 1 times, there is a position between two consecutive readers across
  // which at most one member that is not wide is read. That is so if its readers are layers, but
  // not if they are branches of one block.
  for (uint32_t i = 0; i < count; ++i) {
    if (!wide[i]) continue;
    size_t narrow = 0;
    for (uint32_t k = out_first_[i]; k + 1 < out_first_[i + 1]; ++k) {
      auto from = width_.begin() + out_[k] + 1, to = width_.begin() + out_[k + 1] + 1;
      narrow += from < to && *std::min_element(from, to) <= 1;
    }
    wide[i] = narrow >= kReadersAllAlong - 1;
  }
  Leave(wide);
}

FlowPiece FlowLine::Piece(uint32_t begin, uint32_t end) const {
  FlowPiece piece{begin, end, 0, 0};
  for (uint32_t i = begin; i < end; ++i) {
    piece.size += member(i).size;
    piece.structure += HashOfPair(member(i).structure, 1);
    for (uint32_t k = in_first_[i]; k < in_first_[i + 1]; ++k) {
      if (in_[k] < begin || in_[k] >= end) continue;
      piece.structure += HashOfPair(HashOfPair(member(in_[k]).structure, member(i).structure), 2);
    }
  }
  return piece;
}

bool FlowLine::AreLinked(const FlowPiece& left, const FlowPiece& right) const {
  bool from_left = left.length() < right.length();
  const FlowPiece& small = from_left ? left : right;
  const FlowPiece& other = from_left ? right : left;
  auto reaches = [&](const std::vector<uint32_t>& first, const std::vector<uint32_t>& ends,
                     uint32_t place) {
    return std::any_of(ends.begin() + first[place], ends.begin() + first[place + 1],
                       [&](uint32_t end) { return end >= other.begin && end < other.end; });
  };
  for (uint32_t i = small.begin; i < small.end; ++i) {
    if (reaches(in_first_, in_, i) || reaches(out_first_, out_, i)) return true;
  }
  return false;
}

std::vector<uint32_t> FlowLine::FirstOfEach(uint32_t begin, uint32_t end) const {
  std::vector<uint32_t> root(end - begin);
  for (uint32_t i = 0; i < root.size(); ++i) root[i] = i;
  auto find = [&](uint32_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (uint32_t i = begin; i < end; ++i) {
    for (uint32_t k = in_first_[i]; k < in_first_[i + 1]; ++k) {
      if (in_[k] < begin || in_[k] >= end) continue;
      uint32_t a = find(i - begin), b = find(in_[k] - begin);
      root[std::max(a, b)] = std::min(a, b);
    }
  }
  for (uint32_t i = 0; i < root.size(); ++i) root[i] = find(i);
  return root;
}

bool FlowLine::IsConnected(uint32_t begin, uint32_t end) const {
  if (end - begin == 1) return true;
  std::vector<uint32_t> first = FirstOfEach(begin, end);
  return std::all_of(first.begin(), first.end(), [](uint32_t i) { return i == 0; });
}

std::vector<std::vector<uint32_t>> FlowLine::Connected(uint32_t begin, uint32_t end) const {
  std::vector<uint32_t> first = FirstOfEach(begin, end);
  std::vector<std::vector<uint32_t>> lists;
  std::vector<size_t> list_of(first.size());
  for (uint32_t i = 0; i < first.size(); ++i) {
    if (first[i] == i) {
      list_of[i] = lists.size();
      lists.emplace_back();
    }
    lists[list_of[first[i]]].push_back(begin + i);
  }
  return lists;
}

std::vector<FlowPiece> FlowLine::Cut(const FlowPiece& piece) const {
  uint32_t least = *std::min_element(width_.begin() + piece.begin + 1, width_.begin() + piece.end);
  std::vector<FlowPiece> pieces;
  uint32_t begin = piece.begin;
  for (uint32_t i = piece.begin + 1; i <= piece.end; ++i) {
    if (i < piece.end && width_[i] != least) continue;
    pieces.push_back(Piece(begin, i));
    begin = i;
  }
  return pieces;
}

std::vector<FlowPiece> FlowLine::Halve(const FlowPiece& piece) const {
  uint32_t margin = piece.length() / 4;
  auto at = std::min_element(width_.begin() + piece.begin + 1 + margin,
                             width_.begin() + piece.end - margin);
  uint32_t cut = static_cast<uint32_t>(at - width_.begin());
  return {Piece(piece.begin, cut), Piece(cut, piece.end)};
}

std::vector<FlowPiece> FlowLine::Pieces() const {
  std::vector<FlowPiece> pieces = {Piece(0, size())};
  uint64_t large = pieces[0].size * 2 / 5;
  for (int cuts = 0; cuts < 3 * kMostCuts; ++cuts) {
    auto largest =
        std::max_element(pieces.begin(), pieces.end(), [](const FlowPiece& a, const FlowPiece& b) {
          return (a.length() > 1 ? a.size : 0) < (b.length() > 1 ? b.size : 0);
        });
    if (largest->size <= large || largest->length() == 1) break;
    FlowPiece chosen = *largest;
    std::vector<FlowPiece> next;
    for (const FlowPiece& piece : pieces) {
      bool alike = piece.structure == chosen.structure && piece.length() == chosen.length();
      if (!alike) {
        next.push_back(piece);
        continue;
      }
      std::vector<FlowPiece> cut = cuts < kMostCuts ? Cut(piece) : Halve(piece);
      next.insert(next.end(), cut.begin(), cut.end());
    }
    pieces = std::move(next);
  }
  return pieces;
}

}  // namespace grapnel
