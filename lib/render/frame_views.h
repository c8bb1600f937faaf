// The frames of a picture, each with its direct contents and the edges that enter and leave the
// frame.
#ifndef GRAPNEL_LIB_RENDER_FRAME_VIEWS_H_
#define GRAPNEL_LIB_RENDER_FRAME_VIEWS_H_

#include <string>
#include <vector>

#include "lib/render/picture.h"

namespace grapnel {

// A box or a cluster that is directly in a frame.
struct FrameItem {
  bool is_cluster = false;
  uint32_t index = 0;  // in picture.boxes or picture.clusters
  std::string Key() const { return (is_cluster ? "c" : "b") + std::to_string(index); }
  bool operator<(const FrameItem& other) const {
    return std::pair(is_cluster, index) < std::pair(other.is_cluster, other.index);
  }
};

// All edges of one kind between two ends in a view. Ends are numbered: items first, then sources,
// then sinks.
struct FrameEdge {
  uint32_t from = 0, to = 0;
  PictureEdge::Kind kind = PictureEdge::Kind::kData;
  uint32_t count = 0;
  bool back = false;
  std::string label;  // empty if the edges' labels differ
};

struct FrameView {
  std::vector<FrameItem> items;
  std::vector<std::string> sources, sinks;  // keys of ends outside; "rest" for the rest of too many
  std::vector<FrameEdge> edges;
};

// Returns a view for each frame: [0] is the outermost frame, [1 + i] the frame of cluster i. Takes
// near-linear time in the picture, except for frames with many ends outside.
std::vector<FrameView> MakeFrameViews(const Picture& picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FRAME_VIEWS_H_
