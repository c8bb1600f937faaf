#include "lib/function/inlining.h"

#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/ir/op_table.h"
#include "lib/pass/library.h"
#include "lib/pass/op_kinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

constexpr const char* kPlace = "loc:@";

std::optional<DeviceSpec> Parsed(llvm::StringRef device) {
  auto spec = DeviceSpec::Parse(device);
  if (spec) return *spec;
  llvm::consumeError(spec.takeError());
  return std::nullopt;
}

bool IsSwitch(const Node& node) {
  return node.op() == "Switch" || node.op() == "RefSwitch" || node.op() == "_SwitchN";
}
bool IsMerge(const Node& node) { return node.op() == "Merge" || node.op() == "RefMerge"; }

// Calls `visit` on the nodes reachable from `start` along data and control edges, including
// `start`; `beyond` returns whether to continue after a node.
void Follow(const Node& start, llvm::function_ref<void(const Node&)> visit,
            llvm::function_ref<bool(const Node&)> beyond) {
  const Graph& graph = start.graph();
  llvm::DenseSet<NodeId> seen = {start.id()};
  std::vector<NodeId> open = {start.id()};
  while (!open.empty()) {
    Node node = graph.node(open.back());
    open.pop_back();
    visit(node);
    if (!beyond(node)) continue;
    for (const Use& use : node.uses()) {
      if (seen.insert(use.node).second) open.push_back(use.node);
    }
  }
}

// True for stateful ops that do not count as effects: inlining may skip or reorder them without a
// change in the program's meaning.
bool IsExempt(llvm::StringRef op) {
  static const llvm::StringSet<> ops = {"CollectiveGather",
                                        "CollectiveReduce",
                                        "CollectiveBcastSend",
                                        "CollectiveBcastRecv",
                                        "CollectiveBcastSendV2",
                                        "CollectiveBcastRecvV2",
                                        "NcclAllReduce",
                                        "Send",
                                        "Recv",
                                        "CollectiveAssignGroupsV2",
                                        "CollectiveInitializeCommunicator",
                                        "RandomUniform",
                                        "RandomUniformInt",
                                        "RandomStandardNormal",
                                        "ParameterizedTruncatedNormal",
                                        "TruncatedNormal",
                                        "RandomShuffle",
                                        "Multinomial",
                                        "RandomGamma",
                                        "RandomGammaGrad",
                                        "RandomPoisson",
                                        "RandomPoissonV2",
                                        "ReadVariableOp",
                                        "CudnnRNN",
                                        "CudnnRNNBackprop",
                                        "CudnnRNNV2",
                                        "CudnnRNNV3",
                                        "CudnnRNNBackpropV2",
                                        "CudnnRNNBackpropV3",
                                        "EnqueueTPUEmbeddingSparseBatch",
                                        "EnqueueTPUEmbeddingIntegerBatch",
                                        "EnqueueTPUEmbeddingSparseTensorBatch",
                                        "EnqueueTPUEmbeddingRaggedTensorBatch",
                                        "EnqueueTPUEmbeddingArbitraryTensorBatch",
                                        "SaveV2",
                                        "RestoreV2",
                                        "InfeedEnqueue",
                                        "InfeedEnqueueTuple"};
  return ops.contains(op);
}

bool HasEffect(const Node& node) {
  if (node.op() == "_Arg" || node.op() == "_Retval" || IsExempt(node.op())) return false;
  const OpInfo* info = DefinitionOf(node);
  return info && info->is_stateful;
}

// True if the Switch decides whether its loop continues. The result of its Exit is not dead,
// although the Switch sends dead tensors to the Exit while the loop runs.
bool IsOfLoop(const Node& node) {
  return node.num_inputs() > 1 && node.input_node(1).op() == "LoopCond";
}

// True if the nodes inlined for the call keep their requested devices. The nodes inlined for a call
// by name (a node whose op is the function's name) all get the call's device instead, unless the
// call was part of control flow.
bool IsMultiDevice(const Node& call) {
  return IsMultiDeviceCall(call) || call.GetBool(kPartOfControlFlow);
}

// True if a dead tensor (the output of a Switch for the branch that is not taken) may reach a
// result of the function. With `trusts_loops`, tensors that leave a loop count as alive.
bool MayBeDead(const Function& function, bool trusts_loops,
               llvm::SmallPtrSetImpl<const Function*>& asked) {
  if (!asked.insert(&function).second) return false;
  const Graph& body = function.body;
  for (Node node : body.nodes()) {
    const Function* callee = body.module().FindFunction(node.op());
    if (!IsSwitch(node) && !(callee && MayBeDead(*callee, trusts_loops, asked))) continue;
    if (trusts_loops && IsOfLoop(node)) continue;
    bool reaches = false;
    Follow(
        node, [&](const Node& at) { reaches |= at.op() == "_Retval"; },
        [](const Node& at) { return !IsMerge(at); });
    if (reaches) return true;
  }
  return false;
}

