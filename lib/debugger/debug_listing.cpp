// The debugger's commands that list nodes and tensors.
#include <map>
#include <set>

#include "lib/debugger/debug_command.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/source.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

namespace grapnel {
namespace {

// Finds a node by name in the body (function or main graph) in which the run has stopped, in the
// main graph, as "function/node", or by a tensor that Debugger::FindPort finds.
Expected<Node> NodeNamed(const Debugger& debugger, llvm::StringRef name) {
  const Graph* graph = nullptr;
  if (Node node = debugger.here().Find(name)) return node;
  if (Node node = debugger.module().main.Find(name)) return node;
  auto node = FindNode(debugger.module(), name);
  if (node) return node;
  llvm::consumeError(node.takeError());
  ASSIGN_OR_RETURN(Port port, debugger.FindPort(name, &graph));
  return graph->node(port.node);
}

Expected<std::optional<llvm::Regex>> RegexOf(std::optional<std::string> text) {
  if (!text) return std::nullopt;
  llvm::Regex regex(*text);
  std::string problem;
  if (!regex.isValid(problem))
    return MakeError("'{0}' is not a regular expression: {1}", *text, problem);
  return std::optional<llvm::Regex>(std::move(regex));
}

// --- list_tensors

struct TensorRow {
  const KeptValue* value;
  std::string name, op;
};

Error SortRows(std::vector<TensorRow>* rows, llvm::StringRef key) {
  if (key == "step" || key == "timestamp") return Error::success();
  if (key == "dump_size") {
    llvm::stable_sort(*rows, [](const TensorRow& a, const TensorRow& b) {
      return a.value->value.byte_size() < b.value->value.byte_size();
    });
  } else if (key == "op_type") {
    llvm::stable_sort(*rows, [](const TensorRow& a, const TensorRow& b) { return a.op < b.op; });
  } else if (key == "tensor_name") {
    llvm::stable_sort(*rows,
                      [](const TensorRow& a, const TensorRow& b) { return a.name < b.name; });
  } else {
    std::vector<std::string> keys = {"step", "dump_size", "op_type", "tensor_name"};
    return NotFound("order", key, keys);
  }
  return Error::success();
}

std::string PlaceOf(const KeptValue& value) {
  std::string text = value.step > 0 ? std::to_string(value.step) : "-";
  return value.iteration >= 0 ? text + " i" + std::to_string(value.iteration) : text;
}

void WriteRows(DebugShell& shell, llvm::ArrayRef<TensorRow> rows) {
  std::vector<std::vector<std::string>> table = {
      {"step", "size (B)", "op type", "tensor", "value"}};
  for (const TensorRow& row : rows) {
    const Tensor& tensor = row.value->value;
    table.push_back({"[" + PlaceOf(*row.value) + "]", std::to_string(tensor.byte_size()), row.op,
                     row.name, tensor.ToString(4)});
  }
  shell.os() << Table(table);
}

// True if a recorded value passes the filter. For other tensors that the filter's expression names,
// uses their last values.
bool Passes(const Debugger& debugger, const KeptValue& value, Breakpoint& filter) {
  const ValueHistory& history = debugger.history();
  Node node = value.port.graph->node(value.port.node);
  if (!filter.IsAt(node, value.iteration, Breakpoint::Begins::kNothing)) return false;
  const KeptValue* before = value.number > 0 ? history.Find(value.port, value.number - 1) : nullptr;
  return filter.Holds(value.value, before ? before->value : Tensor(),
                      [&](llvm::StringRef name) -> Expected<Tensor> {
                        ASSIGN_OR_RETURN(const KeptValue* other, debugger.Value(name));
                        return other->value;
                      });
}

DebugAnswer ListTensors(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto filter, words.TakeExpression("-f", "--tensor_filter"));
  ASSIGN_OR_RETURN(auto excluded, words.TakeOption("-fenn", "--filter_exclude_node_names"));
  ASSIGN_OR_RETURN(auto names, words.TakeOption("-n", "--node_name_filter"));
  ASSIGN_OR_RETURN(auto ops, words.TakeOption("-t", "--op_type_filter"));
  ASSIGN_OR_RETURN(auto order, words.TakeOption("-s", "--sort_by"));
  bool reversed = words.TakeFlag("-r", "--reverse");
  ASSIGN_OR_RETURN(auto more, words.Names(0, 0, "no name (-n REGEX selects nodes)"));
  ASSIGN_OR_RETURN(auto is_left_out, RegexOf(excluded));
  ASSIGN_OR_RETURN(auto is_named, RegexOf(names));
  ASSIGN_OR_RETURN(auto is_of_op, RegexOf(ops));
  std::optional<Breakpoint> passing;
  if (filter) {
    ASSIGN_OR_RETURN(passing, Breakpoint::Parse("if " + *filter, shell.debugger().module()));
  }
  const ValueHistory& history = shell.debugger().history();
  std::vector<TensorRow> rows;
  for (const KeptValue& value : history.all()) {
    Node node = value.port.graph->node(value.port.node);
    std::string name = NameIn(*value.port.graph, value.port.node);
    if ((is_left_out && is_left_out->match(name)) || (is_named && !is_named->match(name)) ||
        (is_of_op && !is_of_op->match(node.op())))
      continue;
    if (passing && !Passes(shell.debugger(), value, *passing)) continue;
    rows.push_back({&value, OutputName(name, value.port.output), node.op().str()});
  }
  RETURN_IF_ERROR(SortRows(&rows, order.value_or("step")));
  if (reversed) std::reverse(rows.begin(), rows.end());
  if (rows.empty()) {
    shell.os() << "no tensor so far"
               << (filter ? " passes filter \"" + *filter + "\"\n" : " matches\n");
  } else {
    shell.os() << Plural(rows.size(), "tensor")
               << (filter ? " passing filter \"" + *filter + "\"" : "") << ":\n";
    WriteRows(shell, rows);
  }
  if (passing && passing->unanswered > 0) shell.os() << UnansweredText(*passing) << "\n";
  if (history.num_dropped() > 0)
    shell.os() << Plural(history.num_dropped(), "older value") << " dropped, since more than "
               << HumanBytes(history.budget()) << " were made (--keep)\n";
  return std::nullopt;
}

// --- Arguments

// Returns which input of the calling node is passed as the function's first argument; -1: the node
// does not pass its inputs as the arguments.
int FirstArgument(const Node& caller, const Function& function) {
  llvm::StringRef op = caller.op();
  for (llvm::StringRef branching : {"If", "StatelessIf", "Case", "StatelessCase"}) {
    if (op == branching) return 1;
  }
  for (llvm::StringRef calling :
       {"PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile"}) {
    if (op == calling) return 0;
  }
  return op == function.name() ? 0 : -1;
}

// For an argument of a running function, returns "t:0, which u passes": the input of the calling
// node; from the second iteration of a loop on, "result 1 of the previous iteration"; "" if it is
// not known, and for other nodes.
std::string GivenText(const Debugger& debugger, const Node& node) {
  if (node.op() != "_Arg") return "";
  const Graph* outer = &debugger.module().main;
  for (const StopFrame& frame : debugger.stop().frames) {
    if (!frame.function) continue;
    const Function& function = *frame.function;
    if (&function.body != &node.graph()) {
      outer = &function.body;
      continue;
    }
    Node caller = outer->Find(frame.caller);
    int input = caller ? FirstArgument(caller, function) : -1;
    if (input < 0) return "";
    for (NodeId arg : function.args) {
      if (arg == node.id()) break;
      input += NumOutputs(function.body.node(arg));
    }
    if (frame.iteration > 0 && HasSuffix(caller.op(), "While"))
      return "result " + std::to_string(input) + " of the previous iteration";
    if (input >= caller.num_inputs() || caller.input(input).node == kNoNode) return "";
    Port from = caller.input(input);
    return OutputName(outer->node(from.node).name(), from.index) + ", which " +
           caller.name().str() + " passes";
  }
  return "";
}

// --- node_info

void WritePorts(const Node& node, int begin, int end, llvm::raw_ostream& os) {
  for (int i = begin; i < end; ++i) {
    Port from = node.input(i);
    if (from.node == kNoNode) {
      os << "    " << node.DanglingText(i) << "\n";
      continue;
    }
    Node maker = node.graph().node(from.node);
    os << "    [" << maker.op() << "] " << NodeDefInput(maker.name(), from.index) << "\n";
  }
}

void WriteReaders(const Node& node, bool of_data, llvm::raw_ostream& os) {
  std::vector<std::string> lines;
  for (const Use& use : node.uses()) {
    Node reader = node.graph().node(use.node);
    if ((static_cast<int>(use.slot) < reader.num_inputs()) == of_data)
      lines.push_back(("    [" + reader.op() + "] " + reader.name()).str());
  }
  llvm::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  os << "  " << Plural(lines.size(), of_data ? "recipient" : "control recipient")
     << (lines.empty() ? "" : ":") << "\n";
  for (const std::string& line : lines) os << line << "\n";
}

void WriteValues(const Debugger& debugger, const Node& node, llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows;
  for (const KeptValue& value : debugger.history().all()) {
    if (value.port.graph != &node.graph() || value.port.node != node.id()) continue;
    rows.push_back({"    " + OutputName(node.name(), value.port.output),
                    "-n " + std::to_string(value.number), "step " + PlaceOf(value),
                    TypeText(value.value)});
  }
  os << "  " << Plural(rows.size(), "value") << (rows.empty() ? "" : ":") << "\n" << Table(rows);
}

Error CheckLines(const Debugger& debugger) {
  if (!debugger.lines().empty()) return Error::success();
  return MakeError(
      "the graph has no source lines (GraphDef.debug_info); `grapnel blame FOLDER` and `grapnel "
      "serve FOLDER` show what TensorFlow's debugger recorded");
}

// Writes the stack of the calls that created a node. If the shell may read files of this machine,
// adds the text of the source lines.
DebugAnswer SourceOf(DebugShell& shell, const Node& node) {
  const Debugger& debugger = shell.debugger();
  RETURN_IF_ERROR(CheckLines(debugger));
  LineTable::Stack stack = debugger.lines().StackOf(node);
  shell.os() << NameIn(node.graph(), node.id()) << " (" << node.op() << ")"
             << (stack.empty() ? " has no known source line\n" : "\n");
  if (shell.uses_files) {
    WriteStack(stack, debugger.path(), shell.os());
  } else if (!stack.empty()) {
    shell.os() << llvm::StringRef(StackText(stack, stack.size())).ltrim('\n') << "\n";
  }
  return std::nullopt;
}

// If the command's argument is not a node's name, it is a source line or a file.
DebugAnswer Source(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto names, words.Names(0, 1, "a node, or FILE:LINE"));
  const Debugger& debugger = shell.debugger();
  if (names.empty()) {
    if (!debugger.stop().node)
      return MakeError("the run is at no node: a node, or FILE:LINE, was expected");
    return SourceOf(shell, debugger.stop().node);
  }
  SourcePlace place = SourcePlace::Parse(names[0]);
  auto node = NodeNamed(debugger, names[0]);
  if (node) return SourceOf(shell, *node);
  if (place.line == 0 && !llvm::StringRef(place.file).contains('.')) return node.takeError();
  llvm::consumeError(node.takeError());
  RETURN_IF_ERROR(CheckLines(debugger));
  ASSIGN_OR_RETURN(std::vector<Node> nodes,
                   NodesOfLine(debugger.lines(), debugger.module(), names[0]));
  std::vector<std::vector<std::string>> rows;
  for (const Node& made : nodes) {
    std::optional<SourceFrame> line = debugger.lines().LineOf(made);
    rows.push_back(
        {"  " + NameIn(made.graph(), made.id()), made.op().str(), line ? FrameText(*line) : ""});
  }
  shell.os() << Plural(nodes.size(), "node") << " of " << names[0] << "\n" << Table(rows);
  return std::nullopt;
}

