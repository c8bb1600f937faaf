// Nodes, ports and bodies, as Python reads them.
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/text.h"
#include "llvm/ADT/STLExtras.h"
#include "python/src/visit.h"

namespace nb = nanobind;

namespace grapnel::python {

void Misused(const std::string& text) { throw std::runtime_error(text); }
void BadValue(const std::string& text) { throw nb::value_error(text.c_str()); }

Editor& EditorOf(const VisitRef& visit) {
  if (!visit->edit)
    Misused("nodes, ports and editors of a rule or a pass are valid only during its call");
  return *visit->edit;
}

Editor& ChangingEditorOf(const VisitRef& visit) {
  Editor& edit = EditorOf(visit);
  if (!edit.IsRewriting())
    Misused(
        "no rewrite is under way: call begin(step, node) first; it returns False if limit= is used "
        "up");
  return edit;
}

Node NodeOf(const NodeHandle& handle) {
  Editor& edit = EditorOf(handle.visit);
  if (!edit.graph().IsAlive(handle.id)) Misused("the node was removed");
  return edit.graph().node(handle.id);
}

Node NodeOf(const VisitRef& visit, const NodeHandle& handle) {
  Node node = NodeOf(handle);
  if (handle.visit != visit) Misused("node '" + node.name().str() + "' belongs to another graph");
  return node;
}

Port PortOf(const VisitRef& visit, nb::handle given) {
  PortHandle port;
  if (NodeHandle node; nb::try_cast(given, node, /*convert=*/false)) {
    port = {node.visit, {node.id, 0}};
  } else if (!nb::try_cast(given, port, /*convert=*/false)) {
    throw nb::type_error("a Port or a Node was expected");
  }
  NodeOf(visit, {port.visit, port.port.node});
  return port.port;
}

std::vector<Port> PortsOf(const VisitRef& visit, nb::handle given) {
  if (!nb::isinstance<nb::sequence>(given))
    throw nb::type_error("a list of Ports and Nodes was expected");
  std::vector<Port> ports;
  for (nb::handle port : nb::borrow<nb::sequence>(given)) ports.push_back(PortOf(visit, port));
  return ports;
}

std::vector<Node> NodesOf(const VisitRef& visit, const std::vector<NodeHandle>& handles) {
  std::vector<Node> nodes;
  nodes.reserve(handles.size());
  for (const NodeHandle& handle : handles) nodes.push_back(NodeOf(visit, handle));
  return nodes;
}

namespace {

NodeHandle Handle(const NodeHandle& self, const Node& node) { return {self.visit, node.id()}; }

void CheckSlot(const Node& node, int slot) {
  if (slot < 0 || slot >= node.num_inputs())
    BadValue("'" + node.name().str() + "' has " + std::to_string(node.num_inputs()) +
             " inputs: there is no input " + std::to_string(slot));
}

PortHandle InputOf(const NodeHandle& self, int i) {
  Node node = NodeOf(self);
  CheckSlot(node, i);
  return {self.visit, node.input(i)};
}

PortHandle OutputOf(const NodeHandle& self, int i) {
  Node node = NodeOf(self);
  int outputs = NumOutputs(node);
  if (i < 0 || (outputs >= 0 && i >= outputs))
    BadValue("'" + node.name().str() + "' has " + std::to_string(outputs) +
             " outputs: there is no output " + std::to_string(i));
  return {self.visit, {node.id(), i}};
}

std::vector<PortHandle> InputsOf(const NodeHandle& self) {
  std::vector<PortHandle> inputs;
  Node node = NodeOf(self);
  inputs.reserve(node.num_inputs());
  for (int i = 0; i < node.num_inputs(); ++i) inputs.push_back({self.visit, node.input(i)});
  return inputs;
}

std::vector<NodeHandle> ControlsOf(const NodeHandle& self) {
  std::vector<NodeHandle> controls;
  Node node = NodeOf(self);
  controls.reserve(node.num_controls());
  for (int i = 0; i < node.num_controls(); ++i) controls.push_back(Handle(self, node.control(i)));
  return controls;
}

std::vector<NodeHandle> ReadersOf(const NodeHandle& self) {
  std::vector<NodeId> ids;
  for (const Use& use : NodeOf(self).uses()) ids.push_back(use.node);
  llvm::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<NodeHandle> readers;
  readers.reserve(ids.size());
  for (NodeId id : ids) readers.push_back({self.visit, id});
  return readers;
}

nb::object AttrOf(const NodeHandle& self, const std::string& key) {
  std::optional<AttrView> value = NodeOf(self).Attr(key);
  return value ? AttributeOf(*value) : nb::none();
}

Attributes AttrsOf(const NodeHandle& self) {
  Attributes attrs;
  for (const auto& [key, value] : NodeOf(self).Attrs()) attrs[TextOfName(key)] = AttributeOf(value);
  return attrs;
}

// Returns the repr of a node. For an invalid handle, whose graph must not be accessed, returns
// "<Node, removed>".
nb::str TextOf(const NodeHandle& self) {
  Editor* edit = self.visit->edit;
  if (!edit || !edit->graph().IsAlive(self.id)) return nb::str("<Node, removed>");
  return TextOfName(NodeText(edit->graph().node(self.id)));
}

std::string NameOf(const PortHandle& self) {
  Node node = NodeOf({self.visit, self.port.node});
  return OutputName(node.name(), self.port.index);
}

nb::str TextOf(const PortHandle& self) {
  Editor* edit = self.visit->edit;
  if (!edit || !edit->graph().IsAlive(self.port.node)) return nb::str("<Port, removed>");
  return TextOfName("<Port " + NameOf(self) + ">");
}

bool AreSame(const NodeHandle& self, nb::handle other) {
  NodeHandle node;
  return nb::try_cast(other, node, /*convert=*/false) && node.visit == self.visit &&
         node.id == self.id;
}

bool AreSamePort(const PortHandle& self, nb::handle other) {
  PortHandle port;
  return nb::try_cast(other, port, /*convert=*/false) && port.visit == self.visit &&
         port.port == self.port;
}

std::vector<NodeHandle> NodesOfBody(const BodyHandle& self) {
  std::vector<NodeHandle> nodes;
  for (Node node : EditorOf(self.visit).graph().nodes()) nodes.push_back({self.visit, node.id()});
  return nodes;
}

nb::object Find(const BodyHandle& self, const std::string& name) {
  Node node = EditorOf(self.visit).graph().Find(name);
  return node ? nb::cast(NodeHandle{self.visit, node.id()}) : nb::none();
}

nb::str FunctionOfBody(const BodyHandle& self) {
  const Function* function = EditorOf(self.visit).function();
  return TextOfName(function ? function->name() : llvm::StringRef());
}

}  // namespace

void AddBodies(nb::module_& module) {
  nb::class_<NodeHandle>(module, "Node",
                         "A node of the graph that a rule or a pass works on; valid for one call.")
      .def_prop_ro("name", [](const NodeHandle& self) { return TextOfName(NodeOf(self).name()); })
      .def_prop_ro("op", [](const NodeHandle& self) { return TextOfName(NodeOf(self).op()); })
      .def_prop_ro("device",
                   [](const NodeHandle& self) { return TextOfName(NodeOf(self).device()); })
      .def_prop_ro("num_inputs", [](const NodeHandle& self) { return NodeOf(self).num_inputs(); })
      .def_prop_ro("inputs", InputsOf, "The node's data inputs, in order.")
      .def_prop_ro("controls", ControlsOf, "The nodes of the control inputs.")
      .def_prop_ro("readers", ReadersOf,
                   "The nodes that read this node's outputs or wait for it, each once.")
      .def("input", InputOf, nb::arg("i"))
      .def(
          "input_node",
          [](const NodeHandle& self, int i) {
            return NodeHandle{self.visit, InputOf(self, i).port.node};
          },
          nb::arg("i"))
      .def("output", OutputOf, nb::arg("i") = 0)
      .def("attr", AttrOf, nb::arg("key"),
           "The value of an attribute; else the op's default for it; else None. A dtype is given "
           "as its name, a shape as a "
           "tuple, a function as its name, a tensor as an array.")
      .def_prop_ro("attrs", AttrsOf, "The attributes stored on the node.")
      .def("__eq__", AreSame, nb::arg("other").none())
      .def("__hash__", [](const NodeHandle& self) { return std::hash<NodeId>()(self.id); })
      .def("__repr__", [](const NodeHandle& self) { return TextOf(self); });
  nb::class_<PortHandle>(module, "Port", "An output of a node: `x:1`.")
      .def_prop_ro("node",
                   [](const PortHandle& self) {
                     NodeHandle node{self.visit, self.port.node};
                     NodeOf(node);
                     return node;
                   })
      .def_prop_ro("index", [](const PortHandle& self) { return self.port.index; })
      .def_prop_ro("name", NameOf)
      .def("__eq__", AreSamePort, nb::arg("other").none())
      .def("__hash__",
           [](const PortHandle& self) {
             return std::hash<uint64_t>()(uint64_t{self.port.node} << 32 | self.port.index);
           })
      .def("__repr__", [](const PortHandle& self) { return TextOf(self); });
  nb::class_<BodyHandle>(module, "Body", "The main graph, or the graph of one function.")
      .def_prop_ro("nodes", NodesOfBody, "The current nodes, in file order.")
      .def_prop_ro("function", FunctionOfBody,
                   "The function whose body this is; '' for the main graph.")
      .def("find", Find, nb::arg("name"), "The node of that name, or None.")
      .def("__len__",
           [](const BodyHandle& self) { return EditorOf(self.visit).graph().num_nodes(); });
}

}  // namespace grapnel::python
