// The cuts of FlowParts. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_FLOW_PIECES_H_
#define GRAPNEL_LIB_RENDER_FLOW_PIECES_H_

#include <cstdint>
#include <vector>

#include "lib/render/flow_order.h"
#include "lib/render/flow_parts.h"

namespace grapnel {

// Neighbors in a demand order, from `begin` to before `end`.
struct FlowPiece {
  uint32_t begin, end;
  uint64_t structure;
  uint64_t size;
  // Of a series where each of its equals begins; else empty.
  std::vector<uint32_t> starts = {};
  uint32_t length() const { return end - begin; }
};

// Members in demand order, and how many of them are read across each cut; but for those that are
// read all along, as a mask by each layer.
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
  // Whether an edge runs between neighbors. Linear in the smaller one.
  bool AreLinked(const FlowPiece& left, const FlowPiece& right) const;
  bool IsConnected(uint32_t begin, uint32_t end) const;
  // The places of a piece by what is connected within it, each list in order.
  std::vector<std::vector<uint32_t>> Connected(uint32_t begin, uint32_t end) const;
  // All of it in pieces none of which has more than some 40 % of the whole, unless it is one member
  // or there are equals of it beside it.
  std::vector<FlowPiece> Pieces() const;

 private:
  void Connect(const FlowEdges& edges);
  void Measure();
  // Widths without some places.
  void Leave(const std::vector<bool>& out);
  // By place from `begin` on, the first one (from 0) that it is connected with within the piece.
  std::vector<uint32_t> FirstOfEach(uint32_t begin, uint32_t end) const;
  std::vector<FlowPiece> Cut(const FlowPiece& piece) const;
  std::vector<FlowPiece> Halve(const FlowPiece& piece) const;

  llvm::ArrayRef<FlowMember> members_;
  std::vector<uint32_t> order_,
      width_;  // width_[i]: members before place i that are read from it on
  std::vector<uint32_t> in_first_, in_, out_first_, out_;  // places
};

// Joins equal pieces of several members that follow one another.
std::vector<FlowPiece> JoinEquals(const FlowLine& line, const std::vector<FlowPiece>& pieces);

// Joins pieces that repeat one after the other, the shortest periods first. `pairs`: series of
// two that have series in them, too.
std::vector<FlowPiece> JoinRepeats(const FlowLine& line, std::vector<FlowPiece> pieces, bool pairs);

// Joins the smallest linked neighbors to pieces of at most `largest` ops until `most` are left.
std::vector<FlowPiece> JoinSmallest(const FlowLine& line, const std::vector<FlowPiece>& pieces,
                                    uint32_t most, uint64_t largest);

// The same up to a quarter of all ops; then the smallest neighbors, linked or not, until there are
// no more than twice as many.
std::vector<FlowPiece> JoinToMost(const FlowLine& line, const std::vector<FlowPiece>& pieces,
                                  uint32_t most);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_PIECES_H_
