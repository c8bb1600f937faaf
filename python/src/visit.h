// A graph's body as a Python rule or pass sees it, through handles that are valid for one call.
#ifndef GRAPNEL_PYTHON_SRC_VISIT_H_
#define GRAPNEL_PYTHON_SRC_VISIT_H_

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/pass/rule.h"
#include "lib/query/path_pattern.h"

namespace grapnel::python {

// One call into Python. Handles share it and raise once it is over, so nothing that Python keeps
// can access a graph that has changed since. Requires the GIL.
struct Visit {
  Visit(Editor& editor, RuleContext* rule_context) : edit(&editor), rule(rule_context) {}

  Editor* edit;       // null: the call is over
  RuleContext* rule;  // null: a pass works on the whole body
  NodePath path;      // matched by the rule's pattern
  std::string at;     // the node of the last rewrite that a pass began
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
// The graph of a body, its editor and a rule's context, during one visit.
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

// --- For the bindings. Each throws a Python exception: RuntimeError if a handle is no longer valid
// or nothing may change, ValueError for an invalid value.
[[noreturn]] void Misused(const std::string& text);
[[noreturn]] void BadValue(const std::string& text);
Editor& EditorOf(const VisitRef& visit);
// Requires a rewrite that is under way.
Editor& ChangingEditorOf(const VisitRef& visit);
Node NodeOf(const NodeHandle& handle);
// The handle must belong to this visit.
Node NodeOf(const VisitRef& visit, const NodeHandle& handle);
// Accepts a port, or a node, meaning its first output.
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
// Converts as the definition of the node's op requires, else by the value's type.
std::string AttributeFrom(const Node& node, const std::string& key, nanobind::handle value);

// AddBodies adds Node, Port and Body; AddEditing adds Editor, RuleContext and Verdict.
void AddBodies(nanobind::module_& module);
void AddEditing(nanobind::module_& module);

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_VISIT_H_
