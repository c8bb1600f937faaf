#include "lib/place/log_text.h"

#include <map>

#include "lib/ir/device_name.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMostNamedGraphs = 4;  // graphs of the log that a text names

std::string LinesOf(llvm::ArrayRef<const LoggedGraph*> graphs) {
  std::string text;
  for (const LoggedGraph* graph : graphs.take_front(kMostNamedGraphs))
    text += (text.empty() ? "" : "; ") + graph->Text();
  if (graphs.size() > kMostNamedGraphs)
    text += "; and " + Plural(graphs.size() - kMostNamedGraphs, "more graph");
  return text;
}

const char* ReasonText(LogOfGraph::Reason reason) {
  switch (reason) {
    case LogOfGraph::kName:
      return "by the function's name";
    case LogOfGraph::kNodes:
      return "it has most of the nodes";
    case LogOfGraph::kDevices:
      return "by the devices that nodes have or ask for";
    default:
      return "by the order in which they were placed";
  }
}

// Says which of several matching graphs was used: "the second of 2 graphs in the log with these
// nodes".
std::string RivalText(const LogOfGraph& logged) {
  if (logged.rivals.empty()) return "";
  const LoggedGraph& used = *logged.used.front();
  size_t before = llvm::count_if(logged.rivals, [&](const LoggedGraph* rival) {
    return rival->nodes.front().line < used.nodes.front().line;
  });
  static constexpr const char* kOrdinals[] = {"first", "second",  "third",  "fourth", "fifth",
                                              "sixth", "seventh", "eighth", "ninth",  "tenth"};
  std::string place =
      before < std::size(kOrdinals) ? kOrdinals[before] : "number " + std::to_string(before + 1);
  std::string text = "  the " + place + " of " + Plural(logged.rivals.size() + 1, "graph") +
                     " in the log with these nodes (" + ReasonText(logged.reason) +
                     "); not used: " + LinesOf(logged.rivals) + ", ";
  return text + (logged.differing == 0
                     ? "which has them on the same devices\n"
                     : "which has " + Plural(logged.differing, "node") + " elsewhere\n");
}

std::string Unknown(const PlacementLog& log) {
  return log.path +
         ": no line places a node in a known format: expected lines "
         "like 'name: (Op): " +
         kLocalCpu +
         "', which TensorFlow writes after tf.debugging.set_log_device_placement(True)\n";
}

std::string GraphsOf(const PlacementLog& log) {
  std::string names = llvm::join(log.other_names, ", ");
  size_t more = log.other_graphs - std::min<size_t>(log.other_graphs, log.other_names.size());
  if (more > 0) names += ", and " + WithCommas(more) + " more";
  return names;
}

Rows ReasonRows(const Graph& graph, llvm::ArrayRef<NodeId> order,
                llvm::ArrayRef<NodeStory> reasons) {
  Rows rows = {{"node", "op", "why"}};
  for (NodeId id : order) {
    Node node = graph.node(id);
    if (!reasons[id].text.empty())
      rows.push_back({node.name().str(), node.op().str(), reasons[id].text});
  }
  return rows;
}

std::string GoneText(const LogOfGraph& logged, const GraphStory& story) {
  if (logged.gone.empty()) return "";
  std::string text = "  " + Plural(logged.gone.size(), "node") + " of the log " +
                     (logged.gone.size() == 1 ? "is" : "are") +
                     " not in this graph: removed or merged after placement";
  std::map<std::string, size_t> passes;
  for (const LoggedNode* node : logged.gone) {
    std::string pass = ReasonOfGone(*node, story).pass;
    if (!pass.empty()) ++passes[pass];
  }
  std::string by;
  for (const auto& [pass, count] : passes)
    by += (by.empty() ? " (" : ", ") + pass + " " + WithCommas(count);
  return text + (by.empty() ? "\n" : by + ")\n");
}

std::string HeadText(const PlacementContext& c, const PlacementLog& log, const LogOfGraph& logged,
                     size_t differing) {
  if (!log.IsOfPlacement()) return Unknown(log);
  std::string head =
      "the log has " + Plural(logged.found(), "node") + " of " + WithCommas(c.graph.num_nodes());
  if (!logged.used.empty())
    return head + "; " + WithCommas(differing) + " of them on another device than here\n";
  return head + ": " +
         (log.other_graphs == 0 ? "it has no graphs, only ops that ran by themselves\n"
                                : "it has other graphs: " + GraphsOf(log) + "\n");
}

// Describes the lines of the log that belong to the graph, and how well they match.
std::string LinesText(const PlacementContext& c, const LogOfGraph& logged,
                      const GraphStory& story) {
  size_t same = 0;
  for (Node node : c.graph.nodes()) {
    const LoggedNode* line = logged.of[node.id()];
    same += line && (line->op.empty() || line->op == node.op());
  }
  std::string text = "  " + LinesOf(logged.used) + "\n" + RivalText(logged);
  if (same < logged.found())
    text += "  " + Plural(same, "node") + " with the op that " +
            (same == 1 ? "it has" : "they have") + " now\n";
  return text + GoneText(logged, story);
}

