#include "lib/ir/verify.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "lib/ir/attr_rules.h"
#include "lib/ir/kept_order.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/ir/source_walk.h"
#include "lib/ir/verify_parts.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

AttrKind AttrKindOf(llvm::StringRef type) {
  if (type.consume_front("list(")) return AttrKind::kList;
  return llvm::StringSwitch<AttrKind>(type)
      .Case("string", AttrKind::kString)
      .Case("int", AttrKind::kInt)
      .Case("float", AttrKind::kFloat)
      .Case("bool", AttrKind::kBool)
      .Case("type", AttrKind::kType)
      .Case("shape", AttrKind::kShape)
      .Case("tensor", AttrKind::kTensor)
      .Case("func", AttrKind::kFunc)
      .Default(AttrKind::kNone);
}

// A kind of node: the facts that depend only on a node's op and attributes. A large graph has many
// nodes but few kinds, so they are computed once per kind, except for nodes with long attributes.
struct NodeKind {
  const OpInfo* info = nullptr;
  std::string unknown_op;          // if `info` is null: the warning about the op
  std::optional<NodeTypes> types;  // nullopt: cannot be determined
  std::string types_error;
  // Whether attributes refer to those of the enclosing function; only set if `types` is nullopt.
  bool has_placeholders = false;
  bool attrs_checked = false;  // attributes were checked, and no problem was found
};

// Finds the NodeKind of a node, the facts that it shares with nodes of equal op and attributes. All
// bodies of a module share one NodeKinds.
class NodeKinds {
 public:
  NodeKind& Of(const Node& node) {
    Definition& definition = InfoOf(node);
    std::optional<llvm::StringRef> attrs;
    if (!definition.takes_tensors) attrs = node.graph().AttrBytes(node.id());
    bool is_kept = attrs && attrs->size() <= kLongestShared;
    if (!is_kept) attrs = Written(node);
    if (!attrs) return *Add(node);
    if (definition.latest && definition.latest_attrs == *attrs) return *definition.latest;
    auto known = shared_.find({node.op_id(), *attrs});
    if (known == shared_.end()) {
      if (!is_kept) attrs = kept_.emplace_back(*attrs);
      known = shared_.try_emplace({node.op_id(), *attrs}, Add(node)).first;
    }
    definition.latest_attrs = known->first.second;
    definition.latest = known->second;
    return *known->second;
  }

  // True if each NodeKind found so far stays valid while the node's op and attributes stay the same.
  // That is so unless an op is a function, which may change, or unknown.
  bool all_last() const { return all_last_; }

 private:
  static constexpr size_t kLongestShared = 256;

  // Returns the attributes as bytes that serve as a key. Omits the values of tensors, which do not
  // affect the kind. These bytes never equal attributes read from a NodeDef. nullopt if a key, or a
  // value other than a tensor, is long. Valid until the next call.
  std::optional<llvm::StringRef> Written(const Node& node) {
    written_.assign(1, '\0');
    bool is_short = true;
    auto append = [this](llvm::StringRef bytes) {
      written_.push_back(static_cast<char>(bytes.size()));
      written_.append(bytes.begin(), bytes.end());
    };
    node.ForEachAttr([&](llvm::StringRef key, AttrView value) {
      bool is_tensor = value.kind() == AttrKind::kTensor;
      llvm::StringRef bytes = is_tensor ? llvm::StringRef() : value.bytes();
      is_short = is_short && key.size() < kLongestShared && bytes.size() < kLongestShared;
      if (!is_short) return;
      written_.push_back(is_tensor);
      append(key);
      append(bytes);
    });
    if (!is_short) return std::nullopt;
    return llvm::StringRef(written_.data(), written_.size());
  }

