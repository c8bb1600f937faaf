// Arranges images in memory as the device prefers: channels last (NHWC) or channels first (NCHW).
//
//   Before:  x:NHWC -> Conv2D -> Relu -> MaxPool -> y
//   After:   x -> Transpose -> Conv2D:NCHW -> Relu -> MaxPool:NCHW -> Transpose -> y
//            "<node>-<input>-TransposeNHWCToNCHW-LayoutOptimizer",
//            "<node>-<output>-<reader>-TransposeNCHWToNHWC-LayoutOptimizer"
//
// Ops with a data_format are converted first, each between transposes of its own; then ops that
// work in any layout follow; then transposes that cancel are removed.
//
// On the CPU this happens only if cpu_layout_conversion is NCHW_TO_NHWC. If the graph names a GPU,
// the layout is the one that its kernels prefer: channels last if at least half of the convolutions
// are in a dtype of tensor cores (half, bfloat16, and float unless gradients of convolutions are in
// float too), channels first otherwise. GPUs are assumed to be from 2020 or later.
//
// Refuses: NHWC_TO_NCHW on the CPU, which TensorFlow does not have; graphs in which a loop would
// start with a tensor in the old layout and pass it on in the new one; see also the rules.
#include "lib/ir/device_name.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"
#include "passes/layout/conversion.h"

namespace grapnel::layout {
namespace {

bool IsOnGpu(const Node& node) { return DevicePartMentions(node.device(), "gpu"); }

bool PrefersChannelsLast(const Graph& graph) {
  bool has_float_gradient = false;
  for (Node node : graph.nodes()) {
    Family family = FamilyOf(node);
    bool is_gradient = node.op() == "Conv2DBackpropFilter" || node.op() == "Conv2DBackpropInput" ||
                       family == Family::kConv3DBackpropFilter ||
                       family == Family::kConv3DBackpropInput;
    has_float_gradient |= is_gradient && IsOnGpu(node) && node.GetType("T") == proto::DT_FLOAT;
  }
  int convolutions = 0, preferring = 0;
  for (Node node : graph.nodes()) {
    if ((node.op() != "Conv2D" && node.op() != "Conv3D") || !IsOnGpu(node)) continue;
    DataType type = node.GetType("T");
    ++convolutions;
    preferring += type == proto::DT_HALF || type == proto::DT_BFLOAT16 ||
                  (type == proto::DT_FLOAT && !has_float_gradient);
  }
  return convolutions > 0 && 2 * preferring >= convolutions;
}

class Layout : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    const Graph& graph = edit.graph();
    bool has_gpu = false;
    for (Node node : graph.nodes()) has_gpu |= IsOnGpu(node);
    auto wanted = edit.config().cpu_layout_conversion();
    if (!has_gpu && wanted != proto::RewriterConfig::NCHW_TO_NHWC) {
      if (wanted == proto::RewriterConfig::NHWC_TO_NCHW) RefuseAll(edit);
      if (edit.wants_mismatches()) ReportNoGpu(edit);
      return Error::success();
    }
    bool to_last = !has_gpu || PrefersChannelsLast(graph);
    bool aggressive = edit.config().layout_optimizer() == proto::RewriterConfig::AGGRESSIVE;
    Conversion conversion(edit, has_gpu ? "gpu" : "cpu", to_last ? "NCHW" : "NHWC",
                          to_last ? "NHWC" : "NCHW", aggressive);
    if (BreaksALoop(conversion)) return Error::success();
    Convert(conversion, aggressive);
    return Error::success();
  }

 private:
  static void Convert(Conversion& conversion, bool aggressive) {
    std::vector<NodeId> order = TopologicalOrder(conversion.graph);
    RuleTable sensitive = RulesOf(kSensitive, conversion);
    bool any = Show(conversion, sensitive, order);
    // If convert_sensitive converted nothing, the other rules run only if AGGRESSIVE, or if the
    // user selected one of them alone.
    if (!any && !aggressive && !sensitive.all().empty()) return;
    Show(conversion, RulesOf(kAgnostic, conversion), order);
    auto all = llvm::to_vector(llvm::seq<NodeId>(0, conversion.graph.end_id()));
    Show(conversion, RulesOf(kPairs, conversion), all);
    Show(conversion, RulesOf(kAroundPads, conversion), all);
  }

