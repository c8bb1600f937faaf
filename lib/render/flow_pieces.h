// The cuts of FlowParts. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_FLOW_PIECES_H_
#define GRAPNEL_LIB_RENDER_FLOW_PIECES_H_

#include <cstdint>
#include <vector>

#include "lib/render/flow_order.h"
#include "lib/render/flow_parts.h"

namespace grapnel {

// A part while it is cut and joined: neighbors in data flow order, from `begin` to before `end`.
struct FlowPiece {
  uint32_t begin, end;
  uint64_t structure;
  uint64_t size;
  // For a series, where each of its repeats begins; else empty.
  std::vector<uint32_t> starts = {};
  uint32_t length() const { return end - begin; }
};

// Members in data flow order, and how many of them are read across each cut, without those that are
// read throughout, as a mask by each layer.
class FlowLine {
 public:
  FlowLine(llvm::ArrayRef<FlowMember> members, const FlowEdges& edges);

  uint32_t size() const { return static_cast<uint32_t>(order_.size()); }
  uint32_t id(uint32_t place) const { return order_[place]; }
  const FlowMember& member(uint32_t place) const { return members_[order_[place]]; }
  llvm::ArrayRef<uint32_t> Members(uint32_t begin, uint32_t end) const {
    return llvm::ArrayRef<uint32_t>(order_).slice(begin, end - begin);
  }
  uint64_t ops() const { return Piece(0, size()).size; }
  FlowPiece Piece(uint32_t begin, uint32_t end) const;
  // True if an edge runs between two neighbors. Linear in the smaller one.
  bool AreLinked(const FlowPiece& left, const FlowPiece& right) const;
  bool IsConnected(uint32_t begin, uint32_t end) const;
  // The positions of a part, split into connected components, each in order.
  std::vector<std::vector<uint32_t>> Connected(uint32_t begin, uint32_t end) const;
  // Cuts all members into parts of at most some 40 % of the whole, except for single members and
  // parts with equals next to them.
  std::vector<FlowPiece> Pieces() const;

 private:
  void Connect(const FlowEdges& edges);
  void Measure();
  // Computes the widths without some positions.
  void Leave(const std::vector<bool>& out);
  // For each position from `begin` on, the first position (from 0) of its connected component
  // within the part.
  std::vector<uint32_t> FirstOfEach(uint32_t begin, uint32_t end) const;
  std::vector<FlowPiece> Cut(const FlowPiece& piece) const;
  std::vector<FlowPiece> Halve(const FlowPiece& piece) const;

  llvm::ArrayRef<FlowMember> members_;
  std::vector<uint32_t> order_,
      width_;  // width_[i]: members before position i that are read at i or later
  std::vector<uint32_t> in_first_, in_, out_first_, out_;  // positions
};

// Joins consecutive equal parts of several members into series.
std::vector<FlowPiece> JoinEquals(const FlowLine& line, const std::vector<FlowPiece>& pieces);

// Joins consecutive repeated parts into series, the shortest periods first. `pairs`: also makes
// series of two repeats that contain series.
std::vector<FlowPiece> JoinRepeats(const FlowLine& line, std::vector<FlowPiece> pieces, bool pairs);

// Joins the smallest linked neighbors into parts of at most `largest` ops until `most` are left.
std::vector<FlowPiece> JoinSmallest(const FlowLine& line, const std::vector<FlowPiece>& pieces,
                                    uint32_t most, uint64_t largest);

// The same up to a quarter of all ops; then joins the smallest neighbors, linked or not, until
// there are at most twice as many.
std::vector<FlowPiece> JoinToMost(const FlowLine& line, const std::vector<FlowPiece>& pieces,
                                  uint32_t most);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_PIECES_H_