  struct Definition {
    const OpInfo* info = nullptr;
    bool takes_tensors = false;  // as attributes
    // The last NodeKind that was looked up for this op, tried first: most nodes of an op are of one
    // kind.
    llvm::StringRef latest_attrs;
    NodeKind* latest = nullptr;
  };
  // Returns what is known about the node's op; looks up its definition the first time.
  Definition& InfoOf(const Node& node) {
    auto [it, added] = infos_.try_emplace(node.op_id());
    if (!added) return it->second;
    it->second.info = DefinitionOf(node);
    it->second.takes_tensors =
        it->second.info && llvm::any_of(it->second.info->attrs,
                                        [](const OpAttr& attr) { return attr.type == "tensor"; });
    return it->second;
  }

  NodeKind* Add(const Node& node) {
    NodeKind& kind = all_.emplace_back();
    kind.info = InfoOf(node).info;
    all_last_ = all_last_ && kind.info && kind.info == FindOp(node.op());
    if (!kind.info) {
      kind.unknown_op =
          llvm::formatv("op '{0}' is not in TensorFlow 2.21, it is kept as a custom op{1}",
                        node.op(), DidYouMean(node.op(), AllOpNames()));
      return &kind;
    }
    auto types = TypesOf(node, *kind.info);
    if (types) {
      kind.types = std::move(*types);
      return &kind;
    }
    kind.types_error = TextOf(types.takeError());
    node.ForEachAttr([&](llvm::StringRef, AttrView value) {
      kind.has_placeholders |= value.kind() == AttrKind::kPlaceholder;
    });
    return &kind;
  }

  llvm::DenseMap<StringId, Definition> infos_;
  std::deque<NodeKind> all_;
  llvm::DenseMap<std::pair<StringId, llvm::StringRef>, NodeKind*> shared_;
  std::deque<std::string> kept_;  // keys of shared_ that are not in the file
  llvm::SmallVector<char, 512> written_;
  bool all_last_ = true;
};

// The facts about a body that are kept for its next check.
struct KnownBody {
  std::vector<NodeKind*> kinds;  // by node id; nullptr: not computed yet
  KeptOrder order;
  std::optional<bool> has_frames;  // nullopt: not computed yet
};

class Verifier {
 public:
  Verifier(const Graph& graph, const Function* function, NodeKinds& all_kinds, KnownBody& body)
      : graph_(graph),
        function_(function),
        all_kinds_(all_kinds),
        body_(body),
        reading_has_spoken_(HasErrors(graph.module().problems)) {
    body_.kinds.resize(graph_.end_id(), nullptr);
  }

  std::vector<Problem> Run() {
    const auto& files = graph_.module().sources;
    SourceWalk walk(files.size() == 1 && !function_ ? files[0].get() : nullptr);
    for (Node node : graph_.nodes()) {
      CheckNode(node);
      walk.ReadUntil(graph_.Source(node.id()).data());
    }
    walk.End();
    return CheckAsWhole(nullptr);
  }

  // Checks a graph in which only the nodes `changed` have changed since it had no problems.
  // `changed` is in order of id.
  std::vector<Problem> RunOn(const std::vector<NodeId>& changed) {
    CheckChanged(changed);
    return CheckAsWhole(&changed);
  }

 private:
  std::vector<Problem> CheckAsWhole(const std::vector<NodeId>* changed) {
    if (function_) CheckResults();
    if (!body_.order.IsAcyclic(graph_, changed) && !CheckCycles()) return std::move(problems_);
    if (!body_.has_frames) body_.has_frames = HasFrames(graph_);
    if (*body_.has_frames)
      CheckFrames(graph_,
                  [&](const Node& node, std::string text) { Report(node, std::move(text)); });
    return std::move(problems_);
  }

  void Report(const Node& node, std::string text, Severity severity = Severity::kError) {
    std::string where = node.name().str();
    if (function_) where = (function_->name() + "/" + where).str();
    problems_.push_back({severity, where, std::move(text)});
  }

