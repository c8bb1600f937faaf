// The interface of a pass to a body (the main graph or a function): reads the graph, knows which
// nodes must stay, and records every change.
#ifndef GRAPNEL_LIB_PASS_EDITOR_H_
#define GRAPNEL_LIB_PASS_EDITOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/evaluator.h"
#include "lib/ir/literal.h"
#include "lib/ir/module.h"
#include "lib/pass/boundary.h"
#include "lib/pass/rewrite.h"
#include "lib/proto/rewriter_config.pb.h"
#include "lib/shape/inference.h"
#include "lib/support/public.h"
#include "lib/support/sentence.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

class PassRegistry;  // lib/pass/registry.h

// One editor exists for one body and one run of the PassManager. Changes are allowed only between
// Begin() and End(), and only through the editor: anything else is a fault, which fails the pass.
// Each change updates the readers' inputs, control edges and the record of the rewrite. The editor
// does not check dtypes: the verifier does, after the pass.
class GRAPNEL_PUBLIC Editor {
 public:
  Editor(Graph& graph, Function* function, Boundary boundary, const proto::RewriterConfig& config,
         Evaluator* evaluator);
  ~Editor();

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  Module& module() { return graph_.module(); }
  Function* function() const { return function_; }
  // The name of this body for use in the names of nodes and functions that passes make: the
  // function's name, or the user's name for the main graph.
  const std::string& id() const { return id_; }
  void set_id(llvm::StringRef id) { id_ = id.str(); }
  const proto::RewriterConfig& config() const { return config_; }
  Evaluator* evaluator() const { return evaluator_; }          // null: no constant folding
  const PassRegistry& registry() const { return *registry_; }  // the passes and rules of the run

  // --- What must stay.
  const Boundary& boundary() const { return boundary_; }
  bool IsFetched(const Node& node) const {
    return IsPreserved(node) && boundary_.fetched.contains(node.id());
  }
  // The lowest fetched output of the node other than output 0, or 0 if there is none. A rewrite
  // that leaves the node only one output would lose that fetch.
  int FurtherFetch(const Node& node) const;
  bool IsFed(const Node& node) const {
    return IsPreserved(node) && boundary_.fed.contains(node.id());
  }
  // True if the node is fetched, fed or kept: it must stay under its name, with its values.
  bool IsPreserved(const Node& node) const {
    return node.id() < preserved_.size() && preserved_[node.id()];
  }

  // From this call on, rewrites may change or remove the outputs of fetched nodes, which must still
  // stay: for a pass that changes them on purpose (auto_parallel).
  void GiveUpFetchedValues() { fetches_.clear(); }

  // The node's device or, if the node names no device, the assumed device of such nodes.
  llvm::StringRef DeviceOf(const Node& node) const {
    llvm::StringRef device = node.device();
    return device.empty() ? llvm::StringRef(boundary_.assumed_device) : device;
  }

  // --- Facts. Shapes and constants are cached until the node changes. ShapeOf returns the static
  // shape of the port; the shape of a fed node is unknown unless TrustFeeds or set_fed_shapes was
  // called.
  const Shape& ShapeOf(Port port);
  DataType TypeOf(Port port);
  const ShapeMap& shapes();
  // Infers the shapes of this body again, as Grappler does.
  ShapeMap InferGrapplerShapes(bool trust_feeds) const;
  // Freezes shapes as they are now, whatever is edited afterwards, until the next call, a call of
  // FollowShapes(), or a change by TrustFeeds(); new nodes have no shape. Imitates Grappler passes,
  // which infer shapes once.
  void FixShapes();
  // Sets whether fed nodes have the shapes that their placeholders promise, until the pass ends.
  // TensorFlow trusts them in passes whose toggle is AGGRESSIVE.
  void TrustFeeds(bool trust);
  void FollowShapes() { are_shapes_fixed_ = false; }
  // The value of a Const or HostConst node that is not fed; null for other nodes, and if the value
  // cannot be read. Valid until the node changes.
  const Literal* ConstantOf(const Node& node);
  const Literal* ConstantOf(Port port) { return ConstantOf(graph_.node(port.node)); }
  bool IsConstant(const Node& node) const;  // does not read the value

