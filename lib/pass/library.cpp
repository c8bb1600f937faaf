#include "lib/pass/library.h"

#include "lib/ir/node_types.h"
#include "lib/ir/wire.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// Field numbers of FunctionDef, of its attribute map's entries, of FunctionDefLibrary and of
// GradientDef.
enum { kFunctionAttr = 5, kArgumentAttr = 7, kEntryKey = 1, kEntryValue = 2, kLibraryGradient = 2 };
enum { kGradientOf = 1, kGradientIs = 2 };

constexpr const char* kInterface = "api_implements";

struct TwoTexts {
  llvm::StringRef first, second;
};

// Returns fields 1 and 2 of a message, both of type bytes.
TwoTexts ReadTwo(llvm::StringRef bytes) {
  TwoTexts texts;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(kEntryKey, WireType::kBytes)) texts.first = reader.bytes();
    if (reader.Is(kEntryValue, WireType::kBytes)) texts.second = reader.bytes();
  }
  return texts;
}

class Reach {
 public:
  Reach(const Module& module, FunctionSet* reached, bool choices)
      : module_(module), reached_(*reached) {
    if (!choices) return;
    for (const auto& function : module.functions) {
      if (auto interface = FunctionAttr(*function, kInterface))
        choices_[interface->AsString().value_or("")].push_back(function.get());
    }
  }

  void Add(llvm::StringRef name) {
    const Function* function = module_.FindFunction(name);
    if (function && reached_.insert(function).second) open_.push_back(function);
  }
  void AddCallsOf(const Graph& graph) {
    for (Node node : graph.nodes()) {
      if (!MayCall(node)) continue;
      for (llvm::StringRef name : CalledFunctions(node)) Add(name);
    }
    graphs_.push_back(&graph);
  }
  // Attributes that an op does not declare may name functions too. Few graphs have such attributes:
  // they are searched only if there are functions that nothing else reaches.
  void Close() {
    CloseDeclared();
    for (size_t i = 0; i < graphs_.size() && reached_.size() < module_.functions.size(); ++i) {
      for (Node node : graphs_[i]->nodes()) {
        if (MayCall(node)) continue;
        for (const auto& [key, value] : node.Attrs()) {
          for (llvm::StringRef name : value.FuncNames()) Add(name);
        }
      }
      CloseDeclared();
    }
  }

 private:
  bool MayCall(const Node& node) {
    auto [it, added] = may_call_.try_emplace(node.op_id(), false);
    if (added) it->second = MayCallFunctions(node);
    return it->second;
  }

  void CloseDeclared() {
    while (!open_.empty()) {
      const Function* function = open_.back();
      open_.pop_back();
      AddCallsOf(function->body);
      Add(CustomGradientOf(module_, function->name()));
      if (choices_.empty()) continue;
      std::optional<AttrView> interface = FunctionAttr(*function, kInterface);
      if (!interface) continue;
      for (const Function* choice : choices_.lookup(interface->AsString().value_or("")))
        Add(choice->name());
    }
  }

  const Module& module_;
  FunctionSet& reached_;
  std::vector<const Function*> open_;
  std::vector<const Graph*> graphs_;  // already searched
  llvm::DenseMap<StringId, bool> may_call_;
  llvm::StringMap<std::vector<const Function*>> choices_;  // by interface
};

// Returns the serialized FunctionDef without the attribute `key`.
std::string SourceWithout(const Function& function, llvm::StringRef key) {
  std::string source;
  WireReader reader(function.source);
  while (reader.Next()) {
    bool is_it = reader.Is(kFunctionAttr, WireType::kBytes) && ReadTwo(reader.bytes()).first == key;
    if (!is_it) source += reader.whole_field();
  }
  return source;
}

}  // namespace

FunctionSet ReachableFunctions(const Module& module, bool choices) {
  FunctionSet reached;
  if (module.functions.empty()) return reached;
  Reach reach(module, &reached, choices);
  reach.AddCallsOf(module.main);
  reach.Close();
  return reached;
}

void AddReachable(const Function& start, FunctionSet* reached) {
  Reach reach(start.body.module(), reached, /*choices=*/false);
  reach.Add(start.name());
  reach.Close();
}

FunctionSet FunctionsNamedBy(const Module& module, llvm::StringRef op, llvm::StringRef key) {
  FunctionSet found;
  StringId id = module.strings.Find(op);
  if (id == kNoString) return found;
  auto look = [&](const Graph& graph) {
    for (Node node : graph.nodes()) {
      if (node.op_id() != id) continue;
      std::optional<AttrView> attr = node.FindAttr(key);
      const Function* function =
          attr ? module.FindFunction(attr->AsFuncName().value_or("")) : nullptr;
      if (function) found.insert(function);
    }
  };
  look(module.main);
  for (const auto& function : module.functions) look(function->body);
  return found;
}