  NodeKind& KindFor(const Node& node) {
    NodeKind*& kind = body_.kinds[node.id()];
    if (!kind) kind = &all_kinds_.Of(node);
    return *kind;
  }

  // Checks the changed nodes and their readers, in order of id.
  void CheckChanged(const std::vector<NodeId>& changed) {
    llvm::BitVector to_check(graph_.end_id());
    for (Node node : graph_.nodes(changed)) {
      body_.kinds[node.id()] = nullptr;
      if (EntersFrame(node)) body_.has_frames = true;
      to_check.set(node.id());
      for (const Use& use : node.uses()) to_check.set(use.node);
    }
    for (NodeId id : to_check.set_bits()) CheckNode(graph_.node(id));
  }

  void CheckNode(const Node& node) {
    if (node.op_id() == kEmptyString) return;  // import has reported the node
    bool boundary = function_ && (node.op() == "_Arg" || node.op() == "_Retval");
    NodeKind& kind = KindFor(node);
    if (!kind.info) {
      Report(node, kind.unknown_op, Severity::kWarning);
      return;
    }
    if (!boundary && !kind.attrs_checked) {
      size_t before = problems_.size();
      CheckAttrs(node, *kind.info);
      kind.attrs_checked = problems_.size() == before;
    }
    if (node.op() == "Const") CheckConstant(node);
    const NodeTypes* types = boundary || !kind.types ? nullptr : &*kind.types;
    // If a node's attributes refer to attributes of the enclosing function, its types are known
    // only for a call of the function.
    bool is_open = function_ && kind.has_placeholders;
    if (!boundary && !types && !is_open) Report(node, kind.types_error);
    int expected = types ? static_cast<int>(types->inputs.size()) : node.num_inputs();
    if (types && node.num_inputs() != expected) {
      Report(node, llvm::formatv("has {0}, op '{1}' takes {2}", Plural(node.num_inputs(), "input"),
                                 node.op(), expected)
                       .str());
    }
    for (int i = 0; i < node.num_inputs(); ++i) {
      CheckInput(node, i, types && i < expected ? types->inputs[i] : proto::DT_INVALID);
    }
    for (int i = 0; i < node.num_controls(); ++i) {
      int slot = node.num_inputs() + i;
      if (node.input(slot).node == kNoNode) ReportDangling(node, slot);
    }
  }

  // Reports a dangling input. Stays silent if reading the graph found errors: those include
  // dangling inputs. Otherwise a pass has removed the input's node.
  void ReportDangling(const Node& node, int slot) {
    if (reading_has_spoken_) return;
    const char* what = slot < node.num_inputs() ? "input" : "control input";
    int i = slot < node.num_inputs() ? slot : slot - node.num_inputs();
    Report(node, llvm::formatv("{0} {1} ('{2}') was removed from the graph", what, i,
                               node.DanglingText(slot))
                     .str());
  }

  // Compares the `dtype` attribute of a constant with the dtype in its tensor, which is at the
  // tensor's beginning; does not read the elements.
  void CheckConstant(const Node& node) {
    AttrView value, dtype;
    node.ForEachAttr([&](llvm::StringRef key, AttrView attr) {
      if (key == "value") value = attr;
      if (key == "dtype") dtype = attr;
    });
    std::optional<llvm::StringRef> tensor = value.AsTensor();
    DataType said = dtype.AsType().value_or(proto::DT_INVALID);
    if (!tensor || said == proto::DT_INVALID) return;
    DataType is = DataTypeOfTensor(*tensor);
    if (is == said) return;
    Report(node, llvm::formatv("attribute 'dtype' is {0}, but the value has dtype {1}",
                               DataTypeName(said), DataTypeName(is))
                     .str());
  }