  // The position of each node, by id, in Grappler's order of nodes (GrapplerOrder), which
  // Grappler's passes change. Empty: the order of the file.
  llvm::ArrayRef<uint32_t> ranks() const { return ranks_; }
  void SetOrder(llvm::ArrayRef<NodeId> order);
  // GrapplerOrder (lib/pass/node_order.h) of the body with these ranks; cached until either
  // changes.
  std::vector<NodeId> NodesInOrder();

  // --- One rewrite.
  //
  // Begins a rewrite of `rule`, whose text must outlive the editor, at `node` (no node: the whole
  // body). Returns false if --limit is used up or the pass has a fault: then change nothing and do
  // not call End().
  bool Begin(llvm::StringRef rule, const Node& node) {
    assert(IsListed(rule) && "the pass does not list this rule");
    if (rewrites_left_ && *rewrites_left_ == 0) return false;
    NoticeChanges();
    if (record_.open) BlameOpenRewrite();
    if (fault_) return false;
    record_.open = true;
    record_.rule = rule;
    record_.changes_before = num_changes_;
    record_.node = node;
    record_.name = node ? node.name_id() : kEmptyString;
    return true;
  }
  // Ends the rewrite, which is counted and recorded only if something changed. Without changes it
  // costs next to nothing.
  void End() {
    assert((record_.open || fault_) && "no rewrite is under way");
    NoticeChanges();
    if (num_changes_ == record_.changes_before && record_.sources.empty() && record_.note.empty()) {
      record_.open = false;
    } else {
      EndRecord();
    }
  }
  bool IsRewriting() const { return record_.open; }
  // True unless the user selected only another rule of this pass, or excluded this one.
  bool Runs(llvm::StringRef rule) const {
    return (only_rule_.empty() || only_rule_ == rule) && !llvm::is_contained(without_, rule);
  }
  // Records `node` as a source of the result although it was not removed, redirected or changed.
  void Used(const Node& node);
  // Sets the remark in the record of the current rewrite: one sentence, no period; formatted only
  // if a client of the PassManager reads rewrites.
  template <typename... Args>
  void Note(const char* format, Args&&... args) {
    if (on_rewrite_) SetNote(Sentence(format, std::forward<Args>(args)...));
  }
  // Records for --why-not that the rule's pattern matched but the rule did not rewrite; the reason
  // is formatted only with --why-not. A second line of the text says what would make the condition
  // hold, as a command: "'{0}' is fetched\nfetch an Identity of it instead".
  template <typename... Args>
  void Refuse(llvm::StringRef rule, const Node& node, const char* format, Args&&... args) {
    if (on_refusal_ && Runs(rule))
      AddRefusal(rule, node, Sentence(format, std::forward<Args>(args)...), on_refusal_);
  }
  // Like Refuse, but for a node that the rule's pattern does not match. Recorded only for questions
  // about one node, because most nodes match no pattern. If the arguments take time to compute,
  // call this only if wants_mismatches() is true, which says that mismatches are recorded.
  template <typename... Args>
  void Mismatch(llvm::StringRef rule, const Node& node, const char* format, Args&&... args) {
    if (on_mismatch_ && Runs(rule))
      AddRefusal(rule, node, Sentence(format, std::forward<Args>(args)...), on_mismatch_);
  }

  bool wants_mismatches() const { return static_cast<bool>(on_mismatch_); }