// True if other nodes wait for the call, or if no node reads it: a TensorFlow graph ends only after
// its nodes without readers have run.
bool IsWaitedFor(const Graph& graph, const Node& call) {
  return call.uses().empty() || llvm::any_of(call.uses(), [&](const Use& use) {
           return static_cast<int>(use.slot) >= graph.node(use.node).num_inputs();
         });
}

class Inlining {
 public:
  Inlining(FunctionRewriter& in, const Node& call, Call callee, bool is_multi_device)
      : in_(in),
        edit_(in.edit),
        call_(call),
        callee_(std::move(callee)),
        function_(*callee_.function),
        body_(function_.body),
        name_(call.name().str()),
        device_(call.device().str()),
        device_parts_(Parsed(device_)),
        is_multi_device_(is_multi_device),
        is_whole_(call.GetBool(kOpenWhole)) {}

  void Run() {
    if (call_.num_controls() > 0) {
      before_ = AddControlNode("input_control_node");
      edit_.CopyControls(before_, call_);
    }
    AddInputs();
    CopyBody();
    AddOutputs();
    bool is_waited_for = IsWaitedFor(in_.graph, call_);
    bool stays = in_.is_runtime() || edit_.IsPreserved(call_);
    if (is_waited_for || stays || is_whole_) AddAfter();
    if (is_whole_) WaitForEffects();
    in_.Redirect(call_, outputs_, after_);
    if (stays) {
      in_.KeepAs(call_, outputs_, after_);
    } else {
      edit_.RemoveNode(call_);
    }
  }

 private:
  Node AddControlNode(const char* part) {
    return in_.Add(in_.NewName("Func/" + name_ + "/" + part), "NoOp", device_);
  }

  Node AddIdentity(const char* part, Port input, llvm::StringRef device) {
    Node node =
        in_.AddTyped(in_.NewName("Func/" + name_ + "/" + part), "Identity", device, {input});
    if (is_multi_device_) {
      std::string place = (kPlace + in_.graph.node(input.node).name()).str();
      edit_.SetAttr(node, "_class", attr::Strings({place}));
    }
    return node;
  }

  void AddInputs() {
    int at = 0;
    for (NodeId arg : function_.args) {
      int ports = 1;
      const OpArg& info = function_.info.inputs[body_.node(arg).GetInt("index")];
      if (!info.number_attr.empty() || !info.type_list_attr.empty())
        ports = call_.num_inputs() - at;  // a list is the last argument: see Misfit
      for (int port = 0; port < ports && at < call_.num_inputs(); ++port, ++at) {
        Node source = call_.input_node(at);
        Node identity = AddIdentity("input", call_.input(at),
                                    is_multi_device_ ? source.device() : llvm::StringRef(device_));
        if (before_) edit_.AddControl(identity, before_);
        inputs_[{arg, port}] = identity;
        if (port == 0) arguments_[body_.node(arg).name()] = identity;
      }
    }
  }

  std::string DeviceOf(const Node& node) const {
    if (!is_multi_device_ || node.device().empty()) return device_;
    std::optional<DeviceSpec> own = Parsed(node.device());
    if (!own || !device_parts_) return node.device().str();
    DeviceSpec filled = *device_parts_;
    filled.Override(*own);
    return filled.ToString();
  }

  static bool IsBoundary(const Node& node) { return node.op() == "_Arg" || node.op() == "_Retval"; }

  void CopyBody() {
    std::vector<NodeId> order = TopologicalOrder(body_);
    for (NodeId id : order) {
      Node node = body_.node(id);
      if (IsBoundary(node)) continue;
      Node copy = in_.Add(name_ + "/" + node.name(), node.op(), DeviceOf(node));
      edit_.CopyAttrs(copy, node);
      for (const auto& [key, value] : llvm::cantFail(DependentAttrs(node, callee_)))
        edit_.SetAttr(copy, key, value);
      Rename(copy);
      in_.CameFrom(copy.id(), call_, function_);
      copies_[id] = copy;
    }
    for (NodeId id : order) {
      Node node = body_.node(id);
      if (IsBoundary(node)) continue;
      Node copy = copies_[id];
      llvm::SmallVector<Port, 8> ports;
      for (Port port : node.inputs()) ports.push_back(Mapped(port));
      edit_.SetInputs(copy, ports);
      if (before_ && NeedsFrame(node)) edit_.AddControl(copy, before_);
    }
  }

