// The editor of passes, the context of rules and their verdicts, for Python. Checks what C++
// callers must ensure: a mistake of a Python rule raises an exception.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lib/ir/node_types.h"
#include "lib/ir/types.h"
#include "lib/pass/registry.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "python/src/visit.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

std::string Quoted(const Node& node) { return "'" + node.name().str() + "'"; }

bool IsBoundary(const Node& node) {
  return node.graph().function() && (node.op() == "_Arg" || node.op() == "_Retval");
}

Node ChangedNode(const VisitRef& visit, const NodeHandle& handle) {
  ChangingEditorOf(visit);
  Node node = NodeOf(visit, handle);
  if (IsBoundary(node)) BadValue(Quoted(node) + " is an argument or a result of its function");
  return node;
}

void CheckSlot(const Node& node, int slot) {
  if (slot < 0 || slot >= node.num_inputs())
    BadValue(Quoted(node) + " has " + std::to_string(node.num_inputs()) +
             " inputs: there is no input " + std::to_string(slot));
}

// Checks a node's name by TensorFlow's rule: letters, digits and "_.\/>-", the first a letter, a
// digit or ".".
void CheckName(const std::string& name) {
  auto is_first = [](char c) { return llvm::isAlnum(c) || c == '.'; };
  bool fits = !name.empty() && is_first(name[0]) && llvm::all_of(name, [&](char c) {
    return is_first(c) || llvm::StringRef("_\\/>-").contains(c);
  });
  if (!fits) BadValue("'" + name + "' is not a node name");
}

std::vector<Port> WithControls(std::vector<Port> ports, const std::vector<Node>& controls) {
  for (const Node& control : controls) {
    Port port{control.id(), kControlPort};
    if (!llvm::is_contained(ports, port)) ports.push_back(port);
  }
  return ports;
}

void SetAttributes(Editor& edit, const Node& node, const Attributes& attrs) {
  for (auto [key, value] : attrs) {
    std::string name;
    if (!nb::try_cast(key, name))
      throw nb::type_error("attrs: the keys must be names of attributes");
    edit.SetAttr(node, name, AttributeFrom(node, name, value));
  }
}

NodeHandle AddNode(const VisitRef& visit, const std::string& name, const std::string& op,
                   const std::string& device, nb::handle inputs, const Attributes& attrs) {
  Editor& edit = ChangingEditorOf(visit);
  CheckName(name);
  if (op.empty()) BadValue("op: a name was expected");
  std::vector<Port> ports = PortsOf(visit, inputs);
  Node node = edit.AddNode(name, op, device);
  edit.SetInputs(node, ports);
  SetAttributes(edit, node, attrs);
  return {visit, node.id()};
}

NodeHandle AddConstant(const EditorHandle& self, const std::string& name, nb::handle value,
                       const std::string& device, const std::vector<NodeHandle>& controls,
                       nb::handle dtype) {
  Editor& edit = ChangingEditorOf(self.visit);
  CheckName(name);
  Literal literal = LiteralOf(value, dtype);
  return {self.visit, edit.AddConstant(name, literal, device, NodesOf(self.visit, controls)).id()};
}

void TurnIntoConstant(const EditorHandle& self, const NodeHandle& handle, nb::handle value,
                      const std::vector<NodeHandle>& controls, nb::handle dtype) {
  Node node = ChangedNode(self.visit, handle);
  self.visit->edit->TurnIntoConstant(node, LiteralOf(value, dtype), NodesOf(self.visit, controls));
}

void RemoveNode(const EditorHandle& self, const NodeHandle& handle) {
  Node node = ChangedNode(self.visit, handle);
  Editor& edit = *self.visit->edit;
  if (edit.IsPreserved(node)) BadValue(Quoted(node) + " is fetched, fed or kept: it must stay");
  if (node.HasDataUses()) BadValue(Quoted(node) + " is still read: redirect its readers first");
  edit.RemoveNode(node);
}

void SetInput(const EditorHandle& self, const NodeHandle& handle, int slot, nb::handle port) {
  Node node = ChangedNode(self.visit, handle);
  CheckSlot(node, slot);
  self.visit->edit->SetInput(node, slot, PortOf(self.visit, port));
}

