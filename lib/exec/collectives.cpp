#include "lib/exec/collectives.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

bool IsReceiver(llvm::StringRef op) {
  return op == "CollectiveBcastRecv" || op == "CollectiveBcastRecvV2";
}

// Returns the family of an op. Ops of one family may be in one group, such as CollectiveBcastSend
// and CollectiveBcastRecv.
llvm::StringRef Family(llvm::StringRef op) {
  op.consume_back("V2");
  return op == "CollectiveBcastSend" || op == "CollectiveBcastRecv" ? "CollectiveBcast" : op;
}

std::string Named(const Node& node) {
  std::string text = ("'" + node.name() + "'").str();
  return node.device().empty() ? text : (text + " (" + node.device() + ")").str();
}

std::string Named(llvm::ArrayRef<Node> nodes) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < nodes.size() && i < kShown; ++i) text += (i ? ", " : "") + Named(nodes[i]);
  if (nodes.size() > kShown) text += llvm::formatv(" and {0} more", nodes.size() - kShown).str();
  return text;
}

// Compares names with numbers by value: "/device:CPU:10" comes after "/device:CPU:2".
bool IsBefore(llvm::StringRef a, llvm::StringRef b) {
  while (!a.empty() && !b.empty()) {
    uint64_t number_a, number_b;
    if (llvm::isDigit(a[0]) && llvm::isDigit(b[0]) && !a.consumeInteger(10, number_a) &&
        !b.consumeInteger(10, number_b)) {
      if (number_a != number_b) return number_a < number_b;
      continue;
    }
    if (a[0] != b[0]) return a[0] < b[0];
    a = a.drop_front();
    b = b.drop_front();
  }
  return a.size() < b.size();
}

}  // namespace

bool IsCollective(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("CollectiveReduce", "CollectiveReduceV2", "CollectiveGather", "CollectiveGatherV2",
             true)
      .Cases("CollectiveBcastSend", "CollectiveBcastSendV2", "CollectiveBcastRecv",
             "CollectiveBcastRecvV2", true)
      .Cases("CollectiveReduceScatterV2", "CollectiveAllToAllV2", "NcclAllReduce", true)
      .Cases("CollectiveReduceV3", "CollectiveAllToAllV3", true)
      .Default(false);
}

Expected<Collectives::Keys> Collectives::KeysOf(const Member& member) {
  const Node& node = member.node;
  if (node.op() == "NcclAllReduce")
    return Keys{"shared_name '" + node.GetString("shared_name") + "'", node.GetInt("num_devices")};
  int64_t numbers[3];
  static const char* const kNames[] = {"group_size", "group_key", "instance_key"};
  for (int i = 0; i < 3; ++i) {
    if (!node.op().ends_with("V2")) {
      numbers[i] = node.GetInt(kNames[i]);
      continue;
    }
    const Tensor& setting = member.settings[i];
    if (setting.num_elements() != 1 || setting.dtype() != proto::DT_INT32)
      return MakeError("{0} must be one int32, it is {1}", kNames[i], setting.ToString());
    numbers[i] = setting.IntAt(0);
  }
  if (numbers[0] < 1) return MakeError("group_size must be positive, it is {0}", numbers[0]);
  return Keys{llvm::formatv("group {0}, instance {1}", numbers[1], numbers[2]).str(), numbers[0]};
}

std::string Communicator::ToString() const {
  return llvm::formatv("communicator of rank {0} in group {1} of {2}", rank, group, size).str();
}

Expected<Collectives::Keys> Collectives::KeysOfCommunicator(Member* member) {
  const Tensor& handle = member->settings[0];
  Communicator* communicator = nullptr;
  if (handle.dtype() == proto::DT_RESOURCE && handle.num_elements() == 1)
    communicator = dynamic_cast<Communicator*>(handle.data<ObjectRef>()->get());
  if (!communicator)
    return MakeError("input 1 is {0}, a communicator was expected", handle.ToString());
  if (member->settings[1].num_elements() > 0)
    return MakeError("group_assignment must be empty, as for TensorFlow, it is {0}",
                     member->settings[1].ToString());
  member->rank = communicator->rank;
  return Keys{llvm::formatv("group {0} with communicators, instance {1}", communicator->group,
                            communicator->next_instance++)
                  .str(),
              communicator->size};
}

Error Collectives::Fits(const Group& group, const Keys& keys, const Member& member) {
  if (group.members.empty()) return Error::success();
  const Member& first = group.members[0];
  auto differ = [&](llvm::StringRef what, llvm::StringRef a, llvm::StringRef b) {
    return MakeError("{0}: the members do not match: {1} of {2} is {3}, that of {4} is {5}",
                     keys.text, what, Named(first.node), a, Named(member.node), b);
  };
  if (Family(first.node.op()) != Family(member.node.op()))
    return differ("the op", first.node.op(), member.node.op());
  if (group.keys.size != keys.size)
    return differ("the group size", std::to_string(group.keys.size), std::to_string(keys.size));
  DataType type = first.node.GetType("T"), other = member.node.GetType("T");
  if (type != other) return differ("the dtype", DataTypeName(type), DataTypeName(other));
  for (const char* attr : {"merge_op", "final_op", "reduction"}) {
    std::string a = first.node.GetString(attr), b = member.node.GetString(attr);
    if (a != b) return differ(attr, a, b);
  }
  if (!first.value || !member.value || first.value.dims() == member.value.dims())
    return Error::success();
  return differ("the shape", DimsText(first.value.dims()), DimsText(member.value.dims()));
}