  Port Mapped(Port port) const {
    if (auto it = copies_.find(port.node); it != copies_.end())
      return {it->second.id(), port.index};
    if (port.IsControl()) return {inputs_.lookup({port.node, 0}).id(), kControlPort};
    return {inputs_.lookup({port.node, port.index}).id(), 0};
  }

  // True if the copy of `node` must wait for before_, the node that waits for the call's control
  // inputs. Otherwise a node without inputs would not wait for anything; nor would nodes without
  // inputs in the body of the function that `node` calls.
  bool NeedsFrame(const Node& node) const {
    if (node.num_controls() > 0) return false;
    if (node.num_inputs() == 0) return true;
    return IsMultiDeviceCall(node) || node.op() == "SymbolicGradient" ||
           in_.module.FindFunction(node.op());
  }

  // Renames what the node's attributes name: the loop frame and nodes of the body get the call's
  // name as a prefix; an argument becomes the Identity that replaces it.
  void Rename(const Node& copy) {
    if (copy.op() == "Enter" || copy.op() == "RefEnter") {
      std::string frame = name_ + "/" + copy.GetString("frame_name");
      edit_.SetAttr(copy, "frame_name", attr::String(frame));
    }
    std::optional<AttrView> places = copy.FindAttr("_class");
    auto old = places ? places->AsStrings() : std::nullopt;
    if (!old) return;
    std::vector<std::string> renamed;
    for (llvm::StringRef place : *old) {
      llvm::StringRef node = place;
      renamed.push_back(place.str());
      if (!node.consume_front(kPlace)) continue;
      if (auto it = arguments_.find(node); it != arguments_.end()) {
        renamed.back() = (kPlace + it->second.name()).str();
      } else if (body_.Find(node)) {
        renamed.back() = kPlace + name_ + "/" + node.str();
      }
    }
    std::vector<llvm::StringRef> views(renamed.begin(), renamed.end());
    edit_.SetAttr(copy, "_class", attr::Strings(views));
  }

  void AddOutputs() {
    for (const Function::Result& result : function_.results) {
      Node identity = AddIdentity("output", Mapped(body_.node(result.node).input(0)),
                                  is_multi_device_ ? llvm::StringRef() : llvm::StringRef(device_));
      outputs_.push_back({identity.id(), 0});
    }
  }

  void AddAfter() {
    after_ = AddControlNode("output_control_node");
    if (is_multi_device_) {
      for (const auto& [name, id] : function_.control_results)
        edit_.AddControl(after_, in_.graph.node(Mapped({id, kControlPort}).node));
    } else {
      for (Port output : outputs_) edit_.AddControl(after_, in_.graph.node(output.node));
    }
    if (after_.num_controls() == 0 && before_) edit_.AddControl(after_, before_);
  }

  // Makes all results of the inlined function wait until its nodes with effects (HasEffect) have
  // run.
  void WaitForEffects() {
    std::vector<NodeId> effects;
    for (const auto& [id, copy] : copies_) {
      if (HasEffect(body_.node(id))) effects.push_back(copy.id());
    }
    llvm::sort(effects);
    for (NodeId effect : effects) edit_.AddControl(after_, in_.graph.node(effect));
    if (after_.num_controls() == 0) return;
    for (Port output : outputs_) edit_.AddControl(in_.graph.node(output.node), after_);
  }

  FunctionRewriter& in_;
  Editor& edit_;
  Node call_;
  Call callee_;
  const Function& function_;
  const Graph& body_;
  std::string name_, device_;
  std::optional<DeviceSpec> device_parts_;
  bool is_multi_device_, is_whole_;
  Node before_, after_;
  llvm::DenseMap<std::pair<NodeId, int32_t>, Node> inputs_;  // by argument and port
  llvm::StringMap<Node> arguments_;
  llvm::DenseMap<NodeId, Node> copies_;
  llvm::SmallVector<Port, 8> outputs_;
};

