#include "lib/place/explanation.h"

#include <algorithm>
#include <map>
#include <set>

#include "lib/place/failure_text.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostMembers = 8;  // members of a group that a list shows

std::string NameAndOp(const Node& node) {
  return ("'" + node.name() + "' (" + node.op() + ")").str();
}

// Breaks `text` into lines of readable width: `first` precedes the first line, and as many spaces
// precede the other lines.
std::string Wrapped(llvm::StringRef text, llvm::StringRef first) {
  constexpr size_t kWidth = 100;
  std::string lines = first.str();
  size_t column = first.size();
  llvm::SmallVector<llvm::StringRef, 32> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    bool is_start = column == first.size();
    if (!is_start && column + 1 + word.size() > kWidth) {
      lines += '\n';
      lines.append(first.size(), ' ');
      column = first.size();
      is_start = true;
    }
    if (!is_start) lines += ' ';
    lines += word;
    column += word.size() + (is_start ? 0 : 1);
  }
  return lines + "\n";
}

std::string Wanted(const DeviceSpec& name) { return name.IsOpen() ? "nothing" : name.ToString(); }

// Explains the device of one node, one fact per line.
class Explainer {
 public:
  Explainer(const PlacementContext& context, const Node& node)
      : c_(context), node_(node), groups_(*context.placement.groups) {
    NodeId root = groups_.RootOf(node.id());
    asked_ = c_.placement.asked.empty() ? groups_.GroupOf(node.id()) : c_.placement.asked[root];
    members_ = groups_.MembersOf(node.id());
  }

  std::string Text() {
    const NodePlacement& placed = c_.placement.Of(node_.id());
    text_ = NameAndOp(node_);
    if (placed.device >= 0) {
      text_ += " runs on " + c_.devices.device(placed.device).text + "\n";
    } else {
      text_ += " has no device: the graph cannot be placed\n";
    }
    ReportRequest(placed);
    ReportKernels();
    ReportGroup();
    ReportLimits();
    ReportDropped();
    if (placed.device >= 0) {
      ReportSoft(placed);
      ReportRule(placed);
      PrintAdvice(placed);
    }
    return std::move(text_);
  }

  std::string WhyNot(const DeviceSpec& wanted) const {
    const NodePlacement& placed = c_.placement.Of(node_.id());
    std::string type = wanted.type.text().str();
    auto index = llvm::find(c_.devices.types(), wanted.type);
    if (wanted.type && index != c_.devices.types().end()) {
      uint32_t bit = uint32_t{1} << (index - c_.devices.types().begin());
      if (!(groups_.OwnTypes(node_.id()) & bit))
        return c_.kernels.name() + " has no kernel for it: " + MissingText(node_, type);
      for (NodeId id : members_) {
        if (!(groups_.OwnTypes(id) & bit))
          return "it must share a device with " + Text(id) + ", whose kernels are " +
                 MissingText(c_.graph.node(id), type);
      }
    }
    if (placed.rule == PlacementRule::kAssigned) return "the caller placed it there";
    DeviceSpec own = groups_.RequestOf(node_.id());
    if (!own.IsOpen() && !own.IsCompatibleWith(wanted)) return "it asks for " + own.ToString();
    if (!asked_.requested.IsOpen() && !asked_.requested.IsCompatibleWith(wanted))
      return WhyGroupIsNot(wanted);
    if (placed.witness != kNoNode) return "it stays with " + Text(placed.witness);
    return RuleText(placed.rule) + std::string(" is ") + DeviceText(placed.device);
  }

 private:
  std::string WhyGroupIsNot(const DeviceSpec& wanted) const {
    Colocation::Chain chain = groups_.NearestRequest(node_.id(), wanted, /*wanted=*/false);
    std::string text =
        "it must share a device with nodes that ask for " + asked_.requested.ToString();
    return chain.nodes.empty() ? text : text + ", such as " + Text(chain.nodes.back());
  }

  void Say(const std::string& line) { text_ += Wrapped(line, "  - "); }
  void Detail(const std::string& line) { text_ += Wrapped(line, "      "); }
  std::string Text(NodeId id) const { return NameAndOp(c_.graph.node(id)); }
  const std::string& DeviceText(int device) const { return c_.devices.device(device).text; }

