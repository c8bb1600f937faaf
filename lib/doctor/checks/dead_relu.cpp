// Finds units of a Relu that are zero for every row of the batch in every step: neither values nor
// gradients pass through them.
//
// Skips Relus with fewer than 32 rows, with one unit, or after the last layer, and Relus of which
// less than four fifths of the units are dead: a few dead units are usual. Does not judge a run
// whose inputs are constant. In a debug folder, finds only Relus that are zero everywhere in all
// their records, at least two of 32 elements or more.
#include <map>

#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"
#include "lib/tfdbg/debug_folder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

constexpr int64_t kFewestRows = 32;
constexpr double kShare = 0.8;
const char* const kAdvice =
    "lower the learning rate, start with He weights and zero biases, scale the inputs, or use "
    "a leaky Relu";

struct Seen {
  Node node;
  bool has_channels_first = false;  // the units are dimension 1; else the last dimension
  std::vector<bool> lives;          // by unit: was not zero
  int64_t rows = 0;                 // most rows in one step
};

// True for ops that keep the layout of their first input.
bool KeepsLayout(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Identity", "Squeeze", "Add", "AddV2", "AddN", true)
      .Cases("Sub", "Mul", "Maximum", true)
      .Default(false);
}

// True if the layer before the Relu has its channels in dimension 1 (NCHW, NCDHW): the nearest op
// before it with a data format says so.
bool HasChannelsFirst(Node node) {
  constexpr int kMost = 16;  // ops between the layer and its Relu
  for (int i = 0; i < kMost && node.num_inputs() > 0; ++i) {
    node = node.input_node(0);
    if (!node) return false;
    std::string format = node.GetString("data_format");
    if (!format.empty()) return llvm::StringRef(format).starts_with("NC");
    if (!KeepsLayout(node.op())) return false;
  }
  return false;
}

class DeadRelu : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    for (const Node& node : context.network->nodes()) {
      bool is_relu = node.op() == "Relu" || node.op() == "Relu6";
      // Skip a Relu after the last layer: it may be a hinge loss, which is zero when training is
      // successful.
      if (!is_relu || !context.network->IsForward(node) || !context.network->IsHidden({node, 0}))
        continue;
      auto seen = std::make_shared<Seen>();
      seen->node = node;
      seen->has_channels_first = HasChannelsFirst(node);
      seen_.push_back(seen);
      watches.Add({node, 0}, [seen](int, const Tensor& value) { Count(value, *seen); });
    }
    const std::vector<BodyPort>& feeds = context.network->ends().feeds;
    fed_.resize(feeds.size());
    for (size_t i = 0; i < feeds.size(); ++i)
      watches.Add(feeds[i],
                  [this, i](int, const Tensor& value) { fed_[i] += StatisticsOf(value); });
  }

  std::string Run(const DoctorContext& context) override {
    if (context.debug) return CheckRecords(*context.debug);
    if (InputsAreConstant()) return "the inputs are constant: Relus may live with other inputs";
    for (const auto& seen : seen_) {
      int64_t units = seen->lives.size(),
              dead = std::count(seen->lives.begin(), seen->lives.end(), false);
      if (seen->rows < kFewestRows || units < 2 || dead < kShare * units) continue;
      Find(dead == units ? Confidence::kCertain : Confidence::kLikely, seen->node,
           dead == units ? Sentence("all {0} units of this Relu are zero for every row in every "
                                    "step: it passes neither values nor gradients",
                                    units)
                         : Sentence("{0} of {1} units of this Relu are zero for every row in every "
                                    "step",
                                    dead, units),
           kAdvice);
    }
    return seen_.empty() ? "there is no Relu between layers" : "";
  }

 private:
  // True if something was fed besides single numbers, such as a seed, and all of it was constant.
  bool InputsAreConstant() const {
    auto is_single = [](const NumberStatistics& fed) { return fed.elements() <= 1; };
    auto is_constant = [](const NumberStatistics& fed) { return fed.IsConstant(); };
    return !llvm::all_of(fed_, is_single) && llvm::all_of(fed_, is_constant);
  }

  // Checks the records of a debug folder. They have counts, not elements, so they only show whether
  // a whole Relu is zero.
  std::string CheckRecords(const DebugRun& run) {
    // By graph and op: the number of records, and whether all elements in all of them are zero.
    std::map<std::pair<int, int>, std::pair<int, bool>> relus;
    for (const DebugTrace& trace : run.traces) {
      bool is_counted = trace.value.what == Recorded::kCounts && trace.graph >= 0 && trace.op >= 0;
      if (!is_counted || run.graphs[trace.graph].ops[trace.op].type != "Relu") continue;
      const Health& health = trace.value.health;
      auto& [times, is_zero] = relus.try_emplace({trace.graph, trace.op}, 0, true).first->second;
      ++times;
      is_zero &= health.elements >= kFewestRows && health.zero == health.elements;
    }
    for (const auto& [place, seen] : relus) {
      if (seen.first < 2 || !seen.second) continue;
      const DebugGraph& graph = run.graphs[place.first];
      Find(Confidence::kLikely, graph.ops[place.second].name.str(),
           Sentence("this Relu was zero everywhere in all {0} records of it: it passes neither "
                    "values nor gradients",
                    seen.first),
           kAdvice);
      findings.back().function = graph.name.str();
    }
    return relus.empty() ? "no counts of a Relu were recorded" : "";
  }

  static void Count(const Tensor& value, Seen& seen) {
    if (value.rank() < 2 || value.num_elements() == 0) return;
    int axis = seen.has_channels_first ? 1 : value.rank() - 1;
    int64_t units = value.dim(axis), step = 1;  // `step`: elements of one unit in a row
    for (int i = axis + 1; i < value.rank(); ++i) step *= value.dim(i);
    if (seen.lives.empty()) seen.lives.resize(units);
    if (static_cast<int64_t>(seen.lives.size()) != units) return;
    seen.rows = std::max(seen.rows, value.num_elements() / units);
    int64_t at = 0;
    ForEachNumber(value, [&](double x) {
      if (x != 0) seen.lives[at / step] = true;
      if (++at == units * step) at = 0;
    });
  }

  std::vector<std::shared_ptr<Seen>> seen_;
  std::vector<NumberStatistics> fed_;  // by feed
};

GRAPNEL_CHECK(DeadRelu, {.name = "dead_relu",
                         .stage = CheckStage::kActivation,
                         .looks_for = "a Relu whose units are zero for every row in every step",
                         .needs = {Evidence::kValues, Evidence::kDebugFolder}});

}  // namespace
}  // namespace grapnel
