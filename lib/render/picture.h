// A picture to draw: boxes, clusters, edges and the words around them, before any layout.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_H_
#define GRAPNEL_LIB_RENDER_PICTURE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/io/signature.h"
#include "lib/ir/module.h"
#include "lib/render/edges.h"
#include "lib/render/hidden_nodes.h"
#include "lib/support/error.h"

namespace grapnel {

enum class BoxKind {
  kOp,
  kScope,     // a closed scope, or a closed group of siblings
  kFunction,  // a closed body
  kRest,      // what --max-boxes leaves of an opened scope
  kStub,      // an input that is nowhere
};

// Text is UTF-8 without control characters, whatever the file's names hold.
struct Box {
  BoxKind kind = BoxKind::kOp;
  std::string id;                  // unique among boxes and clusters: the path, mostly
  std::string title;               // "Conv2D"; a scope's name, relative to its cluster
  std::string name;                // an op's name, relative to its cluster
  std::vector<std::string> notes;  // "filter = float[3,3,3,32]": a line each
  std::string tooltip;             // the full path and more
  int cluster = -1;                // the innermost; -1: none
  bool input = false, output = false;
  bool focus = false;  // what --around and --path name
  size_t num_ops = 0;  // nodes that it stands for, those folded into it not counted
  size_t repeat = 1;   // this many like siblings
  int color = 0;       // an index of Picture::colors
  const Graph* graph = nullptr;
  NodeId node = kNoNode;  // of an op, the first one when repeated
  uint32_t scope = ~0u;   // of a closed scope, its ScopeId
  // What it stands for, those folded into it not counted: of a series a list for each of its
  // equals, else one list. Only where ViewOptions::list_nodes asks for it.
  std::vector<std::vector<NodeId>> parts;
};

struct Cluster {
  std::string id, title, tooltip;
  int parent = -1;  // lower than its own index
  bool function = false;
};

struct PictureEdge {
  enum class Kind { kData, kControl, kCall, kDangling, kThrough };
  Kind kind = Kind::kData;    // kThrough: hidden nodes alone lie between
  uint32_t from = 0, to = 0;  // boxes
  int to_cluster = -1;        // of a call: the opened body, in which `to` lies
  uint32_t count = 1;         // of edges in the graph
  bool back = false;          // closes a loop: runs against the direction
  std::string label;
};

struct Swatch {
  std::string name, fill;  // fill: "#rrggbb", light enough for black text
};

// What became of everything that was not drawn by itself. Sums are exact: nodes = in boxes +
// folded; edges.Total() is the number of inputs, data and control, of the selected nodes.
struct PictureCounts {
  size_t nodes = 0;  // selected
  size_t nodes_of_graph = 0;
  size_t constants = 0, variables = 0, constant_reads = 0, no_ops = 0;  // folded into readers
  size_t rest = 0;                                                      // in boxes of kind kRest
  uint64_t stubbed_control = 0;  // of edges.control: said in notes, not drawn
  uint64_t hidden_control = 0;   // the same by --hide control
  uint64_t hidden_handles = 0;   // of edges.data, by --hide resources
  size_t functions_closed = 0;   // in the library, neither opened nor a box
  EdgeCounts edges;
};

class NodeNumbers;
enum class Aggregate;

enum class Direction { kDown, kUp, kRight };

struct Picture {
  std::string title;
  std::vector<std::string> header;  // a line each, under the title
  std::vector<Box> boxes;
  std::vector<Cluster> clusters;
  std::vector<PictureEdge> edges;
  std::vector<Swatch> colors;  // those that boxes have; [0] is the neutral one
  std::string color_title;     // what colors mean: "op", "device"
  Direction direction = Direction::kDown;
  PictureCounts counts;
};

enum class ColorBy { kOp, kDevice, kScope };

// Colors that a caller gives: what a diff found, what a debugger saw.
struct Painting {
  std::string title;                          // of the legend
  std::vector<Swatch> swatches;               // in the legend's order; only those in use are shown
  std::function<int(const Node&)> swatch_of;  // an index of swatches; -1: neutral
  // What a closed scope is called in which several swatches meet. Neutral nodes do not count there.
  Swatch several;
};

struct ViewOptions {
  std::string title;                // what the user calls the model
  std::vector<std::string> scopes;  // to open: "a/b", "function/a/b", "a/block_*"
  int depth = -1;  // open all scopes down to this depth; -1: as many as a reader can take in
  std::vector<std::string> functions;  // bodies to open beside main; "all"
  std::string around;  // a node, or "function/node": only what is within `hops` edges of it
  int hops = 2;
  std::string path_from, path_to;  // only nodes on a directed path between these
  ColorBy color_by = ColorBy::kOp;
  const Painting* painting = nullptr;    // instead of color_by
  const NodeNumbers* numbers = nullptr;  // likewise, and each box says its own
  Aggregate aggregate = {};              // of the numbers in a box of several nodes
  Direction direction = Direction::kDown;
  bool hide_control = false, hide_constants = false, hide_shapes = false, hide_main = false;
  bool hide_handles = false;  // edges of resources and variants
  HiddenNodes hidden;  // have no box; what is read through them alone is joined to its readers
  bool show_constants = false;  // a box for each
  bool show_control = false;    // NoOps as boxes, and control edges however many meet
  int max_boxes = 60;
  bool keep_outermost = false;              // see ScopeTree
  bool list_nodes = false;                  // in Box::parts
  std::vector<std::string> feeds, fetches;  // tensors of main ("x:0") that are marked
  // What a signature runs, drawn instead of main where neither a function nor a part of a body is
  // asked for; null: main.
  const SignatureBody* entry = nullptr;
};

// Without scopes and depth, scopes are opened, the largest first, until some 15 to 40 boxes are
// there. Errors: a scope, function or node that is not there (with what may have been meant), no
// path, nothing to draw. Linear in the graph.
Expected<Picture> MakePicture(const Module& module, const ViewOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_H_