void RemoveInput(const EditorHandle& self, const NodeHandle& handle, int slot) {
  Node node = ChangedNode(self.visit, handle);
  CheckSlot(node, slot);
  self.visit->edit->RemoveInput(node, slot);
}

void SetInputs(const EditorHandle& self, const NodeHandle& handle, nb::handle inputs,
               const std::optional<std::vector<NodeHandle>>& controls) {
  Node node = ChangedNode(self.visit, handle);
  std::vector<Node> waits;
  if (controls) {
    waits = NodesOf(self.visit, *controls);
  } else {
    for (int i = 0; i < node.num_controls(); ++i) waits.push_back(node.control(i));
  }
  self.visit->edit->SetInputs(node, WithControls(PortsOf(self.visit, inputs), waits));
}

void SetOp(const EditorHandle& self, const NodeHandle& handle, const std::string& op) {
  Node node = ChangedNode(self.visit, handle);
  if (op.empty()) BadValue("op: a name was expected");
  self.visit->edit->SetOp(node, op);
}

void SetAttr(const EditorHandle& self, const NodeHandle& handle, const std::string& key,
             nb::handle value) {
  Node node = ChangedNode(self.visit, handle);
  self.visit->edit->SetAttr(node, key, AttributeFrom(node, key, value));
}

// Sets a dtype attribute, also of custom ops.
void SetType(const VisitRef& visit, const NodeHandle& handle, const std::string& key,
             const std::string& dtype) {
  Node node = ChangedNode(visit, handle);
  std::optional<DataType> type = ParseDataType(dtype);
  if (!type) BadValue("there is no dtype '" + dtype + "'");
  visit->edit->SetAttr(node, key, attr::Type(*type));
}

// Returns the registry's copy of the step's name, which exists as long as the run.
const char* StepNamed(const Editor& edit, const std::string& step) {
  const PassRegistry::Entry* entry = edit.registry().Find(edit.pass());
  std::vector<std::string> names;
  for (const PassStep& known : edit.registry().ReportedBy(*entry)) {
    if (step == known.name) return known.name;
    names.push_back(known.name);
  }
  BadValue("pass '" + edit.pass() + "' has no step '" + step + "' (steps=)" +
           DidYouMean(step, names));
}

// Returns the editor of a pass. Errors: the handle is a rule's, whose rewrites begin and end
// automatically.
Editor& EditorOfPass(const EditorHandle& self) {
  Editor& edit = EditorOf(self.visit);
  if (self.visit->rule)
    Misused("a rule does not call begin or end: its verdict reports what it did");
  return edit;
}

bool Begin(const EditorHandle& self, const std::string& step,
           const std::optional<NodeHandle>& handle) {
  Editor& edit = EditorOfPass(self);
  if (edit.IsRewriting()) Misused("begin: a rewrite is under way; call end() first");
  Node node = handle ? NodeOf(self.visit, *handle) : Node();
  const char* name = StepNamed(edit, step);
  self.visit->at = handle ? node.name().str() : "";
  return edit.Begin(name, node);
}

void End(const EditorHandle& self) {
  Editor& edit = EditorOfPass(self);
  if (!edit.IsRewriting()) Misused("end: no rewrite is under way");
  edit.End();
}

void RefuseStep(const EditorHandle& self, const std::string& step, const NodeHandle& handle,
                const std::string& why) {
  Editor& edit = EditorOfPass(self);
  edit.Refuse(StepNamed(edit, step), NodeOf(self.visit, handle), "{0}", why);
}