  void CheckInput(const Node& node, int i, DataType wanted) {
    Port port = node.input(i);
    if (port.node == kNoNode) return ReportDangling(node, i);
    Node source = graph_.node(port.node);
    if (source.op_id() == kEmptyString) return;
    DataType given;
    if (function_ && source.op() == "_Arg") {
      given = TypeOfArgument(source.id());
    } else {
      const std::optional<NodeTypes>& types = KindFor(source).types;
      if (!types) return;
      if (port.index >= static_cast<int>(types->outputs.size())) {
        Report(node, llvm::formatv("input {0} reads output {1} of '{2}', which has {3}", i,
                                   port.index, source.name(), types->outputs.size())
                         .str());
        return;
      }
      given = types->outputs[port.index];
    }
    if (wanted == proto::DT_INVALID || given == proto::DT_INVALID) return;
    bool fits = given == wanted || BaseType(given) == wanted;
    if (!fits) {
      Report(node, llvm::formatv("input {0} ('{1}') is {2}, {3} was expected", i, source.name(),
                                 DataTypeName(given), DataTypeName(wanted))
                       .str());
    }
  }

  // Returns the dtype of a function's argument; DT_INVALID if it depends on the call.
  DataType TypeOfArgument(NodeId id) {
    if (arguments_.empty()) {
      for (size_t i = 0; i < function_->args.size() && i < function_->info.inputs.size(); ++i) {
        const OpArg& arg = function_->info.inputs[i];
        arguments_[function_->args[i]] = arg.is_ref ? RefType(arg.type) : arg.type;
      }
    }
    return arguments_.lookup(id);
  }

  // Checks that the values that the function returns have the dtypes of its signature.
  void CheckResults() {
    for (size_t i = 0; i < function_->results.size() && i < function_->info.outputs.size(); ++i) {
      Node result = graph_.node(function_->results[i].node);
      const OpArg& arg = function_->info.outputs[i];
      if (arg.type == proto::DT_INVALID || !arg.number_attr.empty()) continue;
      if (result.num_inputs() == 1)
        CheckInput(result, 0, arg.is_ref ? RefType(arg.type) : arg.type);
    }
  }

  // True if an argument's dtype or length is the value of the attribute.
  static bool IsUsedByArgument(const OpInfo& info, llvm::StringRef attr) {
    auto uses = [attr](const OpArg& arg) {
      return arg.type_attr == attr || arg.number_attr == attr || arg.type_list_attr == attr;
    };
    return llvm::any_of(info.inputs, uses) || llvm::any_of(info.outputs, uses);
  }

  void CheckAttrs(const Node& node, const OpInfo& info) {
    llvm::SmallVector<std::pair<llvm::StringRef, AttrView>, 16> attrs;
    node.ForEachAttr([&](llvm::StringRef key, AttrView value) { attrs.emplace_back(key, value); });
    for (const OpAttr& attr : info.attrs) {
      auto it = std::find_if(attrs.rbegin(), attrs.rend(),
                             [&](const auto& a) { return a.first == attr.name; });
      if (it == attrs.rend()) {
        // TypesOf reports a missing dtype or number that an argument depends on.
        if (!attr.default_value && !IsUsedByArgument(info, attr.name)) {
          Report(node,
                 llvm::formatv("attribute '{0}' ({1}) is missing", attr.name, attr.type).str());
        }
        continue;
      }
      AttrKind kind = it->second.kind();
      AttrKind wanted = AttrKindOf(attr.type);
      // A placeholder stands for an attribute of the enclosing function, so its value is unknown
      // here.
      if (kind == AttrKind::kPlaceholder || wanted == AttrKind::kNone) continue;
      bool fits = kind == wanted || (kind == AttrKind::kNone && wanted == AttrKind::kList);
      if (!fits) {
        Report(node, llvm::formatv("attribute '{0}' is {1}, a value of type {2} was expected",
                                   attr.name, it->second.ToString(), attr.type)
                         .str());
      } else if (std::string why = WhyNotAllowed(info, attr, it->second); !why.empty()) {
        Report(node, std::move(why));
      }
    }
  }

