#include "lib/ir/text_inference.h"

#include <set>

#include "llvm/ADT/Twine.h"

namespace grapnel {
namespace {

constexpr int64_t kMaxPorts = 1 << 20;

class Inference {
 public:
  explicit Inference(std::vector<InferenceNode>& nodes)
      : nodes_(nodes), waits_(nodes.size(), 0), readers_(nodes.size()) {}

  void Run() {
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      for (const auto& input : nodes_[i].inputs) {
        // Does not wait for arguments, whose dtypes are known, or for constants within inputs,
        // whose dtypes follow from their readers.
        if (input.node == kNoNode || nodes_[input.node].is_literal || nodes_[input.node].resolved)
          continue;
        readers_[input.node].push_back(i);
        ++waits_[i];
      }
    }
    // Infers the nodes that wait for no input. Try goes on to their readers.
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].is_literal && (waits_[i] == 0 || NeedsNoInput(nodes_[i])))
        Try(i, /*in_part=*/false);
    }
    // The nodes that remain are on cycles, or depend on these. Infers the first one of which some
    // inputs are known from these alone; Try goes on to its readers.
    while (!candidates_.empty()) {
      uint32_t next = *candidates_.begin();
      candidates_.erase(candidates_.begin());
      if (!nodes_[next].resolved) Try(next, /*in_part=*/true);
    }
  }

 private:
  // Returns the given or inferred value of an attribute. Its default does not count here, because
  // dtypes of inputs take precedence over it.
  static std::optional<AttrView> Find(const InferenceNode& node, llvm::StringRef key) {
    for (const auto& [name, value] : node.given) {
      if (name == key) return value;
    }
    const std::string* inferred = node.FindInferred(key);
    return inferred ? std::optional<AttrView>(AttrView(*inferred)) : std::nullopt;
  }

  static bool NeedsNoInput(const InferenceNode& node) {
    if (!node.info) return true;
    return llvm::all_of(node.info->inputs, [&](const OpArg& arg) {
      for (const std::string* key : {&arg.type_attr, &arg.number_attr, &arg.type_list_attr}) {
        if (!key->empty() && !Find(node, *key)) return false;
      }
      return true;
    });
  }

  // Infers node `i`, then each reader for which it was the last unknown input. `in_part`: some
  // inputs of `i` may still be unknown.
  void Try(uint32_t i, bool in_part) {
    if (nodes_[i].resolved || !Resolve(nodes_[i], in_part)) return;
    llvm::SmallVector<uint32_t, 16> done = {i};
    while (!done.empty()) {
      uint32_t source = done.pop_back_val();
      for (uint32_t reader : readers_[source]) {
        --waits_[reader];
        if (nodes_[reader].resolved) continue;
        if (waits_[reader] == 0 && Resolve(nodes_[reader], false)) {
          candidates_.erase(reader);
          done.push_back(reader);
        } else {
          candidates_.insert(reader);
        }
      }
    }
  }

  // Returns the number of tensors of an argument; -1 if unknown.
  static int64_t CountOf(const InferenceNode& node, const OpArg& arg) {
    if (!arg.type_list_attr.empty()) {
      auto value = Find(node, arg.type_list_attr);
      auto types = value ? value->AsTypes() : std::nullopt;
      return types ? static_cast<int64_t>(types->size()) : -1;
    }
    if (arg.number_attr.empty()) return 1;
    auto value = Find(node, arg.number_attr);
    return value ? value->AsInt().value_or(-1) : -1;
  }

  DataType TypeOfInput(const InferenceNode::Input& input) const {
    if (input.node == kNoNode) return proto::DT_INVALID;
    const InferenceNode& source = nodes_[input.node];
    int64_t port = input.port;
    if (!input.output.empty()) {
      int64_t base = 0;
      for (const OpArg& arg :
           source.info ? llvm::ArrayRef<OpArg>(source.info->outputs) : llvm::ArrayRef<OpArg>()) {
        if (arg.name == input.output) break;
        base += std::max<int64_t>(0, source.CountOf(arg));
      }
      port += base;
    }
    if (port < 0 || port >= static_cast<int64_t>(source.outputs.size())) return proto::DT_INVALID;
    return BaseType(source.outputs[port]);
  }

  bool IsLiteral(const InferenceNode::Input& input) const {
    return input.node != kNoNode && nodes_[input.node].is_literal;
  }

  // Infers the number of an argument's tensors from the node's number of inputs. Returns false if
  // several such numbers are unknown, or the inputs do not fit.
  bool ResolveCounts(InferenceNode& node) {
    llvm::StringRef unknown;
    bool is_list = false;
    int64_t known = 0, times = 0;
    for (const OpArg& arg : node.info->inputs) {
      int64_t count = CountOf(node, arg);
      if (count >= 0) {
        known += count;
        continue;
      }
      const std::string& key = arg.type_list_attr.empty() ? arg.number_attr : arg.type_list_attr;
      if (!unknown.empty() && unknown != key) return false;
      unknown = key;
      is_list = !arg.type_list_attr.empty();
      ++times;
    }
    if (unknown.empty() || is_list) return true;
    int64_t left = static_cast<int64_t>(node.inputs.size()) - known;
    if (left < 0 || left % times || left / times > kMaxPorts) return false;
    node.inferred.push_back({unknown, attr::Int(left / times)});
    return true;
  }

  bool Resolve(InferenceNode& node, bool in_part) {
    node.inferred.clear();
    if (!node.info) {
      node.resolved = true;
      return true;
    }
    bool counts = ResolveCounts(node);
    if (ResolveTypes(node, in_part, counts) && counts) {
      AddCallResults(node);
      FindOutputs(node);
      node.resolved = true;
    } else if (!in_part && WaitsForNothing(node)) {
      FindOutputs(node);  // infers the outputs that do not need missing attributes
      node.resolved = true;
    }
    return node.resolved;
  }

  // True if all inputs are resolved: nothing more about them will become known.
  bool WaitsForNothing(const InferenceNode& node) const {
    return llvm::all_of(node.inputs, [&](const InferenceNode::Input& input) {
      return input.node == kNoNode || nodes_[input.node].is_literal || nodes_[input.node].resolved;
    });
  }

  bool ResolveTypes(InferenceNode& node, bool in_part, bool counts) {
    size_t slot = 0;
    // For each type attribute, the slots of the inputs whose dtype it is.
    llvm::SmallVector<std::pair<const std::string*, llvm::SmallVector<size_t, 4>>, 2> slots_of;
    bool complete = true;
    for (const OpArg& arg : node.info->inputs) {
      int64_t count = CountOf(node, arg);
      if (count < 0 && !counts) break;  // the slots of later arguments are unknown
      if (!arg.type_list_attr.empty()) {
        if (count < 0) count = CountRest(node, arg, slot);
        if (!Find(node, arg.type_list_attr)) complete &= AddTypeList(node, arg, slot, count);
      } else if (!arg.type_attr.empty()) {
        auto it = llvm::find_if(slots_of,
                                [&](const auto& entry) { return *entry.first == arg.type_attr; });
        if (it == slots_of.end()) {
          slots_of.push_back({&arg.type_attr, {}});
          it = slots_of.end() - 1;
        }
        for (int64_t i = 0; i < count && slot + i < node.inputs.size(); ++i)
          it->second.push_back(slot + i);
      } else {
        for (int64_t i = 0; i < count; ++i) SetLiteral(node, slot + i, arg.type);
      }
      slot += std::max<int64_t>(0, count);
    }
    for (const auto& [key, slots] : slots_of) complete &= ResolveType(node, *key, slots, in_part);
    return complete;
  }

  // Returns how many inputs belong to the argument `list`, which begins at `slot`: all that
  // arguments after it do not need.
  static int64_t CountRest(const InferenceNode& node, const OpArg& list, size_t slot) {
    int64_t after = 0;
    for (const OpArg* arg = &list + 1; arg != node.info->inputs.data() + node.info->inputs.size();
         ++arg)
      after += std::max<int64_t>(0, CountOf(node, *arg));
    return std::max<int64_t>(
        0, static_cast<int64_t>(node.inputs.size()) - static_cast<int64_t>(slot) - after);
  }

  bool AddTypeList(InferenceNode& node, const OpArg& arg, size_t slot, int64_t count) {
    std::vector<DataType> types;
    for (size_t i = slot; i < slot + count && i < node.inputs.size(); ++i) {
      const InferenceNode::Input& input = node.inputs[i];
      if (IsLiteral(input)) SetLiteral(node, i, nodes_[input.node].natural);
      DataType type = TypeOfInput(input);
      if (type == proto::DT_INVALID) return false;
      types.push_back(type);
    }
    node.inferred.push_back({arg.type_list_attr, attr::Types(types)});
    return true;
  }

  void SetLiteral(const InferenceNode& node, size_t slot, DataType type) {
    if (slot >= node.inputs.size() || !IsLiteral(node.inputs[slot])) return;
    InferenceNode& literal = nodes_[node.inputs[slot].node];
    if (!literal.resolved) literal.outputs.assign(1, type);
    literal.resolved = true;
  }

  bool ResolveType(InferenceNode& node, const std::string& key, llvm::ArrayRef<size_t> slots,
                   bool in_part) {
    DataType type = proto::DT_INVALID, literal = proto::DT_INVALID;
    if (auto given = Find(node, key)) {
      type = given->AsType().value_or(proto::DT_INVALID);
    } else {
      bool waits = false;
      for (size_t slot : slots) {
        const InferenceNode::Input& input = node.inputs[slot];
        if (IsLiteral(input)) {
          const InferenceNode& source = nodes_[input.node];
          DataType natural = source.resolved ? source.outputs[0] : source.natural;
          // If several inputs are constants, one with a decimal point determines the dtype.
          if (literal == proto::DT_INVALID || IsFloating(natural)) literal = natural;
          if (source.resolved && type == proto::DT_INVALID) type = natural;
          continue;
        }
        if (type == proto::DT_INVALID) type = TypeOfInput(input);
        waits |= input.node != kNoNode && !nodes_[input.node].resolved;
      }
      if (waits && (!in_part || type == proto::DT_INVALID)) return false;
      const OpAttr* attr = node.info->FindAttr(key);
      if (!attr) return false;
      if (type == proto::DT_INVALID && attr->default_value)
        type = AttrView(*attr->default_value).AsType().value_or(proto::DT_INVALID);
      if (type == proto::DT_INVALID) type = literal;
      if (type == proto::DT_INVALID) return false;
      node.inferred.push_back({attr->name, attr::Type(type)});
    }
    for (size_t slot : slots) SetLiteral(node, slot, type);
    return true;
  }

  static void AddCallResults(InferenceNode& node) {
    const OpAttr* attr = node.callee ? node.info->FindAttr("Tout") : nullptr;
    if (!attr || Find(node, "Tout")) return;
    std::vector<DataType> types;
    for (const OpArg& result : node.callee->outputs) {
      if (result.type == proto::DT_INVALID || !result.number_attr.empty()) return;
      types.push_back(result.is_ref ? RefType(result.type) : result.type);
    }
    node.inferred.push_back({attr->name, attr::Types(types)});
  }

  static void FindOutputs(InferenceNode& node) {
    node.outputs.clear();
    for (const OpArg& arg : node.info->outputs) {
      auto add = [&](DataType type) {
        node.outputs.push_back(arg.is_ref && type ? RefType(type) : type);
      };
      if (!arg.type_list_attr.empty()) {
        auto value = node.Find(arg.type_list_attr);
        auto types = value ? value->AsTypes() : std::nullopt;
        if (!types) return;
        for (DataType type : *types) add(type);
        continue;
      }
      int64_t count = 1;
      if (!arg.number_attr.empty()) {
        auto value = node.Find(arg.number_attr);
        count = value ? value->AsInt().value_or(-1) : -1;
      }
      if (count < 0 || count > kMaxPorts) return;
      DataType type = arg.type;
      if (!arg.type_attr.empty()) {
        auto value = node.Find(arg.type_attr);
        type = value ? value->AsType().value_or(proto::DT_INVALID) : proto::DT_INVALID;
      }
      for (int64_t i = 0; i < count; ++i) add(type);
    }
  }

  std::vector<InferenceNode>& nodes_;
  std::vector<uint32_t> waits_;  // per node: how many inputs are not resolved yet
  std::vector<llvm::SmallVector<uint32_t, 2>> readers_;
  // Nodes that are not inferred yet, although at least one input is.
  std::set<uint32_t> candidates_;
};

}  // namespace