template <typename Handle>
void AddFacts(nb::class_<Handle>& bound) {
  bound
      .def_prop_ro(
          "graph", [](const Handle& self) { return BodyHandle{self.visit}; }, "The body.")
      .def(
          "is_preserved",
          [](const Handle& self, const NodeHandle& node) {
            return EditorOf(self.visit).IsPreserved(NodeOf(self.visit, node));
          },
          nb::arg("node"),
          "True if the node is fetched, fed or kept: it must stay under its name, with its values.")
      .def(
          "device_of",
          [](const Handle& self, const NodeHandle& node) {
            return TextOfName(EditorOf(self.visit).DeviceOf(NodeOf(self.visit, node)));
          },
          nb::arg("node"),
          "The node's device or, if it names none, the device assumed for such nodes.")
      .def(
          "type_of",
          [](const Handle& self, nb::handle port) {
            return TextOfName(DataTypeName(EditorOf(self.visit).TypeOf(PortOf(self.visit, port))));
          },
          nb::arg("port"), "The dtype, with TensorFlow's name.")
      .def(
          "shape_of",
          [](const Handle& self, nb::handle port) {
            Port of = PortOf(self.visit, port);
            const VisitRef& visit = self.visit;
            return ShapeAsTuple(visit->rule ? visit->rule->ShapeOf(of) : visit->edit->ShapeOf(of));
          },
          nb::arg("port"), "A tuple with None for unknown dimensions; None if the rank is unknown.")
      .def(
          "constant_of",
          [](const Handle& self, nb::handle port) {
            Port of = PortOf(self.visit, port);
            const Literal* literal = self.visit->edit->ConstantOf(of);
            return literal ? ArrayOf(*literal) : nb::none();
          },
          nb::arg("port"), "The array of a Const that is not fed, else None.");
}