  // Reports a cycle; returns false if there is one.
  bool CheckCycles() {
    std::vector<NodeId> order = TopologicalOrder(graph_);
    if (order.size() == graph_.num_nodes()) return true;
    std::vector<bool> ordered(graph_.end_id(), false);
    for (NodeId id : order) ordered[id] = true;
    // From a node that is not in the topological order, goes to inputs that are not in it either.
    // This must lead back to a visited node: that is a cycle.
    NodeId at = kNoNode;
    for (Node node : graph_.nodes()) {
      if (!ordered[node.id()]) {
        at = node.id();
        break;
      }
    }
    std::vector<uint32_t> seen(graph_.end_id(), 0);
    std::vector<NodeId> path;
    while (!seen[at]) {
      path.push_back(at);
      seen[at] = path.size();
      for (Port port : graph_.node(at).inputs()) {
        if (port.node != kNoNode && !ordered[port.node]) {
          at = port.node;
          break;
        }
      }
    }
    std::vector<NodeId> cycle(path.begin() + (seen[at] - 1), path.end());
    std::reverse(cycle.begin(), cycle.end());
    std::string text = "is on a cycle that is not a loop: ";
    for (size_t i = 0; i < std::min<size_t>(cycle.size(), 6); ++i)
      text += ("'" + graph_.node(cycle[i]).name() + "' -> ").str();
    text += cycle.size() > 6 ? llvm::formatv("... ({0} nodes)", cycle.size()).str()
                             : ("'" + graph_.node(cycle[0]).name() + "'").str();
    Report(graph_.node(cycle[0]), std::move(text));
    return false;
  }

  const Graph& graph_;
  const Function* function_;
  NodeKinds& all_kinds_;
  KnownBody& body_;
  bool reading_has_spoken_;                     // about dangling inputs in the file
  llvm::DenseMap<NodeId, DataType> arguments_;  // dtypes of the function's arguments
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> VerifyGraph(const Graph& graph, const Function* function) {
  NodeKinds kinds;
  KnownBody body;
  return Verifier(graph, function, kinds, body).Run();
}

struct ChangeVerifier::Known {
  NodeKinds kinds;
  KnownBody body;
};

ChangeVerifier::ChangeVerifier() = default;
ChangeVerifier::~ChangeVerifier() = default;

std::vector<Problem> ChangeVerifier::Run(const Graph& graph, const Function* function,
                                         uint64_t since) {
  if (!known_ || since == 0) known_ = std::make_unique<Known>();
  Verifier verifier(graph, function, known_->kinds, known_->body);
  std::vector<Problem> problems =
      since == 0 ? verifier.Run() : verifier.RunOn(graph.ChangedSince(since));
  // Forgets everything if kinds may be different the next time, because ops are functions, which
  // may change, or unknown; or if there was a problem.
  if (!known_->kinds.all_last() || !problems.empty()) known_.reset();
  return problems;
}

std::vector<Problem> VerifyModule(const Module& module) {
  NodeKinds kinds;
  auto verify = [&](const Graph& graph, const Function* function) {
    KnownBody body;
    return Verifier(graph, function, kinds, body).Run();
  };
  std::vector<Problem> problems = verify(module.main, nullptr);
  for (const auto& function : module.functions)
    llvm::append_range(problems, verify(function->body, function.get()));
  llvm::append_range(problems, CheckCalls(module));
  return problems;
}

std::vector<Problem> AllProblems(const Module& module) {
  std::vector<Problem> problems = module.problems;
  llvm::append_range(problems, VerifyModule(module));
  if (module.places.empty()) return problems;
  for (Problem& problem : problems) {
    if (problem.place.empty()) problem.place = module.places.lookup(problem.where);
  }
  return problems;
}

bool HasErrors(llvm::ArrayRef<Problem> problems) {
  return llvm::any_of(problems, [](const Problem& p) { return p.severity == Severity::kError; });
}

}  // namespace grapnel