const std::string* InferenceNode::FindInferred(llvm::StringRef key) const {
  for (const auto& [name, value] : inferred) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::optional<AttrView> InferenceNode::Find(llvm::StringRef key) const {
  for (const auto& [name, value] : given) {
    if (name == key) return value;
  }
  if (const std::string* value = FindInferred(key)) return AttrView(*value);
  const OpAttr* attr = info ? info->FindAttr(key) : nullptr;
  if (!attr || !attr->default_value) return std::nullopt;
  return AttrView(*attr->default_value);
}

int64_t InferenceNode::CountOf(const OpArg& arg) const {
  if (arg.number_attr.empty() && arg.type_list_attr.empty()) return 1;
  auto value = Find(arg.type_list_attr.empty() ? arg.number_attr : arg.type_list_attr);
  if (!value) return -1;
  if (arg.type_list_attr.empty()) return value->AsInt().value_or(-1);
  auto types = value->AsTypes();
  return types ? static_cast<int64_t>(types->size()) : -1;
}

std::pair<llvm::StringRef, int> OutputOfPort(const InferenceNode& node, int port) {
  if (!node.info) return {};
  for (const OpArg& arg : node.info->outputs) {
    int64_t count = node.CountOf(arg);
    if (count < 0) return {};
    if (port < count) return {arg.name, port};
    port -= static_cast<int>(count);
  }
  return {};
}

std::string LiteralName(const InferenceNode& node, llvm::StringRef name, int slot) {
  int64_t left = slot;
  for (const OpArg& arg :
       node.info ? llvm::ArrayRef<OpArg>(node.info->inputs) : llvm::ArrayRef<OpArg>()) {
    int64_t count = node.CountOf(arg);
    if (count < 0) break;
    if (left < count) {
      bool is_list = !arg.number_attr.empty() || !arg.type_list_attr.empty();
      return (name + "/" + arg.name).str() + (is_list ? "_" + std::to_string(left) : "");
    }
    left -= count;
  }
  return (name + "/input_" + llvm::Twine(slot)).str();
}

bool CanBeInferred(const OpInfo& info, bool is_call, llvm::StringRef key) {
  if (is_call && key == "Tout") return true;
  return llvm::any_of(info.inputs, [&](const OpArg& arg) {
    return key == arg.type_attr || key == arg.number_attr || key == arg.type_list_attr;
  });
}

void InferAttributes(std::vector<InferenceNode>& nodes) { Inference(nodes).Run(); }

}  // namespace grapnel
