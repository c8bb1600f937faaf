#include "lib/render/frame_views.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMaxPorts = 12;
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
    // Outer frames come first, because their views determine the order of the lines that enter the
    // frames in them.
    for (size_t i = 0; i < frames_.size(); ++i) views.push_back(Finish(i));
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
    // Keys of sources and sinks, in the order of their lines in the view of the frame around this
    // one.
    std::vector<std::string> source_order, sink_order;
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

  // Returns the keys of a frame's sources or sinks in the order in which their lines arrive from
  // the view around the frame. Keys without a line there come last.
  static std::vector<std::string> Ports(const Frame& frame, bool sources) {
    std::vector<std::string> ports = sources ? frame.source_order : frame.sink_order;
    for (const auto& [ends, edge] : frame.edges) {
      const End& end = sources ? ends.first : ends.second;
      if (end.place == (sources ? End::kSource : End::kSink) && !llvm::is_contained(ports, end.key))
        ports.push_back(end.key);
    }
    llvm::erase_if(ports, [&](const std::string& key) {
      return llvm::none_of(frame.edges, [&](const auto& made) {
        const End& end = sources ? made.first.first : made.first.second;
        return end.place == (sources ? End::kSource : End::kSink) && end.key == key;
      });
    });
    return ports;
  }

  FrameView Finish(size_t number) {
    Frame& frame = frames_[number];
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
    std::vector<LayerEdge> edges;
    std::vector<uint32_t> above;
    for (uint32_t item = 0; item < view.items.size(); ++item) {
      const FrameItem& one = view.items[item];
      bool kept =
          one.is_cluster ? picture_.clusters[one.index].kept : picture_.boxes[one.index].kept;
      if (kept) above.push_back(item);
    }
    for (auto& [ends, edge] : frame.edges) {
      edge.from = item_of(ends.first);
      edge.to = item_of(ends.second);
      uint32_t weight = edge.kind == PictureEdge::Kind::kControl ? 1 : 3;
      edges.push_back({edge.from, edge.to, weight, edge.back});
      view.edges.push_back(edge);
    }
    std::vector<uint32_t> top(view.sources.size()), bottom(view.sinks.size());
    std::iota(top.begin(), top.end(), first_source);
    std::iota(bottom.begin(), bottom.end(), first_sink);
    PutAbove(above, first_sink + view.sinks.size(), &edges);
    view.layering = MakeLayers(first_sink + view.sinks.size(), edges, top, bottom);
    OrderPorts(view);
    return view;
  }

  // Sets the order of the ports of the frames that `view` contains: the order in which the lines of
  // `view` arrive at them.
  void OrderPorts(const FrameView& view) {
    std::vector<double> place(view.layering.num_items, 0);
    for (const auto& layer : view.layering.layers) {
      for (size_t i = 0; i < layer.size(); ++i) place[layer[i]] = (i + 0.5) / layer.size();
    }
    auto key_of = [&](uint32_t item) {
      if (item < view.items.size()) return view.items[item].Key();
      item -= view.items.size();
      return item < view.sources.size() ? view.sources[item]
                                        : view.sinks[item - view.sources.size()];
    };
    std::map<uint32_t, std::vector<std::pair<double, std::string>>> in, out;  // by cluster
    for (size_t i = 0; i < view.edges.size(); ++i) {
      const FrameEdge& edge = view.edges[i];
      const std::vector<uint32_t>& bends = view.layering.bends[i];
      auto is_frame = [&](uint32_t item) {
        return item < view.items.size() && view.items[item].is_cluster;
      };
      if (is_frame(edge.to))
        in[view.items[edge.to].index].emplace_back(place[bends.empty() ? edge.from : bends.back()],
                                                   key_of(edge.from));
      if (is_frame(edge.from))
        out[view.items[edge.from].index].emplace_back(
            place[bends.empty() ? edge.to : bends.front()], key_of(edge.to));
    }
    auto tell = [&](auto& orders, std::vector<std::string> Frame::*order) {
      for (auto& [cluster, keys] : orders) {
        std::sort(keys.begin(), keys.end());
        for (auto& [at, key] : keys) {
          if (!llvm::is_contained(frames_[cluster + 1].*order, key))
            (frames_[cluster + 1].*order).push_back(key);
        }
      }
    };
    tell(in, &Frame::source_order);
    tell(out, &Frame::sink_order);
  }

  const Picture& picture_;
  std::vector<Frame> frames_;
};

}  // namespace

std::vector<FrameView> MakeFrameViews(const Picture& picture) { return ViewMaker(picture).Run(); }

}  // namespace grapnel
