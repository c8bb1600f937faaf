// The cuts and joins of FlowParts (lib/render/flow_parts.h). Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_FLOW_PIECES_H_
#define GRAPNEL_LIB_RENDER_FLOW_PIECES_H_

#include <cstdint>
#include <vector>

#include "lib/render/flow_order.h"
#include "lib/render/flow_parts.h"

namespace grapnel {

// A part while it is cut and joined: positions `begin` to `end` - 1 in data flow order.
struct FlowPiece {
  uint32_t begin, end;
  uint64_t structure;
  uint64_t size;
  // For a series, the position at which each repeat begins; else empty.
  std::vector<uint32_t> starts = {};
  uint32_t length() const { return end - begin; }
};

// The members in data flow order, and for each position the number of members that are read across
// it, not counting members that are read throughout, such as a mask that each layer reads.
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
  // True if an edge runs between two neighboring parts. Linear in the edges of the smaller part.
  bool AreLinked(const FlowPiece& left, const FlowPiece& right) const;
  bool IsConnected(uint32_t begin, uint32_t end) const;
  // The positions of a part, as one list for each connected component of the part, in increasing
  // order.
  std::vector<std::vector<uint32_t>> Connected(uint32_t begin, uint32_t end) const;
  // Cuts the flow, in a limited number of steps, until no part of several members has more than 40
  // % of all ops.
  std::vector<FlowPiece> Pieces() const;

 private:
  void Connect(const FlowEdges& edges);
  void Measure();
  // Computes width_ without counting the members at positions that are true in `out`.
  void Leave(const std::vector<bool>& out);
  // Returns, for each position of the part, the first position of its connected component within
  // the part; both count from `begin`.
  std::vector<uint32_t> FirstOfEach(uint32_t begin, uint32_t end) const;
  std::vector<FlowPiece> Cut(const FlowPiece& piece) const;
  std::vector<FlowPiece> Halve(const FlowPiece& piece) const;

  llvm::ArrayRef<FlowMember> members_;
  std::vector<uint32_t> order_,
      width_;  // width_[i]: members before position i that are read at i or later
  std::vector<uint32_t> in_first_, in_, out_first_, out_;  // positions of inputs and readers
};

// Joins consecutive parts of equal structure into series, if each part has several members and is
// connected.
std::vector<FlowPiece> JoinEquals(const FlowLine& line, const std::vector<FlowPiece>& pieces);

// Joins repetitions of one or more consecutive parts into series, the shortest periods first. If
// `pairs`, also makes series of only two repeats that contain series themselves.
std::vector<FlowPiece> JoinRepeats(const FlowLine& line, std::vector<FlowPiece> pieces, bool pairs);

// Joins neighboring parts with an edge between them, the smallest first, into parts of at most
// `largest` ops, until at most `most` parts are left.
std::vector<FlowPiece> JoinSmallest(const FlowLine& line, const std::vector<FlowPiece>& pieces,
                                    uint32_t most, uint64_t largest);

// Calls JoinSmallest with a quarter of all ops as `largest`; then joins neighboring parts with or
// without an edge, the smallest first, until at most 2 * most parts are left.
std::vector<FlowPiece> JoinToMost(const FlowLine& line, const std::vector<FlowPiece>& pieces,
                                  uint32_t most);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_PIECES_H_
