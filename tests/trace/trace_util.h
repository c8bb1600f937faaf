// Shared by the tests of lib/trace.
#ifndef GRAPNEL_TESTS_TRACE_TRACE_UTIL_H_
#define GRAPNEL_TESTS_TRACE_TRACE_UTIL_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/ir/text.h"
#include "lib/ir/verify.h"
#include "lib/trace/ops.h"
#include "lib/trace/trace.h"

namespace grapnel {

// Returns the module; on errors a test failure and null.
inline std::unique_ptr<Module> Traced(Expected<std::unique_ptr<Module>> module) {
  if (module) return std::move(*module);
  ADD_FAILURE() << TextOf(module.takeError());
  return nullptr;
}

// The text of the errors; a test failure without errors.
inline std::string ErrorsOf(Expected<std::unique_ptr<Module>> module) {
  if (!module) return TextOf(module.takeError());
  ADD_FAILURE() << "an error was expected";
  return {};
}

// "name = Op(inputs)" of each node, in creation order, without attributes.
inline std::vector<std::string> Lines(const Graph& graph) {
  std::vector<std::string> lines;
  for (Node node : graph.nodes()) {
    if (node.op() == "_Arg" || node.op() == "_Retval") continue;
    std::string line = (node.name() + " = " + node.op() + "(").str();
    const char* comma = "";
    for (Port port : node.inputs()) {
      line += comma;
      comma = ", ";
      llvm::StringRef name = graph.node(port.node).name();
      line += port.IsControl()  ? ("^" + name).str()
              : port.index == 0 ? name.str()
                                : (name + ":" + llvm::Twine(port.index)).str();
    }
    lines.push_back(line + ")");
  }
  return lines;
}

inline std::vector<std::string> Names(const Graph& graph) {
  std::vector<std::string> names;
  for (Node node : graph.nodes()) names.push_back(node.name().str());
  return names;
}

// The line of the node of that name, without attributes.
inline std::string LineOf(const Graph& graph, llvm::StringRef name) {
  for (const std::string& line : Lines(graph)) {
    if (llvm::StringRef(line).take_front(name.size() + 3) == (name + " = ").str()) return line;
  }
  return {};
}

inline std::string AttrText(const Graph& graph, llvm::StringRef node, llvm::StringRef key) {
  auto value = graph.Find(node) ? graph.Find(node).FindAttr(key) : std::nullopt;
  return value ? value->ToString() : "none";
}

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_TRACE_TRACE_UTIL_H_
