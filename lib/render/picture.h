// A picture to draw: boxes, clusters, edges and their text, before layout.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_H_
#define GRAPNEL_LIB_RENDER_PICTURE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/io/signature.h"
#include "lib/ir/module.h"
#include "lib/render/box_layers.h"
#include "lib/render/edges.h"
#include "lib/render/hidden_nodes.h"
#include "lib/support/error.h"

namespace grapnel {

enum class BoxKind {
  kOp,
  kScope,     // a closed scope, or a closed group of siblings
  kFunction,  // a closed body
  kRest,      // several entities of an open scope, because of --max-boxes
  kStub,      // an input that does not exist
};

// All text is UTF-8 without control characters, even if names in the file are not.
struct Box {
  BoxKind kind = BoxKind::kOp;
  std::string id;     // unique among boxes and clusters: usually the path
  std::string title;  // "Conv2D"; a scope's name, without its cluster's path
  // A node's name, without its cluster's path; of a layer its class, or the op if it has only one.
  std::string name;
  std::vector<std::string> notes;  // one per line: "filter = float[3,3,3,32]"
  std::string tooltip;             // the full path and more
  int cluster = -1;                // the innermost cluster; -1: not in a cluster
  bool input = false, output = false;
  bool focus = false;  // --around or --path named it
  size_t num_ops = 0;  // number of nodes that the box stands for, without folded nodes
  size_t repeat = 1;   // number of equal siblings that the box stands for
  // True if grapnel grouped the box's nodes: they are not exactly those of one name scope.
  bool made_up = false;
  bool kept = false;  // see Scope::kept
  std::string layer;  // the path of the layer that the box is, "encoder/conv"; else empty
  int color = 0;      // an index of Picture::colors
  const Graph* graph = nullptr;
  NodeId node = kNoNode;  // the box's node; the first if repeated
  uint32_t scope = ~0u;   // the ScopeId of a closed scope
  // The nodes that the box stands for, without folded nodes: for a series a list for each repeat,
  // else one list. Filled only with ViewOptions::list_nodes.
  std::vector<std::vector<NodeId>> parts;
};

struct Cluster {
  std::string id, title, tooltip;
  std::string name, layer;  // as in Box
  int parent = -1;          // lower than the cluster's own index
  bool function = false;
  bool made_up = false, kept = false;  // as in Box
};

struct PictureEdge {
  enum class Kind { kData, kControl, kCall, kDangling, kThrough };
  Kind kind = Kind::kData;              // kThrough: a path through hidden nodes
  uint32_t from = 0, to = 0;            // indices of boxes
  int to_cluster = -1;                  // for a call: the cluster of the open body, with `to` in it
  uint32_t count = 1;                   // number of graph edges
  uint32_t producers = 0, waiters = 0;  // as in EdgeBundle
  bool back = false;                    // closes a loop: runs against Picture::direction
  std::string label;
};

struct Swatch {
  std::string name, fill;  // fill: "#rrggbb", light enough for black text
};

// Counts of the nodes and edges that are not drawn on their own. The sums are exact: nodes = nodes
// in boxes + folded nodes; edges.Total() is the number of inputs, data and control, of `nodes`.
struct PictureCounts {
  size_t nodes = 0;  // selected nodes, without hidden ones
  size_t nodes_of_graph = 0;
  // Nodes folded into readers, or (forwards) into results; and what loops do not change.
  size_t constants = 0, variables = 0, constant_reads = 0, no_ops = 0, forwards = 0, invariants = 0;
  size_t rest = 0;               // nodes in boxes of kind kRest
  uint64_t stubbed_control = 0;  // of edges.control: listed in notes, not drawn
  uint64_t hidden_control = 0;   // of edges.control, by --hide control
  uint64_t hidden_handles = 0;   // of edges.data, by --hide resources
  size_t functions_closed = 0;   // library functions that are neither open nor a box
  EdgeCounts edges;
};

class NodeNumbers;
enum class Aggregate;

enum class Direction { kDown, kUp, kRight };

struct Picture {
  std::string title;
  std::vector<std::string> header;  // lines below the title
  std::vector<Box> boxes;
  std::vector<Cluster> clusters;
  std::vector<PictureEdge> edges;
  std::vector<Swatch> colors;        // of the boxes and the legend; [0] is the neutral color
  std::string color_title;           // the meaning of the colors: "op", "device"
  std::vector<std::string> notices;  // requested scopes that have no frame, and why
  Direction direction = Direction::kDown;
  PictureCounts counts;
};

enum class ColorBy { kOp, kDevice, kScope };

// Colors given by a caller, for example to show the result of a diff.
struct Painting {
  std::string title;                          // the legend's title
  std::vector<Swatch> swatches;               // in the legend's order; the legend omits unused ones
  std::function<int(const Node&)> swatch_of;  // an index of swatches; -1: neutral
  // The swatch whose nodes closed scopes count in a note, "2 weights changed"; -1: none.
  int counted = -1;
  // The color of a box that contains nodes of several colors, not counting neutral nodes.
  Swatch several;
};

struct ViewOptions {
  std::string title;                // the model's name
  std::vector<std::string> scopes;  // scopes to open: "a/b", "function/a/b", "a/block_*"
  int depth = -1;  // opens all scopes down to this depth; -1: as many as are readable
  std::vector<std::string> functions;  // functions to open besides the main graph; "all": all
  std::string around;  // a node, or "function/node": draws only nodes within `hops` edges of it
  int hops = 2;
  std::string path_from, path_to;  // draws only nodes on a directed path between these
  ColorBy color_by = ColorBy::kOp;
  const Painting* painting = nullptr;    // colors instead of color_by
  const NodeNumbers* numbers = nullptr;  // colors instead of color_by, and numbers in boxes
  Aggregate aggregate = {};              // combines the numbers in a box of several nodes
  Direction direction = Direction::kDown;
  bool hide_control = false, hide_constants = false, hide_shapes = false, hide_main = false;
  bool hide_handles = false;    // hides edges of resources and variants
  HiddenNodes hidden;           // these nodes have no box; edges lead through them
  bool show_constants = false;  // shows constants in boxes of their own
  bool show_control = false;    // shows NoOps as boxes, and all control edges
  int max_boxes = 60;
  bool keep_outermost = false;              // see ScopeTree's constructor
  bool list_nodes = false;                  // fills Box::parts
  std::vector<std::string> feeds, fetches;  // tensors of the main graph ("x:0") to mark
  // The body of a signature, drawn instead of the main graph unless a function or a part of a body
  // is requested, or hide_main is set; null: the main graph.
  const SignatureBody* entry = nullptr;
  // The body of a signature whose ends are folded (FoldOptions::signature), drawn first or not.
  const SignatureBody* signature = nullptr;
  const BoxLayers* layers = nullptr;  // null: they are not known
};

// Opens scopes and functions as MakePlan does (lib/render/opening.h). Errors: a scope, function or
// node that does not exist (with suggestions), nodes in different functions, no path, nothing to
// draw. Near-linear in the graph.
Expected<Picture> MakePicture(const Module& module, const ViewOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_H_
