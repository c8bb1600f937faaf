#include "lib/library/function_library.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "lib/ir/node_types.h"
#include "lib/ir/wire.h"
#include "lib/library/body_hash.h"
#include "lib/library/library_steps.h"
#include "lib/proto/function.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using Kind = FunctionName::Kind;

bool HasAttr(const Function& function, llvm::StringRef key) {
  return llvm::any_of(function.Attrs(), [&](const auto& attr) { return attr.first == key; });
}

// True if `argument`, a name in a signature, stands for the Python parameter `said`. FuncGraph,
// which traces the function, names an argument after its parameter, and appends a number if that
// name was taken.
bool IsParameter(llvm::StringRef argument, llvm::StringRef said) {
  std::string plain;
  for (char c : said) plain += llvm::isAlnum(c) ? llvm::toLower(c) : '_';
  if (!argument.consume_front(plain)) return false;
  return argument.empty() || (argument.consume_front("_") && !argument.empty() &&
                              argument.find_first_not_of("0123456789") == llvm::StringRef::npos);
}

FunctionArgument DescribeArgument(const OpArg& arg) {
  FunctionArgument out;
  out.name = arg.name;
  out.dtype = arg.type;
  if (arg.type != proto::DT_INVALID) {
    out.type = DataTypeName(arg.type).str();
  } else {
    out.type = arg.type_attr.empty() ? arg.type_list_attr : arg.type_attr;
  }
  if (!arg.number_attr.empty()) out.type = arg.number_attr + "*" + out.type;
  if (!arg.type_list_attr.empty()) out.type += "...";
  return out;
}

// Reads arguments and results from the signature; FunctionDef.arg_attr (field 7) adds shapes and
// says which arguments are captured.
void ReadArguments(const Function& function, LibraryFunction* out) {
  for (const OpArg& arg : function.info.inputs) out->arguments.push_back(DescribeArgument(arg));
  for (const OpArg& arg : function.info.outputs) out->results.push_back(DescribeArgument(arg));
  std::string notes;
  WireReader reader(function.source);
  while (reader.Next())
    if (reader.Is(7, WireType::kBytes)) notes += reader.whole_field();
  proto::FunctionDef parsed;
  if (notes.empty() || !parsed.ParsePartialFromString(notes)) return;
  for (const auto& [index, attrs] : parsed.arg_attr()) {
    if (index >= out->arguments.size()) continue;
    FunctionArgument& argument = out->arguments[index];
    auto shapes = attrs.attr().find("_output_shapes");
    if (shapes != attrs.attr().end() && shapes->second.list().shape_size() == 1)
      argument.shape = Shape::FromProto(shapes->second.list().shape(0));
    auto said = attrs.attr().find("_user_specified_name");
    if (said == attrs.attr().end()) continue;
    llvm::StringRef name = said->second.s();
    argument.captured = !IsParameter(argument.name, name);
    int64_t number;
    if (argument.captured && !name.getAsInteger(10, number)) argument.captured_at = number;
  }
  // A trace's Python arguments come before its captured tensors, so all arguments after the first
  // captured one are captured too, even if the file has no name for them.
  auto is_captured = [](const FunctionArgument& argument) { return argument.captured; };
  auto first = llvm::find_if(out->arguments, is_captured);
  for (auto it = first; it != out->arguments.end(); ++it) it->captured = true;
}

// Returns what a function is for the op that uses it: "then branch" for `then_branch` of an If,
// "map function" for `f` of a MapDataset; empty for other uses.
std::string PartText(const FunctionUse& use) {
  llvm::StringRef op = use.node.op(), key = use.attribute;
  if (key == "body" || key == "cond") return key.str();
  if (key == "then_branch") return "then branch";
  if (key == "else_branch") return "else branch";
  if (key == "branches") return "branch " + std::to_string(use.place);
  if (!op.contains("Dataset")) return {};
  if (key != "f" && key != "predicate")
    return key.ends_with("_func") ? (key.drop_back(5) + " function").str() : key.str();
  op.consume_front("Experimental");
  op.consume_front("Parallel");
  op.consume_front("Legacy");
  op = op.take_front(op.find("Dataset"));
  std::string words;
  for (char c : op) {
    if (llvm::isUpper(c) && !words.empty()) words += '_';
    words += llvm::toLower(c);
  }
  return words + " function";
}

// True for the names of the functions that tf.data makes for its iterator over several devices
// (tensorflow/python/data/ops/multi_device_iterator_ops.py).
bool IsOfIterator(llvm::StringRef base) {
  base.consume_front("_remote");
  return base == "_init_func" || base == "_next_func" || base == "_finalize_func";
}

bool IsPart(FunctionRole role) {
  return role == FunctionRole::kBody || role == FunctionRole::kCondition ||
         role == FunctionRole::kBranch;
}

