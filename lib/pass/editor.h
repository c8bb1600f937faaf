// What a pass works with: the graph, what must stay, and every change to it, on record.
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

namespace grapnel {

class PassRegistry;  // lib/pass/registry.h

// One editor lives for one body and one run of the PassManager. Changes are only allowed between
// Begin() and End(), and through the editor: what a pass does otherwise is a fault, and fails it.
// Every change keeps users, control edges and the record right; none checks dtypes (the verifier
// does, after the pass).
class GRAPNEL_PUBLIC Editor {
 public:
  Editor(Graph& graph, Function* function, Boundary boundary, const proto::RewriterConfig& config,
         Evaluator* evaluator);
  ~Editor();

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  Module& module() { return graph_.module(); }
  Function* function() const { return function_; }
  // Names what is made for this body alone: the function's name, or what the user calls the graph.
  const std::string& id() const { return id_; }
  void set_id(llvm::StringRef id) { id_ = id.str(); }
  const proto::RewriterConfig& config() const { return config_; }
  Evaluator* evaluator() const { return evaluator_; }          // null: nothing can be computed
  const PassRegistry& registry() const { return *registry_; }  // the passes and rules of the run

  // --- What must stay.
  const Boundary& boundary() const { return boundary_; }
  bool IsFetched(const Node& node) const {
    return IsPreserved(node) && boundary_.fetched.contains(node.id());
  }
  // The first of the node's outputs after output 0 that is fetched: a rewrite that leaves the node
  // one output would lose it. 0: none is.
  int FurtherFetch(const Node& node) const;
  bool IsFed(const Node& node) const {
    return IsPreserved(node) && boundary_.fed.contains(node.id());
  }
  // Fetched, fed or kept: the node must stay under its name, with the values it has.
  bool IsPreserved(const Node& node) const {
    return node.id() < preserved_.size() && preserved_[node.id()];
  }

  // From here on fetched nodes are steps to run, and their values do not count: of a pass that was
  // asked for just that (auto_parallel).
  void GiveUpFetchedValues() { fetches_.clear(); }

  // Where the node is: what it says, else what is assumed of all that say nothing.
  llvm::StringRef DeviceOf(const Node& node) const {
    llvm::StringRef device = node.device();
    return device.empty() ? llvm::StringRef(boundary_.assumed_device) : device;
  }

  // --- Facts, cached until the node changes.
  const Shape& ShapeOf(Port port);  // static shape; of what is fed only after TrustFeeds or
                                    // set_fed_shapes
  DataType TypeOf(Port port);
  const ShapeMap& shapes();
  // Shapes of this body as Grappler infers them anew.
  ShapeMap InferGrapplerShapes(bool trust_feeds) const;
  // From here on shapes are those of the graph as it is now, whatever is edited, until the next
  // call: a node that is made has none. As in a pass of Grappler's, which asks once.
  void FixShapes();
  // Whether what is fed has the shape that its placeholder promises, until the pass ends.
  // TensorFlow trusts it in those passes whose toggle is AGGRESSIVE.
  void TrustFeeds(bool trust);
  void FollowShapes() { are_shapes_fixed_ = false; }
  // The value of a Const or HostConst node that is not fed; null otherwise. Valid until the node
  // changes.
  const Literal* ConstantOf(const Node& node);
  const Literal* ConstantOf(Port port) { return ConstantOf(graph_.node(port.node)); }
  bool IsConstant(const Node& node) const;  // the same question without reading the value

  // Grappler's order of nodes, which its passes change as they go (GrapplerOrder): place by id;
  // empty: as in the file.
  llvm::ArrayRef<uint32_t> ranks() const { return ranks_; }
  void SetOrder(llvm::ArrayRef<NodeId> order);
  // GrapplerOrder (lib/pass/node_order.h) of the body by these ranks; found once while neither
  // changes.
  std::vector<NodeId> NodesInOrder();