  static RuleTable RulesOf(int phase, Conversion& conversion) {
    return RuleTable(conversion.edit, Conversion::kOptimizer, phase);
  }

  // Applies the rules to the nodes. True if one of them rewrote a node.
  static bool Show(Conversion& conversion, const RuleTable& rules, llvm::ArrayRef<NodeId> nodes) {
    bool rewrote = false;
    for (NodeId id : nodes) {
      if (conversion.stopped) break;
      if (conversion.graph.IsAlive(id))
        rewrote |= ApplyRules(conversion, rules, conversion.graph.node(id));
    }
    return rewrote;
  }

  static void RefuseAll(Editor& edit) {
    for (Node node : edit.graph().nodes()) {
      if (IsSensitive(FamilyOf(node)))
        edit.Refuse(kConvertSensitive, node,
                    "'{0}' stays: TensorFlow has no NHWC_TO_NCHW on the CPU\n"
                    "use NCHW_TO_NHWC, or a GPU",
                    node.name());
    }
  }

  // The reason that ops with a layout stay, for questions about one of them.
  static void ReportNoGpu(Editor& edit) {
    for (Node node : edit.graph().nodes()) {
      if (IsSensitive(FamilyOf(node)))
        edit.Mismatch(kConvertSensitive, node,
                      "no node requests a GPU, and cpu_layout_conversion is not NCHW_TO_NHWC");
    }
  }

  // True if the node will read, possibly through agnostic ops, a tensor that is going to be
  // converted.
  static bool WillFollow(Conversion& conversion, const Node& node) {
    std::vector<Node> open = {node};
    llvm::DenseSet<NodeId> seen;
    while (!open.empty()) {
      Node current = open.back();
      open.pop_back();
      for (int i : DataInputs(current)) {
        Node input = current.input_node(i);
        if (!input || !seen.insert(input.id()).second) continue;
        if (FormatsOfSensitive(conversion, input) && conversion.MayChange(kConvertSensitive, input))
          return true;
        if (IsAgnostic(FamilyOf(input))) open.push_back(input);
      }
    }
    return false;
  }

  // True, with a refusal, if a loop would need a Transpose between a NextIteration and its Merge:
  // that makes a cycle that is not a loop.
  static bool BreaksALoop(Conversion& conversion) {
    for (Node next : conversion.graph.nodes()) {
      if (next.op() != "NextIteration" || conversion.RankOf({next.id(), 0}) != 4) continue;
      if (!conversion.IsOnDevice(next) || !WillFollow(conversion, next)) continue;
      for (const Use& use : next.UsesOf(0)) {
        Node merge = conversion.graph.node(use.node);
        for (int i = 0; i < merge.num_inputs(); ++i) {
          Node input = merge.input_node(i);
          if (input == next || WillFollow(conversion, input)) continue;
          conversion.edit.Refuse(kConvertSensitive, merge,
                                 "the loop at '{0}' would start in one layout and go on in the "
                                 "other\nlet the loop start with a converted tensor",
                                 merge.name());
          return true;
        }
      }
    }
    return false;
  }
};

GRAPNEL_PASS(Layout,
             (PassInfo{.name = Conversion::kOptimizer,
                       .config_name = "layout",
                       .order = 12,
                       .default_on = true,
                       .run_once = true,
                       .toggle = "layout_optimizer",
                       .help = "arranges images in memory as the device prefers",
                       .refuses = "graphs without GPUs, unless cpu_layout_conversion is "
                                  "NCHW_TO_NHWC; graphs in which a loop would mix layouts"}), );

}  // namespace
}  // namespace grapnel::layout