// tfdbg's list_source: lists the files with the number of nodes that their lines created.
DebugAnswer ListSource(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto names, words.Names(0, 1, "part of a file's path"));
  const Debugger& debugger = shell.debugger();
  RETURN_IF_ERROR(CheckLines(debugger));
  std::map<std::string, int> counts;
  auto add = [&](const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      if (std::optional<SourceFrame> line = debugger.lines().LineOf(node))
        ++counts[line->file.str()];
    }
  };
  add(debugger.module().main);
  for (const auto& function : debugger.module().functions) add(function->body);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [file, count] : counts) {
    if (names.empty() || llvm::StringRef(file).contains(names[0]))
      rows.push_back({"  " + file, Plural(count, "node")});
  }
  shell.os() << Table(rows);
  return std::nullopt;
}

DebugAnswer NodeInfo(DebugShell& shell, DebugWords& words) {
  bool attributes = words.TakeFlag("-a", "--attributes");
  bool values = words.TakeFlag("-d", "--dumps");
  bool stack = words.TakeFlag("-t", "--traceback");
  ASSIGN_OR_RETURN(auto names, words.Names(0, 1, "a node"));
  Debugger& debugger = shell.debugger();
  Node node = debugger.stop().node;
  if (!names.empty()) {
    ASSIGN_OR_RETURN(node, NodeNamed(debugger, names[0]));
  }
  if (!node) return MakeError("the run is at no node: a node was expected");
  llvm::raw_ostream& os = shell.os();
  os << "Node " << NameIn(node.graph(), node.id()) << "\n  Op: " << node.op() << "\n  Device: "
     << (node.device().empty() ? llvm::StringRef("none requested") : node.device()) << "\n";
  int inputs = node.num_inputs(), controls = node.num_controls();
  if (auto line = LineOf(debugger.StackOf(node))) os << "  Line: " << FrameText(*line) << "\n";
  os << "  " << inputs << " input(s) + " << controls << " control input(s)"
     << (inputs + controls ? ":" : "") << "\n";
  WritePorts(node, 0, inputs + controls, os);
  WriteReaders(node, /*of_data=*/true, os);
  WriteReaders(node, /*of_data=*/false, os);
  if (std::string given = GivenText(debugger, node); !given.empty()) os << "  is " << given << "\n";
  for (llvm::StringRef called : CalledFunctions(node)) os << "  calls " << called << "\n";
  if (attributes) {
    auto attrs = node.Attrs();
    os << "  " << Plural(attrs.size(), "attribute") << ":\n";
    for (const auto& [key, value] : attrs) os << "    " << key << " = " << value.ToString() << "\n";
  }
  if (values) WriteValues(debugger, node, os);
  return stack ? SourceOf(shell, node) : DebugAnswer(std::nullopt);
}