  // --- One rewrite.
  // Starts one for `rule`, which lives on, looking at `node` (none: at the whole body). False when
  // --limit is used up, or the pass has a fault: change nothing then, do not call End().
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
  // Ends it; counted and recorded only if something changed. A rewrite that changes nothing costs
  // next to nothing.
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
  // Whether this run wants the rule: not when another one of its pass was asked for alone.
  bool Runs(llvm::StringRef rule) const { return only_rule_.empty() || only_rule_ == rule; }
  // `node` went into what was made, though it was not removed, redirected or changed.
  void Used(const Node& node);
  // What the reader of the record should know of the rewrite under way. One sentence, no period;
  // formatted only where there is a reader.
  template <typename... Args>
  void Note(const char* format, Args&&... args) {
    if (on_rewrite_) SetNote(Sentence(format, std::forward<Args>(args)...));
  }
  // A rule that matched and does not fire: kept for --why-not, and only then formatted.
  template <typename... Args>
  void Refuse(llvm::StringRef rule, const Node& node, const char* format, Args&&... args) {
    if (on_refusal_ && Runs(rule))
      AddRefusal(rule, node, Sentence(format, std::forward<Args>(args)...));
  }

  // --- Changes.
  // A new node on `device`. The name is made unique if it is taken.
  Node AddNode(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device);
  // A new Const, on `device`, after `controls`.
  Node AddConstant(llvm::StringRef name, const Literal& value, llvm::StringRef device,
                   llvm::ArrayRef<Node> controls = {});
  // The node becomes a Const in place, with `controls` (each once) as its only inputs; name, device
  // and attributes that begin with '_' stay. The value is copied once, into the graph.
  void TurnIntoConstant(const Node& node, const Literal& value, llvm::ArrayRef<Node> controls);
  // Nothing may read the node any more, and it must not be preserved; what waits for it no longer
  // does.
  void RemoveNode(const Node& node);
  // Every data read of `from` reads `to` instead; control edges stay.
  void RedirectPort(Port from, Port to);
  // Every reader of `node` (data and control): data reads of any port go to `to`'s port, control
  // reads wait for `to`.
  void RedirectNode(const Node& node, Port to);
  void SetOp(const Node& node, llvm::StringRef op);
  void SetDevice(const Node& node, llvm::StringRef device);
  void AddInput(const Node& node, Port port);
  void SetInput(const Node& node, int slot, Port port);
  void RemoveInput(const Node& node, int slot);
  void SetInputs(const Node& node, llvm::ArrayRef<Port> ports);
  void AddControl(const Node& node, const Node& from);
  void RemoveControl(const Node& node, const Node& from);
  // The same for a caller who knows that the edge is not there. In constant time.
  void AppendControl(const Node& node, const Node& from);
  // The control input in `slot` becomes one from `from`, which the caller knows not to be there
  // yet; without `from` it goes, and the last one takes its place. In constant time.
  void SetControlSlot(const Node& node, int slot, const Node& from);
  // `node` also waits for whatever `from` waits for by control edges.
  void CopyControls(const Node& node, const Node& from);
  void SetAttr(const Node& node, llvm::StringRef key, llvm::StringRef value);
  void RemoveAttr(const Node& node, llvm::StringRef key);
  void CopyAttrs(const Node& to, const Node& from);
  // A new function of the library, empty, under that name. Filled by the caller, on no record.
  Function* AddFunction(llvm::StringRef name);
  // Functions that nobody reaches from the main graph go; see ReachableFunctions.
  void DropUnreachableFunctions(bool choices = true);
  // The rewrite took this function apart: for the record.
  void TouchedFunction(llvm::StringRef name);

  // --- What a pass does wrong: a change past the editor or outside of a rewrite, a node removed
  // that is still read or fetched, an edge from a node that is gone. The edit is left out.
  struct Fault {
    std::string rule, node;  // that was shown the node; empty where that is not known
    std::string what;        // "removed 'n', which 'y' still reads"
  };
  // The first since StartPass().
  const std::optional<Fault>& fault() const { return fault_; }
  // Finds what changed past the editor since its own last change, which `rule` then did (empty: not
  // known). In constant time where nothing did.
  void NoticeChanges(llvm::StringRef rule = {}) {
    if (graph_.version() != seen_version_) BlameChanges(rule);
  }

  // "a/b/c" with prefix "P" -> "a/b/P/c"; without a scope "P/c".
  static std::string NameInScope(llvm::StringRef name, llvm::StringRef prefix);