class LibraryReader {
 public:
  LibraryReader(const Module& module, llvm::ArrayRef<std::string> from_outside)
      : module_(module), from_outside_(from_outside.begin(), from_outside.end()) {}

  FunctionLibrary Run() {
    for (const auto& function : module_.functions) {
      number_.try_emplace(function->name(), static_cast<int>(functions().size()));
      functions().emplace_back().function = function.get();
    }
    FindUses(module_.main, -1);
    for (size_t i = 0; i < functions().size(); ++i)
      FindUses(functions()[i].function->body, static_cast<int>(i));
    ReadGradients();
    for (LibraryFunction& each : functions()) Describe(&each);
    FindCopies();
    FindPairs(gradients_, &library_);
    FindStatus(module_.main.num_nodes() > 0, from_outside_, &library_);
    MakeRows(&library_);
    return std::move(library_);
  }

 private:
  std::vector<LibraryFunction>& functions() { return library_.functions; }
  int Find(llvm::StringRef name) const {
    auto it = number_.find(name);
    return it == number_.end() ? -1 : it->second;
  }

  void FindUses(const Graph& graph, int caller) {
    StringId asks_for_variable = module_.strings.Find("VarIsInitializedOp");
    for (Node node : graph.nodes()) {
      auto [it, is_new] = may_call_.try_emplace(node.op_id(), false);
      if (is_new) it->second = MayCallFunctions(node);
      if (node.op_id() == asks_for_variable && caller >= 0)
        functions()[caller].makes_variables = true;
      if (!it->second) continue;
      AddUse(node.op(), {caller, node, "", -1});
      for (const auto& [key, value] : node.Attrs()) {
        std::vector<llvm::StringRef> names = value.FuncNames();
        for (size_t i = 0; i < names.size(); ++i)
          AddUse(names[i],
                 {caller, node, key.str(),
                  names.size() > 1 || value.kind() == AttrKind::kList ? static_cast<int>(i) : -1});
      }
    }
  }

  void AddUse(llvm::StringRef name, FunctionUse use) {
    int callee = Find(name);
    if (callee < 0) return;
    LibraryFunction& function = functions()[callee];
    auto add = [](std::vector<int>* list, int number) {
      if (!llvm::is_contained(*list, number)) list->push_back(number);
    };
    if (function.callers.empty() || function.callers.back() != use.caller)
      add(&function.callers, use.caller);
    if (use.caller >= 0) called_[use.caller].insert(callee);
    function.uses.push_back(std::move(use));
  }

  // Reads FunctionDefLibrary.gradient (field 2): pairs of a function and its registered gradient.
  void ReadGradients() {
    WireReader reader(module_.other_library_fields);
    while (reader.Next()) {
      if (!reader.Is(2, WireType::kBytes)) continue;
      llvm::StringRef of, gradient;
      WireReader pair(reader.bytes());
      while (pair.Next()) {
        if (pair.Is(1, WireType::kBytes)) of = pair.bytes();
        if (pair.Is(2, WireType::kBytes)) gradient = pair.bytes();
      }
      gradients_.of[gradient] = of.str();
      gradients_.gradient[of] = gradient.str();
    }
  }

  void Describe(LibraryFunction* out) {
    const Function& function = *out->function;
    int number = static_cast<int>(out - functions().data());
    out->calls.assign(called_[number].begin(), called_[number].end());
    for (const FunctionUse& use : out->uses) {
      if (out->part.empty()) out->part = PartText(use);
    }
    bool in_dataset = HasAttr(function, "_tf_data_function");
    out->name = ParseFunctionName(function.name(), in_dataset, !out->part.empty());
    if (HasAttr(function, "_disable_call_shape_inference")) TakeHash(function.name(), &out->name);
    ReadArguments(function, out);
    out->role = RoleOf(*out, in_dataset);
    bool of_gradient =
        out->role == FunctionRole::kForward && function.name().contains("__backward_");
    // The op passes all arguments of a branch, condition or body, so none of them is a captured
    // tensor. Python passes no argument of a gradient's forward function, so all of them are.
    if (IsPart(out->role) || of_gradient)
      for (FunctionArgument& argument : out->arguments) argument.captured = of_gradient;
    if (out->role == FunctionRole::kDataset && out->part.empty()) {
      if (!out->name.transformation.empty())
        out->part = out->name.transformation + " function";
      else if (IsOfIterator(out->name.base))
        out->part = "iterator function";
    }
    out->nodes = function.body.num_nodes() - function.args.size() - function.results.size();
    out->bytes = function.source.size();
  }