void AddEditor(nb::module_& module) {
  nb::class_<EditorHandle> editor(module, "Editor",
                                  "The interface of a pass to the graph; it records every change.");
  AddFacts(editor);
  using Self = const EditorHandle&;
  editor
      .def("begin", Begin, nb::arg("step"), nb::arg("node") = nb::none(),
           "Begins a rewrite. False if limit= is used up: then change nothing.")
      .def("end", End)
      .def("refuse", RefuseStep, nb::arg("step"), nb::arg("node"), nb::arg("why"),
           "Records that a step matched but did not fire, for why_not.")
      .def(
          "runs",
          [](Self self, const std::string& step) { return EditorOf(self.visit).Runs(step); },
          nb::arg("step"), "True unless the run selected another step alone or left this one out.")
      .def(
          "used",
          [](Self self, const NodeHandle& node) {
            ChangingEditorOf(self.visit).Used(NodeOf(self.visit, node));
          },
          nb::arg("node"), "Records the node as a source although it was not changed or removed.")
      .def(
          "note",
          [](Self self, const std::string& text) {
            ChangingEditorOf(self.visit).Note("{0}", text);
          },
          nb::arg("text"), "Adds a sentence to the ledger.")
      .def(
          "add_node",
          [](Self self, const std::string& name, const std::string& op, const std::string& device,
             nb::handle inputs, const Attributes& attrs) {
            return AddNode(self.visit, name, op, device, inputs, attrs);
          },
          nb::arg("name"), nb::arg("op"), nb::arg("device") = "", nb::arg("inputs") = nb::tuple(),
          nb::arg("attrs") = Attributes(), "Adds a node; its name is made unique.")
      .def("add_constant", AddConstant, nb::arg("name"), nb::arg("value").none(),
           nb::arg("device") = "", nb::arg("controls") = std::vector<NodeHandle>(),
           nb::arg("dtype") = nb::none())
      .def("turn_into_constant", TurnIntoConstant, nb::arg("node"), nb::arg("value").none(),
           nb::arg("controls") = std::vector<NodeHandle>(), nb::arg("dtype") = nb::none())
      .def("remove_node", RemoveNode, nb::arg("node"), "Removes a node, which must be unread.")
      .def(
          "redirect_port",
          [](Self self, nb::handle from, nb::handle to) {
            Editor& edit = ChangingEditorOf(self.visit);
            edit.RedirectPort(PortOf(self.visit, from), PortOf(self.visit, to));
          },
          nb::arg("from_"), nb::arg("to"), "Makes readers of `from_` read `to`.")
      .def(
          "redirect_node",
          [](Self self, const NodeHandle& node, nb::handle to) {
            Editor& edit = ChangingEditorOf(self.visit);
            edit.RedirectNode(NodeOf(self.visit, node), PortOf(self.visit, to));
          },
          nb::arg("node"), nb::arg("to"),
          "Makes nodes that read the node, or wait for it, use `to` instead.")
      .def("set_op", SetOp, nb::arg("node"), nb::arg("op"))
      .def(
          "set_device",
          [](Self self, const NodeHandle& node, const std::string& device) {
            Node changed = ChangedNode(self.visit, node);
            self.visit->edit->SetDevice(changed, device);
          },
          nb::arg("node"), nb::arg("device"))
      .def(
          "add_input",
          [](Self self, const NodeHandle& node, nb::handle port) {
            Node changed = ChangedNode(self.visit, node);
            self.visit->edit->AddInput(changed, PortOf(self.visit, port));
          },
          nb::arg("node"), nb::arg("port"))
      .def("set_input", SetInput, nb::arg("node"), nb::arg("slot"), nb::arg("port"))
      .def("remove_input", RemoveInput, nb::arg("node"), nb::arg("slot"))
      .def("set_inputs", SetInputs, nb::arg("node"), nb::arg("inputs"),
           nb::arg("controls") = nb::none(),
           "Sets all data inputs; control inputs stay, unless controls= is given.")
      .def(
          "add_control",
          [](Self self, const NodeHandle& node, const NodeHandle& from) {
            Node changed = ChangedNode(self.visit, node);
            self.visit->edit->AddControl(changed, NodeOf(self.visit, from));
          },
          nb::arg("node"), nb::arg("from_"))
      .def(
          "remove_control",
          [](Self self, const NodeHandle& node, const NodeHandle& from) {
            Node changed = ChangedNode(self.visit, node);
            self.visit->edit->RemoveControl(changed, NodeOf(self.visit, from));
          },
          nb::arg("node"), nb::arg("from_"))
      .def(
          "copy_controls",
          [](Self self, const NodeHandle& node, const NodeHandle& from) {
            Node changed = ChangedNode(self.visit, node);
            self.visit->edit->CopyControls(changed, NodeOf(self.visit, from));
          },
          nb::arg("node"), nb::arg("from_"))
      .def("set_attr", SetAttr, nb::arg("node"), nb::arg("key"), nb::arg("value").none())
      .def(
          "set_type",
          [](Self self, const NodeHandle& node, const std::string& key, const std::string& dtype) {
            SetType(self.visit, node, key, dtype);
          },
          nb::arg("node"), nb::arg("key"), nb::arg("dtype"), "Sets a dtype, also for custom ops.")
      .def(
          "remove_attr",
          [](Self self, const NodeHandle& node, const std::string& key) {
            Node changed = ChangedNode(self.visit, node);
            self.visit->edit->RemoveAttr(changed, key);
          },
          nb::arg("node"), nb::arg("key"))
      .def(
          "copy_attrs",
          [](Self self, const NodeHandle& to, const NodeHandle& from) {
            Node changed = ChangedNode(self.visit, to);
            self.visit->edit->CopyAttrs(changed, NodeOf(self.visit, from));
          },
          nb::arg("to"), nb::arg("from_"));
}

VerdictHandle Answer(const RuleHandle& self, Verdict verdict) {
  EditorOf(self.visit);
  return {self.visit, verdict};
}

VerdictHandle RefuseAt(const RuleHandle& self, const NodeHandle& node, const std::string& why) {
  EditorOf(self.visit);
  return {self.visit, self.visit->rule->RefuseAt(NodeOf(self.visit, node), "{0}", why)};
}

std::optional<std::vector<int64_t>> ConstantInts(const RuleHandle& self, const NodeHandle& node,
                                                 int i) {
  Node of = NodeOf(self.visit, node);
  return self.visit->rule->ConstantInts(of, i);
}

nb::object Input(const RuleHandle& self, const NodeHandle& handle, int i) {
  Node node = NodeOf(self.visit, handle);
  if (i < 0 || i >= node.num_inputs()) return nb::none();
  return nb::cast(NodeHandle{self.visit, node.input(i).node});
}

