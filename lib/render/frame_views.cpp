#include "lib/render/frame_views.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "lib/render/scope_view.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr const char* kRest = "rest";

class ViewMaker {
 public:
  explicit ViewMaker(const Picture& picture)
      : picture_(picture), frames_(picture.clusters.size() + 1) {}

  std::vector<FrameView> Run() && {
    for (uint32_t box = 0; box < picture_.boxes.size(); ++box)
      PutIn(picture_.boxes[box].cluster, {false, box});
    for (const PictureEdge& edge : picture_.edges) CountEnds(edge);
    for (const PictureEdge& edge : picture_.edges) AddEdge(edge);
    std::vector<FrameView> views;
    views.reserve(frames_.size());
    for (Frame& frame : frames_) views.push_back(Finish(frame));
    return views;
  }

 private:
  // An end of an edge in the view of a frame: an item of the frame, or (source or sink) the key of
  // an item outside of the frame.
  struct End {
    enum Place { kItem, kSource, kSink } place = kItem;
    uint32_t item = 0;
    std::string key;
    bool operator<(const End& other) const {
      return std::tie(place, item, key) < std::tie(other.place, other.item, other.key);
    }
  };
  struct Frame {
    std::vector<FrameItem> items;
    std::map<FrameItem, uint32_t> numbers;
    std::map<std::string, uint64_t> sources, sinks;  // number of edges of each end outside, by key
    std::map<std::tuple<End, End, PictureEdge::Kind>, size_t> by_ends;
    std::vector<std::pair<std::pair<End, End>, FrameEdge>> edges;
  };

  uint32_t PutIn(int cluster, FrameItem item) {
    Frame& frame = frames_[cluster + 1];
    auto [it, is_new] = frame.numbers.try_emplace(item, frame.items.size());
    if (is_new) {
      frame.items.push_back(item);
      if (cluster >= 0)
        PutIn(picture_.clusters[cluster].parent, {true, static_cast<uint32_t>(cluster)});
    }
    return it->second;
  }

  // Returns -1 for the whole picture, then the clusters around `cluster`, the outermost first, then
  // `cluster` itself.
  std::vector<int> Around(int cluster) const {
    std::vector<int> around;
    for (; cluster >= 0; cluster = picture_.clusters[cluster].parent) around.push_back(cluster);
    around.push_back(-1);
    std::reverse(around.begin(), around.end());
    return around;
  }

  struct Way {
    std::vector<int> from, to;  // clusters around each end, from the innermost common one
    FrameItem source, target;
    FrameItem Outermost(bool of_source) const {
      const std::vector<int>& way = of_source ? from : to;
      if (way.size() == 1) return of_source ? source : target;
      return {true, static_cast<uint32_t>(way[1])};
    }
  };

  Way WayOf(const PictureEdge& edge) const {
    Way way{Around(picture_.boxes[edge.from].cluster),
            Around(picture_.boxes[edge.to].cluster),
            {false, edge.from},
            {false, edge.to}};
    if (edge.to_cluster >= 0 && !llvm::is_contained(way.from, edge.to_cluster)) {
      way.to = Around(picture_.clusters[edge.to_cluster].parent);
      way.target = {true, static_cast<uint32_t>(edge.to_cluster)};
    }
    size_t common = 0;
    while (common + 1 < std::min(way.from.size(), way.to.size()) &&
           way.from[common + 1] == way.to[common + 1])
      ++common;
    way.from.erase(way.from.begin(), way.from.begin() + common);
    way.to.erase(way.to.begin(), way.to.begin() + common);
    return way;
  }

  void CountEnds(const PictureEdge& edge) {
    Way way = WayOf(edge);
    std::string source = way.Outermost(true).Key(), target = way.Outermost(false).Key();
    for (size_t i = 1; i < way.from.size(); ++i) frames_[way.from[i] + 1].sinks[target] += 1;
    for (size_t i = 1; i < way.to.size(); ++i) frames_[way.to[i] + 1].sources[source] += 1;
  }