  // Restores the Python name of a Defun (a TensorFlow 1 function) that was given no name.
  // TensorFlow calls it NAME_HASH or NAME_GRADIENT_HASH, where HASH is 11 characters made from its
  // body and GRADIENT is the name of its gradient function.
  void TakeHash(llvm::StringRef name, FunctionName* out) const {
    constexpr size_t kHash = 11;
    llvm::StringRef base = out->base;
    if (base.size() < kHash + 2 || base[base.size() - kHash - 1] != '_') return;
    llvm::StringRef hash = base.take_back(kHash);
    if (llvm::none_of(hash, llvm::isUpper) || llvm::none_of(hash, llvm::isLower)) return;
    base = base.drop_back(kHash + 1);
    auto gradient = gradients_.gradient.find(name);
    if (gradient != gradients_.gradient.end()) {
      llvm::StringRef before = base;
      if (before.consume_back(gradient->second) && before.consume_back("_") && !before.empty())
        base = before;
    }
    out->base = base.str();
  }

  FunctionRole RoleOf(const LibraryFunction& each, bool in_dataset) const {
    const FunctionName& name = each.name;
    if (name.kind == Kind::kEagerOp) return FunctionRole::kEagerOp;
    if (name.kind == Kind::kForward) return FunctionRole::kForward;
    if (name.kind == Kind::kBackward) return FunctionRole::kBackward;
    llvm::StringRef part = each.part, base = name.base;
    if (part == "body" || (part.empty() && name.is_control_flow && base.ends_with("_body")))
      return FunctionRole::kBody;
    if (part == "cond" || (part.empty() && name.is_control_flow && base.ends_with("_cond")))
      return FunctionRole::kCondition;
    if (part.contains("branch") || (part.empty() && name.is_control_flow))
      return FunctionRole::kBranch;
    if (in_dataset || !part.empty() || IsOfIterator(base)) return FunctionRole::kDataset;
    if (gradients_.of.count(each.function->name())) return FunctionRole::kGradient;
    if (name.kind != Kind::kTrace) return FunctionRole::kPlain;
    if (base.starts_with("signature_wrapper")) return FunctionRole::kSignature;
    if (base == "restored_function_body") return FunctionRole::kRestored;
    if (base == "_traced_save" || base == "_traced_restore") return FunctionRole::kSaver;
    return FunctionRole::kTrace;
  }

  // Finds functions with equal bodies. The one whose name has the smallest number is the original,
  // and `copy_of` of the others refers to it.
  void FindCopies() {
    std::vector<uint64_t> hashes = BodyHashes(module_);
    std::map<uint64_t, int> first;
    auto is_before = [&](int a, int b) {
      auto key = [&](int number) {
        constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
        return std::pair(functions()[number].name.number.value_or(kLast), number);
      };
      return key(a) < key(b);
    };
    for (int i = 0; i < static_cast<int>(hashes.size()); ++i) {
      functions()[i].hash = hashes[i];
      auto [it, is_new] = first.try_emplace(hashes[i], i);
      if (!is_new && is_before(i, it->second)) it->second = i;
    }
    for (int i = 0; i < static_cast<int>(hashes.size()); ++i)
      if (int of = first.at(hashes[i]); of != i) functions()[i].copy_of = of;
  }

  const Module& module_;
  std::set<std::string> from_outside_;
  FunctionLibrary library_;
  llvm::StringMap<int> number_;
  llvm::DenseMap<StringId, bool> may_call_;
  std::map<int, std::set<int>> called_;
  GivenGradients gradients_;
};

}  // namespace

std::string FunctionArgument::ToString() const {
  return type + (shape.known_rank() ? shape.ToString() : "");
}

std::vector<int> FunctionLibrary::Entries() const {
  std::vector<int> entries;
  for (const FunctionRow& row : rows) {
    for (int member : row.members)
      if (functions[member].status == FunctionStatus::kEntry) entries.push_back(member);
  }
  return entries;
}

FunctionLibrary ReadFunctionLibrary(const Module& module,
                                    llvm::ArrayRef<std::string> from_outside) {
  return LibraryReader(module, from_outside).Run();
}

llvm::StringRef RoleName(FunctionRole role) {
  static constexpr llvm::StringRef kNames[] = {
      "trace",     "forward",  "backward", "body",     "cond",     "branch",  "dataset function",
      "signature", "restored", "saver",    "gradient", "eager op", "function"};
  return kNames[static_cast<int>(role)];
}

llvm::StringRef StatusName(FunctionStatus status) {
  static constexpr llvm::StringRef kNames[] = {"entry", "called",     "dataset",
                                               "eager", "superseded", "unused"};
  return kNames[static_cast<int>(status)];
}

std::string RoleText(const LibraryFunction& function) {
  std::string text = function.part.empty() ? RoleName(function.role).str() : function.part;
  bool is_part = function.name.is_control_flow;
  if (is_part && function.name.is_rewritten) text += ", forward";
  if (is_part && function.name.is_gradient) text += ", backward";
  return text;
}

}  // namespace grapnel