  // --- Changes.
  //
  // Adds a node on `device`. The name is made unique if it is taken.
  Node AddNode(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device);
  // Adds a Const on `device` that waits for `controls`.
  Node AddConstant(llvm::StringRef name, const Literal& value, llvm::StringRef device,
                   llvm::ArrayRef<Node> controls = {});
  // Changes the node into a Const in place, with `controls` (each once) as its only inputs; name,
  // device and attributes that begin with '_' stay. The value is copied once, into the graph.
  void TurnIntoConstant(const Node& node, const Literal& value, llvm::ArrayRef<Node> controls);
  // Removes a node, which must be unread and not preserved; control edges from the node are
  // removed, too.
  void RemoveNode(const Node& node);
  // Redirects every data input that reads `from` to `to`; control edges stay.
  void RedirectPort(Port from, Port to);
  // Redirects all readers of `node`: data inputs that read any of its outputs then read `to`, and
  // nodes that waited for `node` wait for the node of `to`.
  void RedirectNode(const Node& node, Port to);
  void SetOp(const Node& node, llvm::StringRef op);
  void SetDevice(const Node& node, llvm::StringRef device);
  void AddInput(const Node& node, Port port);
  void SetInput(const Node& node, int slot, Port port);
  void RemoveInput(const Node& node, int slot);
  void SetInputs(const Node& node, llvm::ArrayRef<Port> ports);
  void AddControl(const Node& node, const Node& from);
  void RemoveControl(const Node& node, const Node& from);
  // As AddControl, for callers that know that the edge does not exist. Constant time.
  void AppendControl(const Node& node, const Node& from);
  // Replaces the control input in `slot` with one from `from`, which must not be a control input
  // yet. Without `from`, removes the control input and moves the last one to `slot`. Constant time.
  void SetControlSlot(const Node& node, int slot, const Node& from);
  // Makes `node` wait for every node that `from` waits for.
  void CopyControls(const Node& node, const Node& from);
  void SetAttr(const Node& node, llvm::StringRef key, llvm::StringRef value);
  void RemoveAttr(const Node& node, llvm::StringRef key);
  void CopyAttrs(const Node& to, const Node& from);
  // Adds an empty function of that name to the library. The caller then adds nodes to it, which the
  // record of the rewrite does not list.
  Function* AddFunction(llvm::StringRef name);
  // Drops functions that are not reachable from the main graph; see ReachableFunctions.
  void DropUnreachableFunctions(bool choices = true);
  // Records that the rewrite inlined this function.
  void TouchedFunction(llvm::StringRef name);

  // --- Faults of a pass: such as a change that bypasses the editor or is outside a rewrite, a
  // rewrite that begins inside another, a new node without a name or op, removal of a node that is
  // still read or preserved, an edge from a removed node. The editor does not make such a change,
  // except that AddNode() adds the node.
  struct Fault {
    std::string rule, node;  // the rule, and the node it was applied to; empty if unknown
    std::string what;        // "removed 'n', which 'y' still reads"
  };
  // The first fault since StartPass().
  const std::optional<Fault>& fault() const { return fault_; }
  // Detects changes that bypassed the editor since the editor's last change, and records them as a
  // fault of `rule` (empty: unknown). Constant time without such changes.
  void NoticeChanges(llvm::StringRef rule = {}) {
    if (graph_.version() != seen_version_) BlameChanges(rule);
  }

  // Returns `name` with `prefix` before its last part: "a/b/P/c" for "a/b/c" and "P"; "P/c" for
  // "c".
  static std::string NameInScope(llvm::StringRef name, llvm::StringRef prefix);

  // Names of the original nodes that `node` was made from; its own name if no rewrite made or
  // changed it. Sorted.
  std::vector<std::string> OriginsOf(const Node& node) const;

  // --- For the PassManager.
  //
  // `only_rule`: run only this rule of the pass; empty: all. `without`: rules that do not run.
  void StartPass(llvm::StringRef pass, int iteration, llvm::StringRef only_rule = "",
                 std::vector<std::string> without = {});
  void set_on_rewrite(std::function<void(const Rewrite&)> f) { on_rewrite_ = std::move(f); }
  void set_on_refusal(std::function<void(const Refusal&)> f) { on_refusal_ = std::move(f); }
  void set_on_mismatch(std::function<void(const Refusal&)> f) { on_mismatch_ = std::move(f); }
  void set_limit(int* rewrites_left) { rewrites_left_ = rewrites_left; }  // null: no limit
  void set_counter(int* counter) { counter_ = counter; }
  // From this call on, fed nodes have the shapes of their placeholders, and arguments have the
  // shapes `arguments`, in order; for a resource, the shape of its content.
  void set_fed_shapes(std::vector<Shape> arguments) {
    trusts_shapes_ = true;
    argument_shapes_ = std::move(arguments);
  }
  void set_registry(const PassRegistry* registry) { registry_ = registry; }  // default: Get()
  const std::string& pass() const { return pass_; }                          // the running pass
  int iteration() const { return iteration_; }                               // of the running pass
  // An error if the graph has lost a fetch. It names the rule that lost it, if that is known.
  Error CheckFetches() const;
  int64_t num_changes() const { return num_changes_; }
  // Returns the nodes that changed, were made, lost a reader or were the target of a redirection
  // since the last call or the start of the pass, in the order of these changes. A node may be
  // repeated, or be gone. For worklists.
  std::vector<NodeId> TakeTouched();

