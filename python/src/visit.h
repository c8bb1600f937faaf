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

// One call of a Python rule or pass. Handles share the Visit, and raise an exception when the call
// is over, so that a handle that Python keeps cannot access a graph that has changed meanwhile.
// Requires the GIL.
struct Visit {
  Visit(Editor& editor, RuleContext* rule_context) : edit(&editor), rule(rule_context) {}

  Editor* edit;       // null when the call is over
  RuleContext* rule;  // null for a pass, which works on the whole body
  NodePath path;      // the nodes that the rule's pattern matched
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
// Handles for a body's graph, the editor and a rule's context, valid during one visit.
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

// Functions for the bindings. Each throws a Python exception: RuntimeError if a handle is no
// longer valid or nothing may change, ValueError for an invalid value, TypeError if an object is
// neither a Port nor a Node.
[[noreturn]] void Misused(const std::string& text);
[[noreturn]] void BadValue(const std::string& text);
Editor& EditorOf(const VisitRef& visit);
// Throws if no rewrite has begun.
Editor& ChangingEditorOf(const VisitRef& visit);
Node NodeOf(const NodeHandle& handle);
// Throws if the handle belongs to another visit.
Node NodeOf(const VisitRef& visit, const NodeHandle& handle);
// Converts a port, or a node, which stands for its first output.
Port PortOf(const VisitRef& visit, nanobind::handle given);
std::vector<Port> PortsOf(const VisitRef& visit, nanobind::handle given);
std::vector<Node> NodesOf(const VisitRef& visit, const std::vector<NodeHandle>& handles);

nanobind::object ArrayOf(const Literal& literal);
Literal LiteralOf(nanobind::handle value, nanobind::handle dtype);
// Returns a tuple such as (2, None, 3); None if the rank is not known.
nanobind::object ShapeAsTuple(const Shape& shape);
nanobind::str TextOfName(llvm::StringRef name);
nanobind::object AttributeOf(AttrView value);
// Converts a Python value to the type that the definition of the node's op requires or, for an
// attribute that the op does not define, by the type of the value.
std::string AttributeFrom(const Node& node, const std::string& key, nanobind::handle value);

// AddBodies adds Node, Port and Body; AddEditing adds Editor, RuleContext and Verdict.
void AddBodies(nanobind::module_& module);
void AddEditing(nanobind::module_& module);

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_VISIT_H_
