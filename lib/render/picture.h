// A picture to draw: boxes, clusters, edges and their text, before layout.
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
  kRest,      // the rest of an open scope, because of --max-boxes
  kStub,      // an input that does not exist
};

// Text is UTF-8 without control characters, whatever names the file has.
struct Box {
  BoxKind kind = BoxKind::kOp;
  std::string id;                  // unique among boxes and clusters: usually the path
  std::string title;               // "Conv2D"; a scope's name, relative to its cluster
  std::string name;                // an op's name, relative to its cluster
  std::vector<std::string> notes;  // "filter = float[3,3,3,32]": a line each
  std::string tooltip;             // the full path and more
  int cluster = -1;                // the innermost; -1: none
  bool input = false, output = false;
  bool focus = false;  // named by --around and --path
  size_t num_ops = 0;  // nodes that it stands for, without folded ones
  size_t repeat = 1;   // number of equal siblings
  int color = 0;       // an index of Picture::colors
  const Graph* graph = nullptr;
  NodeId node = kNoNode;  // the op, the first one if repeated
  uint32_t scope = ~0u;   // the ScopeId of a closed scope
  // The nodes it stands for, without folded ones: a list for each repeat of a series, else one
  // list. Filled only with ViewOptions::list_nodes.
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
  int to_cluster = -1;        // for a call: the opened body, which contains `to`
  uint32_t count = 1;         // of edges in the graph
  bool back = false;          // closes a loop: runs against the direction
  std::string label;
};

struct Swatch {
  std::string name, fill;  // fill: "#rrggbb", light enough for black text
};

// Counts of everything that is not drawn by itself. Sums are exact: nodes = in boxes + folded;
// edges.Total() is the number of inputs, data and control, of the selected nodes.
struct PictureCounts {
  size_t nodes = 0;  // selected
  size_t nodes_of_graph = 0;
  size_t constants = 0, variables = 0, constant_reads = 0, no_ops = 0;  // folded into readers
  size_t rest = 0;                                                      // in boxes of kind kRest
  uint64_t stubbed_control = 0;  // of edges.control: in notes, not drawn
  uint64_t hidden_control = 0;   // of edges.control, by --hide control
  uint64_t hidden_handles = 0;   // of edges.data, by --hide resources
  size_t functions_closed = 0;   // of the library, neither opened nor a box
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
  std::vector<Swatch> colors;  // in use; [0] is the neutral one
  std::string color_title;     // what colors mean: "op", "device"
  Direction direction = Direction::kDown;
  PictureCounts counts;
};

enum class ColorBy { kOp, kDevice, kScope };

// Colors given by a caller: the result of a diff or of a debug run.
struct Painting {
  std::string title;                          // of the legend
  std::vector<Swatch> swatches;               // in the legend's order; only those in use are shown
  std::function<int(const Node&)> swatch_of;  // an index of swatches; -1: neutral
  // Swatch of a closed scope with nodes of several swatches. Neutral nodes do not count.
  Swatch several;
};

struct ViewOptions {
  std::string title;                   // the model's name
  std::vector<std::string> scopes;     // to open: "a/b", "function/a/b", "a/block_*"
  int depth = -1;                      // open all scopes down to this depth; -1: a readable number
  std::vector<std::string> functions;  // bodies to open beside main; "all"
  std::string around;  // a node, or "function/node": only what is within `hops` edges of it
  int hops = 2;
  std::string path_from, path_to;  // only nodes on a directed path between these
  ColorBy color_by = ColorBy::kOp;
  const Painting* painting = nullptr;    // instead of color_by
  const NodeNumbers* numbers = nullptr;  // likewise, and boxes show their numbers
  Aggregate aggregate = {};              // of the numbers in a box of several nodes
  Direction direction = Direction::kDown;
  bool hide_control = false, hide_constants = false, hide_shapes = false, hide_main = false;
  bool hide_handles = false;    // edges of resources and variants
  HiddenNodes hidden;           // have no box; edges lead through them
  bool show_constants = false;  // in boxes of their own
  bool show_control = false;    // NoOps as boxes, and all control edges
  int max_boxes = 60;
  bool keep_outermost = false;              // see ScopeTree
  bool list_nodes = false;                  // in Box::parts
  std::vector<std::string> feeds, fetches;  // tensors of main ("x:0") that are marked
  // The body of a signature, drawn instead of main unless a function or a part of a body is
  // requested; null: main.
  const SignatureBody* entry = nullptr;
};

// Without scopes and depth, opens scopes, the largest first, until there are some 15 to 40 boxes.
// Errors: a scope, function or node that does not exist (with suggestions), no path, nothing to
// draw. Linear in the graph.
Expected<Picture> MakePicture(const Module& module, const ViewOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_H_