  // Names of source nodes that `node` was made from; itself for one that was there from the start.
  // Sorted.
  std::vector<std::string> OriginsOf(const Node& node) const;

  // --- For the PassManager.
  // `only_rule`: of this pass, and no other; empty: all.
  void StartPass(llvm::StringRef pass, int iteration, llvm::StringRef only_rule = "");
  void set_on_rewrite(std::function<void(const Rewrite&)> f) { on_rewrite_ = std::move(f); }
  void set_on_refusal(std::function<void(const Refusal&)> f) { on_refusal_ = std::move(f); }
  void set_limit(int* rewrites_left) { rewrites_left_ = rewrites_left; }  // null: no limit
  void set_counter(int* counter) { counter_ = counter; }
  // What is fed has the shapes that placeholders say, and arguments those of `arguments`, in order;
  // of one that is a resource, the shape of what it holds.
  void set_fed_shapes(std::vector<Shape> arguments) {
    trusts_shapes_ = true;
    argument_shapes_ = std::move(arguments);
  }
  void set_registry(const PassRegistry* registry) { registry_ = registry; }  // default: Get()
  const std::string& pass() const { return pass_; }                          // that is running
  int iteration() const { return iteration_; }                               // that it runs in
  // The error of a fetch that the graph no longer has. It names the rule that lost it, if a rewrite
  // did.
  Error CheckFetches() const;
  int64_t num_changes() const { return num_changes_; }
  // Nodes that changed, were made, or lost or won a reader since the last call, in order; for
  // worklists.
  std::vector<NodeId> TakeTouched();

 private:
  // The rewrite under way. Names are taken when something happens to a node, because it may be gone
  // at the end.
  struct Record {
    bool open = false;
    llvm::StringRef rule;
    Node node;                     // none: of the whole body
    StringId name = kEmptyString;  // of the node
    std::vector<StringId> used, made, changed, removed;
    std::vector<NodeId> results;  // made or changed: their origins grow by those of what was used
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
  void AddRefusal(llvm::StringRef rule, const Node& node, std::string reason);
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
  llvm::BitVector preserved_;  // what boundary_ names, by id
  const proto::RewriterConfig& config_;
  Evaluator* evaluator_;
  const PassRegistry* registry_;
  StringId const_op_, host_const_op_;
  std::unique_ptr<ShapeMap> shapes_;
  bool are_shapes_fixed_ = false, starts_pass_ = false, trusts_feeds_ = false;
  std::vector<NodeId>
      stale_shapes_;  // changed since shapes_ was last asked: half a rewrite has no shape
  llvm::DenseMap<NodeId, std::unique_ptr<Literal>> constants_;
  Record record_;  // kept from one rewrite to the next
  // One rewrite's share in provenance: source nodes by name, then earlier rewrites; where each
  // begins in derived_from_, both up to where the next one begins.
  struct Derivation {
    size_t names, steps;
  };
  std::vector<Derivation> derivations_;
  std::vector<uint32_t> derived_from_;
  static constexpr uint32_t kFromTheStart = ~uint32_t{0};
  std::vector<uint32_t> latest_derivation_;  // by node; nothing of those after its end
  std::vector<NodeId> touched_;
  std::vector<uint32_t> ranks_;
  std::function<void(const Rewrite&)> on_rewrite_;
  std::function<void(const Refusal&)> on_refusal_;
  std::string pass_, only_rule_, id_;
  int iteration_ = 0;
  std::optional<Fault> fault_;
  uint64_t seen_version_;  // of the graph after the editor's last change
  int* rewrites_left_ = nullptr;
  std::vector<NodeId> order_;  // NodesInOrder, at this version of the graph
  std::optional<uint64_t> order_version_;
  int* counter_ = nullptr;
  int own_counter_ = 0;
  int64_t num_changes_ = 0;
  struct Fetch {
    StringId name;  // of the node
    int32_t index;
  };
  const Fetch* LostFetch() const;
  std::vector<Fetch> fetches_;  // boundary_.fetched_ports
  std::string lost_by_;         // the rule that lost the first of them; empty: none did
  bool trusts_shapes_ = false;
  std::vector<Shape> argument_shapes_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_EDITOR_H_