// Errors: a broadcast value does not have the shape that its receivers expect, or no member sends
// one.
Error Collectives::CheckShapes(const Group& group) {
  auto sender = llvm::find_if(group.members, [](const Member& m) { return bool(m.value); });
  if (sender == group.members.end())
    return MakeError("{0}: all {1} members receive, and none sends", group.keys.text,
                     group.members.size());
  for (const Member& member : group.members) {
    if (!IsReceiver(member.node.op())) continue;
    Dims dims;
    if (member.node.op() == "CollectiveBcastRecv") {
      std::optional<AttrView> attr = member.node.FindAttr("shape");
      std::optional<Shape> shape = attr ? attr->AsShape() : std::nullopt;
      if (!shape || !shape->IsFullyKnown()) continue;
      dims.assign(shape->dims().begin(), shape->dims().end());
    } else {
      const Tensor& shape = member.settings[3];
      for (int64_t i = 0; i < shape.num_elements(); ++i) dims.push_back(shape.IntAt(i));
    }
    if (llvm::ArrayRef<int64_t>(dims) == sender->value.dims()) continue;
    return MakeError("{0}: {1} sends a tensor of shape {2}, but {3} expects {4}", group.keys.text,
                     Named(sender->node), DimsText(sender->value.dims()), Named(member.node),
                     DimsText(dims));
  }
  return Error::success();
}

// Returns the order in which `merge` gets the members' values, as indices of group.members. The
// members are sorted by device already; those with communicators are ordered by rank instead, as in
// TensorFlow.
Expected<std::vector<size_t>> Collectives::OrderOfValues(const Group& group) {
  std::vector<size_t> order(group.members.size(), group.members.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const Member& member = group.members[i];
    size_t rank = member.rank < 0 ? i : static_cast<size_t>(member.rank);
    if (rank >= order.size() || order[rank] != order.size())
      return MakeError("{0}: rank {1} of {2} is taken, or not below the group size, {3}",
                       group.keys.text, rank, Named(member.node), order.size());
    order[rank] = i;
  }
  return order;
}

Error Collectives::Answer(Group group, Merge merge) {
  RETURN_IF_ERROR(CheckShapes(group));
  llvm::stable_sort(group.members, [](const Member& a, const Member& b) {
    if (IsBefore(a.node.device(), b.node.device())) return true;
    if (IsBefore(b.node.device(), a.node.device())) return false;
    return a.order < b.order;
  });
  ASSIGN_OR_RETURN(std::vector<size_t> order, OrderOfValues(group));
  std::vector<Tensor> values, results(group.members.size());
  for (size_t i : order) values.push_back(std::move(group.members[i].value));
  if (Error error = merge(values, results)) return Annotate(group.keys.text, std::move(error));
  for (size_t i = 0; i < group.members.size(); ++i) {
    group.members[i].answer.value = std::move(results[i]);
    group.members[i].rendezvous->Send(std::move(group.members[i].answer));
  }
  return Error::success();
}

// Errors: the group has already completed with other nodes. A node that was a member may join the
// group again in another iteration.
Error Collectives::CheckNotComplete(const Keys& keys, const Member& member) const {
  auto met = complete_.find(keys.text);
  bool is_one_too_many =
      met != complete_.end() &&
      llvm::none_of(met->second, [&](const Node& node) { return node == member.node; });
  if (!is_one_too_many) return Error::success();
  return MakeError("{0}: {1} joins a group that is already complete, with the members {2}",
                   keys.text, Named(member.node), Named(met->second));
}

Error Collectives::Join(Member member, Merge merge) {
  bool has_communicator = member.node.op().ends_with("V3");
  ASSIGN_OR_RETURN(Keys keys, has_communicator ? KeysOfCommunicator(&member) : KeysOf(member));
  Group complete;
  {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(CheckNotComplete(keys, member));
    std::vector<int64_t> iterations(member.answer.iterations.begin(),
                                    member.answer.iterations.end());
    auto at = waiting_.try_emplace({keys.text, std::move(iterations)}).first;
    RETURN_IF_ERROR(Fits(at->second, keys, member));
    at->second.keys = keys;
    at->second.members.push_back(std::move(member));
    if (static_cast<int64_t>(at->second.members.size()) < keys.size) return Error::success();
    complete = std::move(at->second);
    waiting_.erase(at);
    std::vector<Node>& met = complete_[keys.text];
    if (met.empty()) {
      for (const Member& each : complete.members) met.push_back(each.node);
    }
  }
  return Answer(std::move(complete), merge);
}

Error Collectives::WhyWaiting(const Node& node) const {
  std::lock_guard lock(mutex_);
  for (const auto& [key, group] : waiting_) {
    std::vector<Node> come;
    for (const Member& member : group.members) come.push_back(member.node);
    if (!llvm::is_contained(come, node)) continue;
    return MakeError("{0}: only {1} of its {2} members arrived, and no others will: {3}",
                     group.keys.text, come.size(), group.keys.size, Named(come));
  }
  return MakeError("waits for the other members of its group");
}

void Collectives::Clear() {
  std::lock_guard lock(mutex_);
  waiting_.clear();
  complete_.clear();
}

}  // namespace grapnel
