// The source lines that made the nodes of a trace: as GraphDef.debug_info, and for single nodes.
#include "lib/ir/debug_info_writer.h"
#include "lib/trace/body.h"
#include "lib/trace/eager_runner.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// True if the line is in lib/trace, whose files the build names relative to the repository's root.
// Such a line belongs to a node that the library added without a call in the user's program.
bool IsOwn(const SourceFrame& frame) {
  llvm::StringRef here = __builtin_FILE();
  return frame.file.starts_with(here.take_front(here.rfind('/') + 1));
}

// Returns the stack of a node, outermost call first; lines of lib/trace are in it only if there are
// no others.
LineTable::Stack StackIn(const TraceState& state, const TraceBody& body, NodeId id) {
  auto frame_of = [](const SourceLocation& where) {
    return SourceFrame{where.file, where.line, 0, where.function, ""};
  };
  LineTable::Stack stack = {frame_of(body.LineOf(id))};
  uint32_t call = id < body.calls.size() ? body.calls[id] : 0;
  for (; call != 0; call = state.calls[call - 1].outer) {
    SourceFrame outer = frame_of(state.calls[call - 1].where);
    // A node that a loop itself adds has the same line as the call around it: lists that line once.
    if (!(outer == stack.back())) stack.push_back(outer);
  }
  std::reverse(stack.begin(), stack.end());
  if (!llvm::all_of(stack, IsOwn)) llvm::erase_if(stack, IsOwn);
  return stack;
}

// Returns the body whose graph is `graph`: that of a function or, in eager mode, of the recorded
// ops that hooks see. Null for other graphs, such as the main graph of a trace.
const TraceBody* BodyOfGraph(const TraceState& state, const Graph& graph) {
  const EagerRecording* recording = state.eager ? state.eager->recording() : nullptr;
  if (recording && &recording->graph == &graph) return &recording->body;
  return state.body_of.lookup(&graph);
}

// Writes the stacks of nodes to a GraphDebugInfo; nodes with the same line and enclosing calls
// share one stack.
class StackWriter {
 public:
  StackWriter(const TraceState& state, llvm::StringRef imported)
      : state_(state), writer_(imported.str()) {}

  void Add(const TraceBody& body) {
    llvm::StringRef function = body.function ? body.function->name() : llvm::StringRef();
    for (NodeId id = body.first_line; id < body.lines.size(); ++id) {
      Node node = body.graph->node(id);
      if (node.op() != "_Retval" && body.lines[id].is_known())
        writer_.Add(node.name(), function, TraceOf(body, id));
    }
  }
  std::string Take() { return writer_.Take(); }

 private:
  uint64_t TraceOf(const TraceBody& body, NodeId id) {
    const SourceLocation& where = body.lines[id];
    uint32_t call = body.calls[id];
    // Strings are compared by address, as the compiler stores each file name and function name
    // once.
    auto [known, is_new] = traces_.try_emplace(
        {{where.file, where.function}, {static_cast<uint32_t>(where.line), call}}, 0);
    if (!is_new) return known->second;
    std::vector<uint64_t> frames;
    for (const SourceFrame& frame : StackIn(state_, body, id))
      frames.push_back(writer_.Frame(frame));
    return known->second = writer_.Trace(frames);
  }

  const TraceState& state_;
  DebugInfoWriter writer_;
  using Text = std::pair<const char*, const char*>;
  llvm::DenseMap<std::pair<Text, std::pair<uint32_t, uint32_t>>, uint64_t> traces_;
};

}  // namespace

std::string DebugInfoOf(const TraceState& state, llvm::StringRef imported) {
  StackWriter writer(state, imported);
  for (const auto& body : state.bodies) writer.Add(*body);
  return writer.Take();
}

LineTable::Stack StackOfNode(Tracer& t, const Node& node) {
  const TraceBody* body = BodyOfGraph(t.state(), node.graph());
  if (!body || node.id() >= body->lines.size()) return {};
  return StackIn(t.state(), *body, node.id());
}

LineTable LinesOf(Tracer& t) {
  const TraceState& state = t.state();
  StackWriter writer(state, "");
  for (const auto& body : state.bodies) {
    if (BodyOfGraph(state, *body->graph) == body.get()) writer.Add(*body);
  }
  const EagerRecording* recording = state.eager ? state.eager->recording() : nullptr;
  if (recording) writer.Add(recording->body);
  LineTable lines;
  lines.Add(writer.Take());
  return lines;
}

}  // namespace grapnel