// --- list_inputs, list_outputs

struct Tree {
  bool of_inputs, controls, types;
  int64_t depth;
  const Debugger& debugger;
  llvm::raw_ostream& os;
  std::set<NodeId> opened{};
  bool cuts = false;

  // Returns the node's distinct inputs in order, or its distinct readers sorted by name.
  std::vector<Node> Around(const Node& node) const {
    std::vector<Node> found;
    auto add = [&](Node other) {
      if (other && !llvm::is_contained(found, other)) found.push_back(other);
    };
    if (of_inputs) {
      int count = node.num_inputs() + (controls ? node.num_controls() : 0);
      for (int i = 0; i < count; ++i) add(Node(&node.graph(), node.input(i).node));
      return found;
    }
    for (const Use& use : node.uses()) {
      Node reader = node.graph().node(use.node);
      if (controls || static_cast<int>(use.slot) < reader.num_inputs()) add(reader);
    }
    llvm::sort(found, [](const Node& a, const Node& b) { return a.name() < b.name(); });
    return found;
  }

  void Write(const Node& node, int64_t level, const std::string& indent) {
    for (const Node& other : Around(node)) {
      os << indent << "|- (" << level << ") ";
      if (types) os << "[" << other.op() << "] ";
      os << other.name();
      if (std::string given = GivenText(debugger, other); of_inputs && !given.empty())
        os << " = " << given;
      bool has_more = !Around(other).empty();
      bool is_known = has_more && !opened.insert(other.id()).second;
      cuts |= has_more && (is_known || level >= depth);
      os << (has_more && (is_known || level >= depth) ? " ..." : "") << "\n";
      if (level < depth && !is_known) Write(other, level + 1, indent + "|  ");
    }
  }
};