  void ReportRequest(const NodePlacement& placed) {
    if (placed.rule == PlacementRule::kAssigned) {
      Say("the caller placed it there; the placer does not move it");
    } else if (node_.device().empty()) {
      Say("it asks for no device");
    } else {
      Say(("it asks for " + node_.device()).str());
    }
  }

  void ReportKernels() {
    if (!c_.kernels.Knows(node_)) {
      Say("no kernel restricts it (a function, or a custom op): it may be on any device");
      return;
    }
    uint32_t own = groups_.OwnTypes(node_.id());
    Say(c_.kernels.name() + " has kernels for it on " + TypesText(c_.devices, own));
    for (size_t i = 0; i < c_.devices.types().size(); ++i) {
      std::string type = c_.devices.types()[i].text().str();
      if (!(own & (uint32_t{1} << i))) {
        Detail(MissingText(node_, type));
      } else if (type != "CPU") {
        ReportHostArguments(type);
      }
    }
  }

  // Explains why a node has no kernel on a device type: the op has no kernel there, or no kernel
  // accepts the node's attributes.
  std::string MissingText(const Node& node, const std::string& type) const {
    std::map<std::string, std::set<std::string>> wanted;  // accepted values, by attribute
    bool any = false;
    for (const KernelSummary& kernel : c_.kernels.KernelsOf(node)) {
      if (kernel.device != type && kernel.device != "DEFAULT") continue;
      if (kernel.label != node.GetString("_kernel")) continue;
      any = true;
      for (const auto& [attr, values] : kernel.constraints)
        wanted[attr].insert(values.begin(), values.end());
    }
    std::string text = "none on " + type;
    if (!any) return text + ", whatever the dtype";
    // Lists the attributes whose value no kernel accepts. If some kernel accepts each value, no
    // kernel accepts the combination: lists all attributes.
    auto is_taken = [&](const auto& each) {
      auto value = node.Attr(each.first);
      return value && each.second.count(value->ToString()) > 0;
    };
    bool each_is_taken = llvm::all_of(wanted, is_taken);
    for (const auto& each : wanted) {
      auto value = node.Attr(each.first);
      if (!value || (is_taken(each) && !each_is_taken)) continue;
      text += " for " + each.first + "=" + value->ToString() + "; kernels exist for " +
              llvm::join(each.second, ", ");
    }
    return text;
  }

  void ReportHostArguments(const std::string& type) {
    auto kernel = c_.kernels.Find(node_, type);
    if (!kernel || kernel->host_arguments.empty()) return;
    Detail("the kernel on " + type + " keeps " + llvm::join(kernel->host_arguments, ", ") +
           " in the host's memory");
  }

  void ReportGroup() {
    if (members_.size() < 2) return;
    Say("it must share a device with " + Plural(members_.size() - 1, "other node") + ": " +
        MemberList());
    if (asked_.requested.IsOpen()) {
      Detail("none of these nodes has a request that takes effect");
    } else {
      ReportDecider();
    }
  }

  // Reports the device types that the node has a kernel for but its group does not, and the members
  // without such a kernel.
  void ReportLimits() {
    for (size_t i = 0; i < c_.devices.types().size(); ++i) {
      uint32_t bit = uint32_t{1} << i;
      if (groups_.OwnTypes(node_.id()) & ~asked_.types.bits & bit)
        ReportLimit(c_.devices.types()[i].text().str(), bit);
    }
  }

  void ReportLimit(const std::string& type, uint32_t bit) {
    std::vector<NodeId> lacking;
    for (NodeId id : members_) {
      if (!(groups_.OwnTypes(id) & bit)) lacking.push_back(id);
    }
    if (lacking.empty()) {
      Say("it cannot be on " + type +
          ", with or without a kernel: the strings or handles in its list, or a function that uses "
          "the same handle, cannot be there");
      return;
    }
    Say("it cannot be on " + type + " because of " + Text(lacking.front()) + ", which has " +
        MissingText(c_.graph.node(lacking.front()), type));
    for (const ColocationEdge& edge : groups_.ChainBetween(node_.id(), lacking.front()).edges)
      Detail("they are tied because " + ColocationEdgeText(c_.graph, edge));
    if (lacking.size() == 1) return;
    std::string others;
    for (NodeId id : llvm::ArrayRef(lacking).drop_front().take_front(kMostMembers))
      others += (others.empty() ? "" : ", ") + Text(id);
    if (lacking.size() - 1 > kMostMembers) others += ", ...";
    Detail(Plural(lacking.size() - 1, "other") + " without a kernel on " + type + ": " + others);
  }