bool IsElsewhere(const PlacementContext& c, const LogOfGraph& logged, NodeId id) {
  return logged.of[id] && c.devices.device(c.placement.Of(id).device).text != logged.of[id]->device;
}

}  // namespace

std::string LogText(const PlacementContext& c, const PlacementLog& log, const LogOfGraph& logged,
                    const GraphStory& story) {
  Rows differ = {{"node", "op", "logged", "placed here"}};
  for (NodeId id : c.placement.order) {
    if (!IsElsewhere(c, logged, id)) continue;
    Node node = c.graph.node(id);
    differ.push_back({node.name().str(), node.op().str(), logged.of[id]->device,
                      c.devices.device(c.placement.Of(id).device).text});
  }
  std::string text = HeadText(c, log, logged, differ.size() - 1);
  if (!log.IsOfPlacement() || logged.used.empty()) return text;
  if (differ.size() > 1) text += Table(differ, "  ");
  text += LinesText(c, logged, story);
  Rows rows = ReasonRows(c.graph, c.placement.order, ReasonsOf(c.graph, logged, log, story));
  if (rows.size() == 1) return text;
  text += "not in the log as they are here: " + Plural(rows.size() - 1, "node");
  if (!story.source.empty()) text += ", after " + story.source;
  return text + "\n" + Table(rows, "  ");
}

std::string LogSummary(const PlacementContext& c, const PlacementLog& log, const LogOfGraph& logged,
                       const GraphStory& story) {
  size_t differing =
      llvm::count_if(c.placement.order, [&](NodeId id) { return IsElsewhere(c, logged, id); });
  std::string text = HeadText(c, log, logged, differing);
  return logged.used.empty() ? text : text + LinesText(c, logged, story);
}

std::string OthersText(const LoggedDevices& logged) {
  std::string lines = Plural(logged.other_lines, "line") + " of other graphs";
  std::string ops = Plural(logged.eager_ops, "eager op");
  if (logged.other_lines + logged.eager_ops == 0) return "";
  return "not of this model: " +
         (logged.eager_ops == 0     ? lines
          : logged.other_lines == 0 ? ops
                                    : lines + ", " + ops) +
         "\n";
}

std::string EagerText(const PlacementLog& log) {
  Rows rows = {{"times", "op", "device"}};
  for (const auto& [op, count] : log.eager)
    rows.push_back({WithCommas(count), op.first, op.second});
  return log.eager.empty() ? "" : "\nops that ran eagerly\n" + Table(rows, "  ");
}

std::vector<std::string> LogProblems(const PlacementLog& log) {
  std::vector<std::string> problems;
  if (log.broken_lines > 0) {
    problems.push_back(log.path + ": " + Plural(log.broken_lines, "line") +
                       " cannot be read, the first is line " + std::to_string(log.broken.front()));
  }
  if (log.cut_line > 0) {
    problems.push_back(log.path + " ends in the middle of line " + std::to_string(log.cut_line) +
                       (log.cut_node.empty() ? "" : " (" + log.cut_node + ")") +
                       ", which is ignored");
  }
  return problems;
}

std::string WayOfNode(const PlacementContext& c, const PlacementLog* log, const LogOfGraph* logged,
                      const GraphStory& story, llvm::StringRef name) {
  std::string text;
  auto say = [&](const std::string& line) { text += "  - " + line + "\n"; };
  Node node = c.graph.Find(name);
  auto asked = story.asked.find(name);
  if (asked != story.asked.end() && (!node || node.device() != asked->second))
    say("before it was placed, it asked for " + asked->second);
  const LoggedNode* line = nullptr;
  if (logged && node) line = logged->of[node.id()];
  if (logged && !node) {
    auto found = llvm::find_if(logged->gone, [&](const auto* each) { return each->node == name; });
    if (found != logged->gone.end()) line = *found;
  }
  if (line) {
    say("TensorFlow placed it on " + line->device + " (line " + std::to_string(line->line) +
        " of the log" + (line->op.empty() ? ")" : ", as " + line->op + ")"));
  }
  if (node && logged && log) {
    NodeStory reason = ReasonsOf(c.graph, *logged, *log, story)[node.id()];
    if (!reason.text.empty()) say(reason.text);
  } else if (node && story.here.count(name)) {
    say(story.here.find(name)->second.text);
  } else if (!node && story.gone.count(name)) {
    say(story.gone.find(name)->second.text);
  } else if (!node && line) {
    say("removed or merged after placement");
  }
  return text;
}

}  // namespace grapnel