  uint32_t ItemOn(const std::vector<int>& way, size_t at, FrameItem last) {
    bool inside = at + 1 < way.size();
    FrameItem item = inside ? FrameItem{true, static_cast<uint32_t>(way[at + 1])} : last;
    return PutIn(way[at], item);
  }

  void AddEdge(const PictureEdge& edge) {
    Way way = WayOf(edge);
    std::string source = way.Outermost(true).Key(), target = way.Outermost(false).Key();
    Add(way.from[0], {End::kItem, ItemOn(way.from, 0, way.source), ""},
        {End::kItem, ItemOn(way.to, 0, way.target), ""}, edge);
    for (size_t i = 1; i < way.from.size(); ++i)
      Add(way.from[i], {End::kItem, ItemOn(way.from, i, way.source), ""}, {End::kSink, 0, target},
          edge);
    for (size_t i = 1; i < way.to.size(); ++i)
      Add(way.to[i], {End::kSource, 0, source}, {End::kItem, ItemOn(way.to, i, way.target), ""},
          edge);
  }

  // If there are too many `ends` outside a frame, only those with the most edges keep ports of
  // their own. If `key` is another one, sets it to "rest", the port that the others share.
  static void Limit(const std::map<std::string, uint64_t>& ends, std::string* key) {
    if (ends.size() <= kMaxPorts) return;
    std::vector<std::pair<uint64_t, std::string>> order;
    order.reserve(ends.size());
    for (auto& [name, count] : ends) order.emplace_back(~count, name);
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i + 1 < kMaxPorts; ++i) {
      if (order[i].second == *key) return;
    }
    *key = kRest;
  }

  void Add(int cluster, End from, End to, const PictureEdge& edge) {
    Frame& frame = frames_[cluster + 1];
    if (from.place == End::kSource) Limit(frame.sources, &from.key);
    if (to.place == End::kSink) Limit(frame.sinks, &to.key);
    auto [it, is_new] = frame.by_ends.try_emplace({from, to, edge.kind}, frame.edges.size());
    if (is_new) frame.edges.push_back({{from, to}, {0, 0, edge.kind, 0, edge.back, edge.label}});
    FrameEdge& made = frame.edges[it->second].second;
    made.count += edge.count;
    if (made.label != edge.label) made.label.clear();
  }

  // Returns the keys of a frame's sources or sinks, in the order of its edges.
  static std::vector<std::string> Ports(const Frame& frame, bool sources) {
    std::vector<std::string> ports;
    for (const auto& [ends, edge] : frame.edges) {
      const End& end = sources ? ends.first : ends.second;
      if (end.place == (sources ? End::kSource : End::kSink) && !llvm::is_contained(ports, end.key))
        ports.push_back(end.key);
    }
    return ports;
  }

  static FrameView Finish(Frame& frame) {
    FrameView view;
    view.items = frame.items;
    view.sources = Ports(frame, true);
    view.sinks = Ports(frame, false);
    uint32_t first_source = view.items.size(), first_sink = first_source + view.sources.size();
    auto item_of = [&](const End& end) -> uint32_t {
      if (end.place == End::kItem) return end.item;
      const std::vector<std::string>& ports = end.place == End::kSource ? view.sources : view.sinks;
      return (end.place == End::kSource ? first_source : first_sink) +
             (llvm::find(ports, end.key) - ports.begin());
    };
    for (auto& [ends, edge] : frame.edges) {
      edge.from = item_of(ends.first);
      edge.to = item_of(ends.second);
      view.edges.push_back(edge);
    }
    return view;
  }

  const Picture& picture_;
  std::vector<Frame> frames_;
};

}  // namespace

std::vector<FrameView> MakeFrameViews(const Picture& picture) { return ViewMaker(picture).Run(); }

}  // namespace grapnel