  std::string MemberList() const {
    std::string text;
    size_t shown = 0;
    for (NodeId id : members_) {
      if (id == node_.id()) continue;
      if (++shown > kMostMembers) {
        text += ", ...";
        break;
      }
      text += (text.empty() ? "" : ", ") + Text(id);
    }
    return text;
  }

  // Reports the member whose request became the group's, and the edges between that member and the
  // node; or, if the request was merged, the members' requests.
  void ReportDecider() {
    Colocation::Chain chain = groups_.NearestRequest(node_.id(), asked_.requested, true);
    std::string what = "together they ask for " + asked_.requested.ToString();
    if (chain.nodes.empty()) {
      Detail(what);
      return;
    }
    NodeId decider = chain.nodes.back();
    if (groups_.RequestOf(decider) != asked_.requested) {
      Detail(what + ", merged from their requests");
      ReportRequestsOfMembers();
      return;
    }
    Detail(what + ", as " + (decider == node_.id() ? "it does itself" : Text(decider) + " does"));
    for (const ColocationEdge& edge : chain.edges)
      Detail("because " + ColocationEdgeText(c_.graph, edge));
    if (chain.edges.empty()) {
      size_t shown = 0;
      for (const ColocationEdge& edge : groups_.edges()) {
        if ((edge.a == node_.id() || edge.b == node_.id()) && ++shown <= kMostMembers)
          Detail("tied because " + ColocationEdgeText(c_.graph, edge));
      }
    }
  }

  void ReportRequestsOfMembers() {
    size_t shown = 0;
    for (NodeId id : members_) {
      const DeviceSpec& own = groups_.RequestOf(id);
      if (!own.IsOpen() && ++shown <= kMostMembers)
        Detail(Text(id) + " asks for " + own.ToString());
    }
    shown = 0;
    for (const ColocationEdge& edge : groups_.edges()) {
      if ((edge.a == node_.id() || edge.b == node_.id()) && ++shown <= kMostMembers)
        Detail("tied because " + ColocationEdgeText(c_.graph, edge));
    }
  }

  void ReportDropped() {
    for (const DroppedRequest& dropped : groups_.dropped()) {
      if (!llvm::is_contained(members_, dropped.node)) continue;
      ColocationEdge edge{dropped.kind, dropped.from, dropped.node, 0};
      if (dropped.kind == ColocationEdge::kResource || dropped.kind == ColocationEdge::kReference ||
          dropped.kind == ColocationEdge::kDataset) {
        Say("the request " + dropped.was.ToString() + " at " + Text(dropped.node) +
            " does not count: " + ColocationEdgeText(c_.graph, edge) +
            ", and a reader is placed where its input was made");
      } else {
        Say("the requests at " + Text(dropped.node) + " and " + Text(dropped.from) +
            " cannot both be met (" + dropped.was.ToString() +
            " was one): placement is soft, so they are reduced to " + Wanted(dropped.now));
      }
    }
  }

  void ReportSoft(const NodePlacement& placed) {
    if (!placed.was_softened) return;
    bool is_there = c_.devices.Find(asked_.requested).has_value();
    Say("no device can serve " + asked_.requested.ToString() + ": " +
        (is_there ? "the device is there and has no kernel for this"
                  : "there is no such device in the list"));
    Detail("placement is soft, so type and number of the request are dropped; with " +
           c_.options.words.hard + " this is an error");
  }