DebugAnswer List(DebugShell& shell, DebugWords& words, bool of_inputs) {
  ASSIGN_OR_RETURN(auto depth, words.TakeNumber("-d", "--depth"));
  bool controls = words.TakeFlag("-c", "--control");
  bool recursive = words.TakeFlag("-r", "--recursive");
  bool types = words.TakeFlag("-t", "--op_type");
  ASSIGN_OR_RETURN(auto names, words.Names(0, 1, "a node"));
  Node node = shell.debugger().stop().node;
  if (!names.empty()) {
    ASSIGN_OR_RETURN(node, NodeNamed(shell.debugger(), names[0]));
  }
  if (!node) return MakeError("the run is at no node: a node was expected");
  if (depth && *depth < 1) return MakeError("-d {0}: a depth of 1 or more was expected", *depth);
  Tree tree{of_inputs,        controls,  types, depth ? *depth : recursive ? 20 : 1,
            shell.debugger(), shell.os()};
  shell.os() << (of_inputs ? "inputs of " : "readers of ") << NameIn(node.graph(), node.id())
             << " (" << node.op() << ")" << (controls ? ", control edges too" : "") << "\n";
  tree.Write(node, 1, "");
  if (tree.cuts) shell.os() << "...: more below (-r, -d N), or already shown above\n";
  return std::nullopt;
}