// Returns the reason why inlining would lose an effect: a stateful node of the function's body for
// which no node would wait any more. Empty if all effects still happen.
std::string LostEffect(const FunctionRewriter& in, const Node& call, const Function& function,
                       bool by_control_outputs) {
  llvm::DenseSet<NodeId> sources;
  if (by_control_outputs) {
    for (const auto& [name, id] : function.control_results) sources.insert(id);
  } else {
    for (const Function::Result& result : function.results) sources.insert(result.node);
  }
  bool is_waited_for = in.edit.IsPreserved(call) || IsWaitedFor(in.graph, call);
  for (Node node : function.body.nodes()) {
    if (!HasEffect(node)) continue;
    if (!is_waited_for)
      return llvm::formatv("'{0}' in '{1}' has an effect, and nothing waits for the call",
                           node.name(), function.name());
    bool happens = false;
    Follow(
        node, [&](const Node& at) { happens |= sources.contains(at.id()); },
        [](const Node&) { return true; });
    if (!happens)
      return llvm::formatv("'{0}' in '{1}' has an effect that none of the function's {2} waits for",
                           node.name(), function.name(),
                           by_control_outputs ? "control outputs" : "results");
  }
  return {};
}

// Returns the reason why nodes cannot replace this call: it does not match the function's
// signature, or the function has a list as a result or as an argument before the last one, or a
// result without a value or of unknown dtype. Empty if nodes can replace it.
std::string Misfit(const Node& call, const Function& function) {
  auto is_list = [](const OpArg& arg) {
    return !arg.number_attr.empty() || !arg.type_list_attr.empty();
  };
  if (llvm::any_of(function.info.outputs, is_list))
    return llvm::formatv("a result of '{0}' is a list", function.name());
  for (size_t i = 0; i + 1 < function.info.inputs.size(); ++i) {
    if (is_list(function.info.inputs[i]))
      return llvm::formatv("argument {0} of '{1}' is a list", i, function.name());
  }
  bool has_list = !function.info.inputs.empty() && is_list(function.info.inputs.back());
  if (!has_list && call.num_inputs() != static_cast<int>(function.args.size()))
    return llvm::formatv("'{0}' takes {1} arguments, the call passes {2}", function.name(),
                         function.args.size(), call.num_inputs());
  for (const Function::Result& result : function.results) {
    Node node = function.body.node(result.node);
    if (node.num_inputs() == 0 || node.input(0).node == kNoNode)
      return llvm::formatv("result '{0}' of '{1}' has no value", result.name, function.name());
    // The Identity that replaces the result gets its dtype from the op that makes the result, so
    // that op must be known.
    llvm::StringRef op = node.input_node(0).op();
    if (!FindOp(op) && !function.body.module().FindFunction(op))
      return llvm::formatv("the dtype of result '{0}' of '{1}' is not known", result.name,
                           function.name());
  }
  return {};
}

}  // namespace

std::string WhyNotInline(const FunctionRewriter& rewriter, const Node& call, const Call& callee) {
  const Function& function = *callee.function;
  if (llvm::StringRef mark = FunctionRewriter::XlaMark(call); !mark.empty())
    return llvm::formatv("'{0}' is marked for XLA ({1})", call.name(), mark);
  std::string misfit = Misfit(call, function);
  if (misfit.empty()) misfit = rewriter.WhyNotPassed(call);
  if (!misfit.empty()) return misfit;
  if (FunctionAttr(function, "api_implements"))
    return llvm::formatv("'{0}' is one of several implementations (api_implements)",
                         function.name());
  bool is_whole = call.GetBool(kOpenWhole);
  if (FunctionFlag(function, "_noinline") && !rewriter.aggressive && !is_whole)
    return llvm::formatv("'{0}' is marked _noinline", function.name());
  if (!call.GetBool(kPartOfControlFlow) && !rewriter.aggressive && !is_whole &&
      !rewriter.is_runtime()) {
    std::string lost = LostEffect(rewriter, call, function, IsMultiDevice(call));
    if (!lost.empty()) return lost;
  }
  llvm::SmallPtrSet<const Function*, 8> asked;
  if (!rewriter.is_runtime() && MayBeDead(function, /*trusts_loops=*/is_whole, asked))
    return llvm::formatv("a result of '{0}' comes from a Switch and may be dead", function.name());
  if (rewriter.IsRecursive(call, function))
    return llvm::formatv("'{0}' calls itself", function.name());
  for (Node inner : function.body.nodes()) {
    if (auto attrs = DependentAttrs(inner, callee); !attrs) return TextOf(attrs.takeError());
  }
  return "";
}

void Inline(FunctionRewriter& rewriter, const Node& call, Call callee) {
  rewriter.WaitForInputs(call, /*always=*/call.GetBool(kOpenWhole));
  rewriter.WaitForFrame(call);
  std::string inlined = callee.function->name().str();
  Inlining(rewriter, call, std::move(callee), IsMultiDevice(call)).Run();
  rewriter.edit.TouchedFunction(inlined);
}

}  // namespace grapnel