  void ReportRule(const NodePlacement& placed) {
    auto with = [&](const char* what) {
      return std::string(what) + " " + Text(placed.witness) + ", on " + DeviceText(placed.device);
    };
    switch (placed.rule) {
      case PlacementRule::kIdentity:
        return Say(
            with("an Identity without a request stays with its input, as its input "
                 "and its reader ask for the same device:"));
      case PlacementRule::kMetadata:
        return Say(with("it reads a shape and no values, so it stays with its input"));
      case PlacementRule::kGenerator:
        return Say(with(
            "it has no inputs, so it is placed last, on the device of all its readers, such as"));
      case PlacementRule::kGroup:
        return Say(with("the first of its group to be placed decided:"));
      default:
        break;
    }
    if (node_.num_inputs() == 0 && ReadersDiffer())
      Say("it has no inputs and would go to its readers, but they are on several devices");
    std::vector<int> possible = Possible(placed);
    std::string others = " of " + Plural(possible.size(), "device") + " possible";
    if (placed.rule == PlacementRule::kDefault) return Say("the default device is one" + others);
    if (placed.rule != PlacementRule::kFirst) return;
    if (possible.size() == 1) return Say("it is the only device that is left");
    auto priority = [&](int device) { return asked_.types.PriorityOf(c_.devices.TypeOf(device)); };
    bool is_preferred = llvm::any_of(
        possible, [&](int device) { return priority(device) < priority(placed.device); });
    Say("it is the first" + others +
        (is_preferred ? ": its kernel there has the highest priority"
                      : ": GPUs come before CPUs, then devices in the task of the first device "
                        "listed, then by name"));
  }

  bool ReadersDiffer() const {
    return llvm::any_of(node_.uses(), [&](const Use& use) {
      return c_.placement.Of(use.node).device != c_.placement.Of(node_.uses().front().node).device;
    });
  }

  // Devices that were possible for the group.
  std::vector<int> Possible(const NodePlacement& placed) const {
    DeviceSpec wanted = asked_.requested;
    if (placed.was_softened) {
      wanted.type = DeviceWord();
      wanted.id = DeviceSpec::kOpen;
    }
    std::vector<int> possible;
    for (int i = 0; i < c_.devices.size(); ++i) {
      bool has_kernel = asked_.types.Has(c_.devices.TypeOf(i));
      if (has_kernel && wanted.Matches(c_.devices.device(i).name)) possible.push_back(i);
    }
    return possible;
  }

  // Adds advice for two surprising placements: an int32 Const on a device other than a CPU, and a
  // request whose device type and id soft placement dropped although the device exists.
  void PrintAdvice(const NodePlacement& placed) {
    llvm::StringRef type = c_.devices.device(placed.device).name.type.text();
    bool is_constant = node_.op() == "Const";
    if (is_constant && type != "CPU" && node_.GetType("dtype") == proto::DT_INT32) {
      Say("it is on the " + type.str() +
          " by name only: shapes and indices are int32, so TensorFlow "
          "keeps int32 in host memory, where the kernels that read shapes want it; nothing is "
          "copied "
          "to the device");
    }
    if (placed.was_softened && c_.devices.Find(asked_.requested) && !node_.device().empty()) {
      Say("such a request usually comes from a tf.device block around the code that made the node; "
          "to "
          "request what happens anyway, make it under tf.device('/cpu:0') or tf.device(None)");
    }
  }

  const PlacementContext& c_;
  Node node_;
  const Colocation& groups_;
  ColocationGroup asked_;
  std::vector<NodeId> members_;
  std::string text_;
};

}  // namespace

std::string ExplainNode(const PlacementContext& context, const Node& node) {
  return Explainer(context, node).Text();
}

std::string WhyNotOn(const PlacementContext& context, const Node& node, const DeviceSpec& wanted) {
  return Explainer(context, node).WhyNot(wanted);
}

std::string ExplainFailure(const PlacementContext& context) {
  const PlacementFailure& failure = *context.placement.failure;
  const Colocation& groups = *context.placement.groups;
  std::string text = failure.message + "\n\nwhat conflicts:\n";
  for (size_t i = 0; i < failure.nodes.size(); ++i) {
    Node node = context.graph.node(failure.nodes[i]);
    text += "  " + NameAndOp(node);
    const DeviceSpec& own = groups.RequestOf(node.id());
    text += own.IsOpen() ? ", asks for nothing\n" : ", asks for " + own.ToString() + "\n";
    if (i < failure.edges.size())
      text += "    | " + ColocationEdgeText(context.graph, failure.edges[i]) + "\n";
  }
  text += "what to change:\n";
  for (const std::string& advice : failure.advice) text += Wrapped(advice, "  - ");
  return text;
}

}  // namespace grapnel