std::vector<NodeHandle> PathOf(const RuleHandle& self) {
  EditorOf(self.visit);
  std::vector<NodeHandle> path;
  for (NodeId id : self.visit->path) path.push_back({self.visit, id});
  return path;
}

void AddRule(nb::module_& module) {
  // NOLINTNEXTLINE(bugprone-unused-raii): the class is in the module from then on.
  nb::class_<VerdictHandle>(module, "Verdict", "The result of a rule, made by its context.");
  nb::class_<RuleHandle> rule(module, "RuleContext",
                              "The context of a rule: facts, its editor, and its verdicts.");
  AddFacts(rule);
  using Self = const RuleHandle&;
  rule.def_prop_ro("edit", [](Self self) { return EditorHandle{self.visit}; })
      .def_prop_ro("path", PathOf,
                   "The nodes that match the rule's pattern; the last is the rule's node.")
      .def(
          "not_mine",
          [](Self self, const std::optional<std::string>& why) {
            EditorOf(self.visit);
            if (why) return VerdictHandle{self.visit, self.visit->rule->NotMine("{0}", *why)};
            return VerdictHandle{self.visit, RuleContext::NotMine()};
          },
          nb::arg("why") = nb::none(),
          "Verdict: the rule's pattern does not match. why: one sentence without a period, for "
          "questions about one node.")
      .def(
          "refuse",
          [](Self self, const std::string& why) {
            EditorOf(self.visit);
            return VerdictHandle{self.visit, self.visit->rule->Refuse("{0}", why)};
          },
          nb::arg("why"),
          "Verdict: the pattern matches, but a condition failed. why: one sentence without a "
          "period.")
      .def("refuse_at", RefuseAt, nb::arg("node"), nb::arg("why"),
           "Like refuse(), but reports another node.")
      .def(
          "changed", [](Self self) { return Answer(self, RuleContext::Changed()); },
          "Verdict: the rule rewrote the graph; later rules still see the node.")
      .def(
          "done", [](Self self) { return Answer(self, RuleContext::Done()); },
          "Verdict: the rule rewrote the graph; no other rule sees the node now, which may be "
          "removed.")
      .def(
          "replace_by",
          [](Self self, nb::handle port) {
            return Answer(self, RuleContext::ReplaceBy(PortOf(self.visit, port)));
          },
          nb::arg("port"), "Verdict: readers of the node read `port` instead.")
      .def("input", Input, nb::arg("node"), nb::arg("i"),
           "The node that produces data input `i`, or None if there is no such input.")
      .def(
          "exists",
          [](Self self, const std::string& name) {
            return static_cast<bool>(EditorOf(self.visit).graph().Find(name));
          },
          nb::arg("name"))
      .def(
          "drives_controls",
          [](Self self, const NodeHandle& node) {
            Node of = NodeOf(self.visit, node);
            return self.visit->rule->DrivesControls(of);
          },
          nb::arg("node"), "True if any node has a control input from the node.")
      .def(
          "num_readers",
          [](Self self, const NodeHandle& node) {
            Node of = NodeOf(self.visit, node);
            return self.visit->rule->NumReaders(of);
          },
          nb::arg("node"), "The number of distinct nodes that read the node or wait for it.")
      .def("constant_ints", ConstantInts, nb::arg("node"), nb::arg("i"),
           "The integers of data input `i`, if it is a constant of int32 or int64.")
      .def(
          "make",
          [](Self self, const std::string& name, const std::string& op, const std::string& device,
             nb::handle inputs, const Attributes& attrs) {
            return AddNode(self.visit, name, op, device, inputs, attrs);
          },
          nb::arg("name"), nb::arg("op"), nb::arg("device"), nb::arg("inputs"),
          nb::arg("attrs") = Attributes(),
          "Adds a node with these data inputs; its name is made unique.")
      .def(
          "set_type",
          [](Self self, const NodeHandle& node, const std::string& key, const std::string& dtype) {
            SetType(self.visit, node, key, dtype);
          },
          nb::arg("node"), nb::arg("key"), nb::arg("dtype"));
}

}  // namespace

void AddEditing(nb::module_& module) {
  AddEditor(module);
  AddRule(module);
}

}  // namespace grapnel::python