CallGraph::CallGraph(const Module& module) {
  llvm::DenseMap<StringId, bool> may_call;
  for (const auto& function : module.functions) {
    llvm::SmallVector<const Function*, 4>& mentioned = mentioned_[function.get()];
    auto add = [&](llvm::StringRef name) {
      const Function* other = module.FindFunction(name);
      if (other && !llvm::is_contained(mentioned, other)) mentioned.push_back(other);
    };
    for (Node node : function->body.nodes()) {
      auto [it, added] = may_call.try_emplace(node.op_id(), false);
      if (added) it->second = MayCallFunctions(node);
      if (!it->second) continue;
      for (llvm::StringRef name : CalledFunctions(node)) add(name);
    }
    add(CustomGradientOf(module, function->name()));
  }
}

bool CallGraph::IsLeaf(const Function& function) const {
  auto it = mentioned_.find(&function);
  return it != mentioned_.end() && it->second.empty();
}

bool CallGraph::Reaches(const Function& from, const FunctionSet& functions) const {
  FunctionSet seen = {&from};
  llvm::SmallVector<const Function*, 16> open = {&from};
  while (!open.empty()) {
    auto it = mentioned_.find(open.pop_back_val());
    if (it == mentioned_.end()) return true;
    for (const Function* mentioned : it->second) {
      if (functions.contains(mentioned)) return true;
      if (seen.insert(mentioned).second) open.push_back(mentioned);
    }
  }
  return false;
}

std::vector<std::string> DropUnreachableFunctions(Module& module, bool choices) {
  std::vector<std::string> dropped;
  FunctionSet reached = ReachableFunctions(module, choices);
  for (const auto& function : module.functions) {
    if (!reached.contains(function.get())) dropped.push_back(function->name().str());
  }
  if (dropped.empty()) return dropped;
  module.RetainFunctions([&](const Function& function) { return reached.contains(&function); });
  std::string fields;
  WireReader reader(module.other_library_fields);
  while (reader.Next()) {
    bool is_gradient = reader.Is(kLibraryGradient, WireType::kBytes);
    if (is_gradient && !module.FindFunction(ReadTwo(reader.bytes()).first)) continue;
    fields += reader.whole_field();
  }
  module.other_library_fields = std::move(fields);
  return dropped;
}

std::string CustomGradientOf(const Module& module, llvm::StringRef function) {
  static_assert(int{kGradientOf} == int{kEntryKey} && int{kGradientIs} == int{kEntryValue});
  WireReader reader(module.other_library_fields);
  while (reader.Next()) {
    if (!reader.Is(kLibraryGradient, WireType::kBytes)) continue;
    TwoTexts gradient = ReadTwo(reader.bytes());
    if (gradient.first == function) return gradient.second.str();
  }
  return {};
}

bool IsParametrized(const Function& function) {
  auto depends = [](const OpArg& arg) {
    return !arg.type_attr.empty() || !arg.number_attr.empty() || !arg.type_list_attr.empty();
  };
  if (llvm::any_of(function.info.inputs, depends) || llvm::any_of(function.info.outputs, depends))
    return true;
  bool found = false;
  for (Node node : function.body.nodes()) {
    node.ForEachAttr(
        [&](llvm::StringRef, AttrView value) { found |= value.kind() == AttrKind::kPlaceholder; });
    if (found) return true;
  }
  return false;
}

std::optional<AttrView> FunctionAttr(const Function& function, llvm::StringRef key) {
  for (const auto& [name, value] : function.Attrs()) {
    if (name == key) return value;
  }
  return std::nullopt;
}

bool FunctionFlag(const Function& function, llvm::StringRef key) {
  std::optional<AttrView> attr = FunctionAttr(function, key);
  return attr && attr->AsBool().value_or(false);
}

void SetFunctionAttr(Function* function, llvm::StringRef key, llvm::StringRef value) {
  std::string source = SourceWithout(*function, key), entry;
  AppendBytesField(&entry, kEntryKey, key);
  AppendBytesField(&entry, kEntryValue, value);
  AppendBytesField(&source, kFunctionAttr, entry);
  function->source = function->body.module().Keep(source);
  function->changed = true;
}

void RemoveFunctionAttr(Function* function, llvm::StringRef key) {
  if (!FunctionAttr(*function, key)) return;
  function->source = function->body.module().Keep(SourceWithout(*function, key));
  function->changed = true;
}

void DropArgumentNotes(Function* function) {
  std::string source;
  WireReader reader(function->source);
  while (reader.Next()) {
    if (reader.field() != kArgumentAttr) source += reader.whole_field();
  }
  function->source = function->body.module().Keep(source);
  function->changed = true;
  RemoveFunctionAttr(function, kInputShapes);
}

}  // namespace grapnel