 private:
  // The current rewrite. Stores a node's name when the node is used or changed, because the node
  // may be gone at the end.
  struct Record {
    bool open = false;
    llvm::StringRef rule;
    Node node;                     // no node: the whole body
    StringId name = kEmptyString;  // of the node
    std::vector<StringId> used, made, changed, removed;
    std::vector<NodeId> results;  // made or changed: their origins grow by those of the used nodes
    std::vector<NodeId> sources;  // used, changed or removed
    std::vector<std::string> functions;
    std::string note;
    int64_t changes_before = 0;

    void Clear();
  };
  bool IsListed(llvm::StringRef rule) const;
  void Blame(std::string what, llvm::StringRef rule = {});
  void BlameOpenRewrite();
  void BlameChanges(llvm::StringRef rule);
  bool MayChange(const Node& node);
  bool MayRead(const Node& node, Port port);
  void EndRecord();
  void Touch(const Node& node);
  void Changed(const Node& node);
  void SetValue(const Node& node, const Literal& value);
  void AddRefusal(llvm::StringRef rule, const Node& node, llvm::StringRef text,
                  const std::function<void(const Refusal&)>& take);
  void SetNote(std::string text);
  void Keep(Record& record);
  void WatchFetches(const Record& record);
  void RecordOrigins(const Record& record);
  uint32_t DerivationOf(NodeId id) const {
    return id < latest_derivation_.size() ? latest_derivation_[id] : kFromTheStart;
  }

  Graph& graph_;
  Function* function_;
  Boundary boundary_;
  llvm::BitVector preserved_;  // the nodes in boundary_, by id
  const proto::RewriterConfig& config_;
  Evaluator* evaluator_;
  const PassRegistry* registry_;
  StringId const_op_, host_const_op_;
  std::unique_ptr<ShapeMap> shapes_;
  bool are_shapes_fixed_ = false, starts_pass_ = false, trusts_feeds_ = false;
  // The nodes changed since shapes() was last called. Only that call updates their shapes: in the
  // middle of a rewrite, a node may have no valid shape.
  std::vector<NodeId> stale_shapes_;
  llvm::DenseMap<NodeId, std::unique_ptr<Literal>> constants_;
  Record record_;  // reused by all rewrites
  // What one rewrite's result derives from: names of source nodes, and earlier rewrites. Both lists
  // are in derived_from_; the members are the positions where they start, and each list ends where
  // the next one starts.
  struct Derivation {
    size_t names, steps;
  };
  std::vector<Derivation> derivations_;
  std::vector<uint32_t> derived_from_;
  static constexpr uint32_t kFromTheStart = ~uint32_t{0};
  std::vector<uint32_t> latest_derivation_;  // by node; nodes past its end have none
  std::vector<NodeId> touched_;
  std::vector<uint32_t> ranks_;
  std::function<void(const Rewrite&)> on_rewrite_;
  std::function<void(const Refusal&)> on_refusal_, on_mismatch_;
  std::string pass_, only_rule_, id_;
  std::vector<std::string> without_;
  int iteration_ = 0;
  std::optional<Fault> fault_;
  uint64_t seen_version_;  // of the graph after the editor's last change
  int* rewrites_left_ = nullptr;
  std::vector<NodeId> order_;  // the result of NodesInOrder at order_version_
  std::optional<uint64_t> order_version_;
  int* counter_ = nullptr;
  int own_counter_ = 0;
  int64_t num_changes_ = 0;
  struct Fetch {
    StringId name;  // of the node
    int32_t index;
  };
  const Fetch* LostFetch() const;
  std::vector<Fetch> fetches_;  // boundary_.fetched_ports, unless given up
  std::string lost_by_;         // the rule that lost the first lost fetch, or empty
  bool trusts_shapes_ = false;
  std::vector<Shape> argument_shapes_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_EDITOR_H_
