// A body of a graph as a rule or a pass in Python sees it: handles that are good for one call.
#ifndef GRAPNEL_PYTHON_SRC_VISIT_H_
#define GRAPNEL_PYTHON_SRC_VISIT_H_

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/pass/rule.h"
#include "lib/query/path_pattern.h"

namespace grapnel::python {

// One call into Python. Handles hold it, and raise once it is over: nothing that Python keeps
// reaches a graph that has gone on. All is done with the GIL.
struct Visit {
  Visit(Editor& editor, RuleContext* rule_context) : edit(&editor), rule(rule_context) {}

  Editor* edit;       // null: it is over
  RuleContext* rule;  // null: a pass works on the whole body
  NodePath path;      // of the rule's pattern
  std::string at;     // the node of the rewrite that a pass began last
};
using VisitRef = std::shared_ptr<Visit>;
using Attributes = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;

struct NodeHandle {
  VisitRef visit;
  NodeId id;
};
struct PortHandle {
  VisitRef visit;
  Port port;
};
// The graph of a body, its editor and the context of a rule, by one visit.
struct BodyHandle {
  VisitRef visit;
};
struct EditorHandle {
  VisitRef visit;
};
struct RuleHandle {
  VisitRef visit;
};
struct VerdictHandle {
  VisitRef visit;
  Verdict verdict;
};

// --- For what is bound. Each throws what Python raises: RuntimeError where a handle is good no
// more or nothing may change, ValueError where a value is none.
[[noreturn]] void Misused(const std::string& text);
[[noreturn]] void BadValue(const std::string& text);
Editor& EditorOf(const VisitRef& visit);
// Of a rewrite that is under way.
Editor& ChangingEditorOf(const VisitRef& visit);
Node NodeOf(const NodeHandle& handle);
// Of this visit and no other.
Node NodeOf(const VisitRef& visit, const NodeHandle& handle);
// A port, or the first output of a node.
Port PortOf(const VisitRef& visit, nanobind::handle given);
std::vector<Port> PortsOf(const VisitRef& visit, nanobind::handle given);
std::vector<Node> NodesOf(const VisitRef& visit, const std::vector<NodeHandle>& handles);

// --- Values.
nanobind::object ArrayOf(const Literal& literal);
Literal LiteralOf(nanobind::handle value, nanobind::handle dtype);
// (2, None, 3); None where the rank is not known.
nanobind::object ShapeAsTuple(const Shape& shape);
nanobind::str TextOfName(llvm::StringRef name);
nanobind::object AttributeOf(AttrView value);
// As the definition of the node's op has it, else as the value is.
std::string AttributeFrom(const Node& node, const std::string& key, nanobind::handle value);

// Add Node, Port and Body; Editor, RuleContext and Verdict.
void AddBodies(nanobind::module_& module);
void AddEditing(nanobind::module_& module);

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_VISIT_H_