DebugAnswer ListInputs(DebugShell& shell, DebugWords& words) {
  return List(shell, words, /*of_inputs=*/true);
}
DebugAnswer ListOutputs(DebugShell& shell, DebugWords& words) {
  return List(shell, words, /*of_inputs=*/false);
}

// --- run_info: the run's number, feeds and fetches, and the number of kept values.

DebugAnswer RunInfo(DebugShell& shell, DebugWords& /*words*/) {
  Debugger& debugger = shell.debugger();
  llvm::raw_ostream& os = shell.os();
  os << "run " << debugger.stop().run << ", step " << debugger.stop().step << "\n";
  os << "feeds: " << (debugger.feeds().empty() ? "none" : llvm::join(debugger.feeds(), ", "))
     << "\n";
  os << "fetches: " << llvm::join(debugger.fetches(), ", ") << "\n";
  os << "kept: " << Plural(debugger.history().all().size(), "value") << "\n";
  return std::nullopt;
}

}  // namespace

llvm::ArrayRef<DebugCommand> ListingCommands() {
  static const std::vector<DebugCommand> commands = {
      {{"list_tensors", "lt"},
       "[-f FILTER|EXPRESSION] [-fenn REGEX] [-n REGEX] [-t REGEX] [-s ORDER] [-r]",
       "lists the tensors that this run has made\n"
       "-f: only tensors that pass has_inf_or_nan, has_nan, has_inf, changed, or an expression, as "
       "in -f max(abs(_)) > 1e3;\n"
       "-fenn: except those of these nodes; -n: only those of nodes with this name; -t: with this "
       "op; -s: sort "
       "by step, dump_size, op_type or tensor_name; -r: reverse the order.\n"
       "In the list, '3 i2' is step 3, in iteration 2 of a loop; a tensor with '-' existed before "
       "the first step.",
       ListTensors},
      {{"node_info", "ni"},
       "[-a] [-d] [-t] [NODE]",
       "shows a node, its inputs and its readers\n"
       "-a: its attributes. -d: its kept values. -t: its stack trace. Without NODE: the node where "
       "the run is.",
       NodeInfo},
      {{"list_inputs", "li"},
       "[-c] [-d DEPTH] [-r] [-t] [NODE]",
       "lists the inputs of a node, as a tree\n"
       "-c: control edges too. -d: the depth. -r: all, to a depth of 20. -t: with ops.",
       ListInputs},
      {{"list_outputs", "lo"},
       "[-c] [-d DEPTH] [-r] [-t] [NODE]",
       "lists the readers of a node, as a tree\n"
       "-c: control edges too. -d: the depth. -r: all, to a depth of 20. -t: with ops.",
       ListOutputs},
      {{"run_info", "ri"}, "", "shows the feeds and fetches", RunInfo},
      {{"source", "print_source", "ps"},
       "[NODE|FILE:LINE]",
       "shows the source line that created a node, or lists the nodes of a line\n"
       "Shows the stack trace too, with the source text if the file can be read. Without an "
       "argument: for the node where the run is.",
       Source},
      {{"list_source", "ls"},
       "[TEXT]",
       "lists the program's files, and how many nodes each created\n"
       "TEXT: only files with it in their path.",
       ListSource},
  };
  return commands;
}

}  // namespace grapnel
