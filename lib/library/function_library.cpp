#include "lib/library/function_library.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "lib/ir/node_types.h"
#include "lib/ir/wire.h"
#include "lib/library/body_hash.h"
#include "lib/library/trace_differences.h"
#include "lib/proto/function.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

using Kind = FunctionName::Kind;

std::string AttrText(const Function& function, llvm::StringRef key) {
  for (const auto& [name, value] : function.Attrs()) {
    if (name == key) return value.AsString().value_or(llvm::StringRef()).str();
  }
  return {};
}

bool HasAttr(const Function& function, llvm::StringRef key) {
  return llvm::any_of(function.Attrs(), [&](const auto& attr) { return attr.first == key; });
}

// As FuncGraph makes a parameter's name of what Python calls it: the name in a signature begins
// with it, and ends with a number where the name was taken.
bool IsParameter(llvm::StringRef argument, llvm::StringRef said) {
  std::string plain;
  for (char c : said) plain += llvm::isAlnum(c) ? llvm::toLower(c) : '_';
  if (!argument.consume_front(plain)) return false;
  return argument.empty() ||
         (argument.consume_front("_") && !argument.empty() &&
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

// The arguments, with shapes and names from FunctionDef.arg_attr (field 7).
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
    if (said != attrs.attr().end()) argument.captured = !IsParameter(argument.name, said->second.s());
  }
}

// "then_branch" of an If -> "then branch"; "f" of a MapDataset -> "map function".
std::string PartText(const FunctionUse& use) {
  llvm::StringRef op = use.node.op(), key = use.attribute;
  if (key == "body" || key == "cond") return key.str();
  if (key == "then_branch") return "then branch";
  if (key == "else_branch") return "else branch";
  if (key == "branches") return "branch " + std::to_string(use.place);
  if (!op.contains("Dataset")) return {};
  if (key == "predicate") return "predicate";
  if (key != "f") return key.ends_with("_func") ? (key.drop_back(5) + " function").str() : key.str();
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
    FindPairs();
    FindStatus();
    MakeRows();
    return std::move(library_);
  }

 private:
  std::vector<LibraryFunction>& functions() { return library_.functions; }
  int Find(llvm::StringRef name) const {
    auto it = number_.find(name);
    return it == number_.end() ? -1 : it->second;
  }

  void FindUses(const Graph& graph, int caller) {
    for (Node node : graph.nodes()) {
      auto [it, is_new] = may_call_.try_emplace(node.op_id(), false);
      if (is_new) it->second = MayCallFunctions(node);
      if (!it->second) continue;
      AddUse(node.op(), {caller, node, "", -1});
      for (const auto& [key, value] : node.Attrs()) {
        std::vector<llvm::StringRef> names = value.FuncNames();
        for (size_t i = 0; i < names.size(); ++i)
          AddUse(names[i], {caller, node, key.str(), names.size() > 1 || value.kind() == AttrKind::kList
                                                        ? static_cast<int>(i)
                                                        : -1});
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

  // FunctionDefLibrary.gradient (field 2): a function, and the gradient that was given for it.
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
      gradient_of_[gradient] = of.str();
      gradient_for_[of] = gradient.str();
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
    if (IsPart(out->role))  // whose arguments are all given by the op
      for (FunctionArgument& argument : out->arguments) argument.captured = false;
    if (out->role == FunctionRole::kDataset && out->part.empty() && !out->name.transformation.empty())
      out->part = out->name.transformation + " function";
    out->nodes = function.body.num_nodes() - function.args.size() - function.results.size();
    out->bytes = function.source.size();
  }

  // A Defun without a name gets one with a hash of its body, of 11 letters, and before it the name
  // of its gradient.
  void TakeHash(llvm::StringRef name, FunctionName* out) const {
    constexpr size_t kHash = 11;
    llvm::StringRef base = out->base;
    if (base.size() < kHash + 2 || base[base.size() - kHash - 1] != '_') return;
    llvm::StringRef hash = base.take_back(kHash);
    if (llvm::none_of(hash, llvm::isUpper) || llvm::none_of(hash, llvm::isLower)) return;
    base = base.drop_back(kHash + 1);
    auto gradient = gradient_for_.find(name);
    if (gradient != gradient_for_.end()) {
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
    if (part == "body" || (part.empty() && name.is_control_flow && base.ends_with("while_body")))
      return FunctionRole::kBody;
    if (part == "cond" || (part.empty() && name.is_control_flow && base.ends_with("while_cond")))
      return FunctionRole::kCondition;
    if (part.contains("branch") || (part.empty() && name.is_control_flow))
      return FunctionRole::kBranch;
    if (in_dataset || !part.empty()) return FunctionRole::kDataset;
    if (gradient_of_.count(each.function->name())) return FunctionRole::kGradient;
    if (name.kind != Kind::kTrace) return FunctionRole::kPlain;
    if (base.starts_with("signature_wrapper")) return FunctionRole::kSignature;
    if (base == "restored_function_body") return FunctionRole::kRestored;
    if (base == "_traced_save" || base == "_traced_restore") return FunctionRole::kSaver;
    return FunctionRole::kTrace;
  }

  // The first of equal bodies is the one with the least number.
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

  // --- Pairs.
  void FindPairs() {
    for (size_t i = 0; i < functions().size(); ++i) {
      LibraryFunction& each = functions()[i];
      if (each.role == FunctionRole::kForward) PairForward(static_cast<int>(i));
    }
    for (size_t i = 0; i < functions().size(); ++i) {
      LibraryFunction& each = functions()[i];
      if (each.role != FunctionRole::kBackward || each.partner >= 0) continue;
      int forward = Find(AttrText(*each.function, "forward_function_name"));
      // A gradient of second order has the attribute of what it is the gradient of.
      if (forward < 0 || functions()[forward].name.order < each.name.order) continue;
      each.partner = forward;
      each.trace = functions()[forward].trace;
    }
    for (size_t i = 0; i < functions().size(); ++i) {
      if (gradient_for_.count(functions()[i].function->name()) != 0) PairDefun(static_cast<int>(i));
      if (functions()[i].name.is_rewritten) PairPart(static_cast<int>(i));
    }
    for (size_t i = 0; i < functions().size(); ++i) {
      LibraryFunction& each = functions()[i];
      if (each.name.is_gradient && each.partner < 0) PairGradientPart(static_cast<int>(i));
    }
  }

  void PairForward(int number) {
    LibraryFunction& forward = functions()[number];
    int backward = Find(AttrText(*forward.function, "backward_function_name"));
    if (backward >= 0) {
      forward.partner = backward;
      // A copy that was loaded names what the original names.
      if (functions()[backward].partner < 0 || functions()[functions()[backward].partner].name.is_loaded)
        functions()[backward].partner = number;
    }
    forward.trace = TraceOf(forward, backward);
    if (backward >= 0 && functions()[backward].trace < 0) functions()[backward].trace = forward.trace;
    if (forward.trace < 0) return;
    LibraryFunction& trace = functions()[forward.trace];
    if (trace.forward >= 0 && !functions()[trace.forward].name.is_loaded) return;
    trace.forward = number;
    trace.backward = backward;
  }

  // What a forward function was made from: the last trace with its arguments before the gradient
  // was begun. A gradient of second order is made from the backward function.
  int TraceOf(const LibraryFunction& forward, int backward) {
    const FunctionName& name = forward.name;
    std::optional<int64_t> begun = name.number;
    if (backward >= 0 && functions()[backward].name.begun) begun = functions()[backward].name.begun;
    int best = -1;
    for (int candidate : ByBase(name.base)) {
      const LibraryFunction& each = functions()[candidate];
      bool fits = name.order > 1 ? each.role == FunctionRole::kBackward && each.name.order == name.order - 1
                                 : each.role == FunctionRole::kTrace;
      if (!fits || !each.name.number || !SameArguments(each, forward)) continue;
      if (best < 0 || IsNearer(*each.name.number, *functions()[best].name.number, begun)) best = candidate;
    }
    return best;
  }

  // The largest before `begun`; of what comes after it, as in a SavedModel, where all have new
  // numbers, the first.
  static bool IsNearer(int64_t a, int64_t b, std::optional<int64_t> begun) {
    if (!begun) return a < b;
    bool a_before = a < *begun, b_before = b < *begun;
    if (a_before != b_before) return a_before;
    return a_before ? a > b : a < b;
  }

  static bool SameArguments(const LibraryFunction& a, const LibraryFunction& b) {
    return a.arguments.size() == b.arguments.size() &&
           llvm::all_of(llvm::zip(a.arguments, b.arguments), [](const auto& pair) {
             const auto& [x, y] = pair;
             return x.type == y.type && x.shape == y.shape;
           });
  }

  const std::vector<int>& ByBase(llvm::StringRef base) {
    if (by_base_.empty()) {
      for (size_t i = 0; i < functions().size(); ++i)
        by_base_[functions()[i].name.base].push_back(static_cast<int>(i));
    }
    return by_base_[base];
  }

  void PairDefun(int number) {
    int gradient = Find(gradient_for_[functions()[number].function->name()]);
    if (gradient < 0) return;
    functions()[number].backward = gradient;
    functions()[gradient].trace = number;
  }

  // cond_true_108 -> cond_true_108_rewritten, which runs in its place.
  void PairPart(int number) {
    llvm::StringRef name = functions()[number].function->name();
    int trace = name.consume_back("_rewritten") ? Find(name) : -1;
    if (trace < 0) trace = SavedPart(number, false);
    if (trace < 0) return;
    functions()[number].trace = trace;
    functions()[trace].forward = number;
  }

  // cond_true_108_grad_203 -> cond_true_108_rewritten.
  void PairGradientPart(int number) {
    llvm::StringRef name = functions()[number].function->name();
    llvm::StringRef stem = name.take_front(name.rfind("_grad_"));
    int forward = Find((stem + "_rewritten").str());
    int trace = Find(stem);
    if (trace < 0 && forward < 0) forward = SavedPart(number, true);
    if (forward < 0) forward = trace >= 0 && functions()[trace].forward >= 0 ? functions()[trace].forward : trace;
    if (forward < 0) return;
    LibraryFunction &gradient = functions()[number], &of = functions()[forward];
    gradient.partner = forward;
    if (of.partner < 0) of.partner = number;
    gradient.trace = of.trace >= 0 ? of.trace : forward;
    if (functions()[gradient.trace].backward < 0) functions()[gradient.trace].backward = number;
  }

  // In a SavedModel, whose functions all have a new number behind their names.
  int SavedPart(int number, bool gradient) const {
    const FunctionName& name = library_.functions[number].name;
    auto stem_of = [](llvm::StringRef text) {
      return text.rtrim("0123456789").drop_back(1);  // __inference_cond_true_108_rewritten
    };
    llvm::StringRef stem = stem_of(library_.functions[number].function->name());
    if (name.kind != Kind::kTrace) return -1;
    if (gradient) {
      stem = stem.take_front(stem.rfind("_grad_"));
    } else {
      stem.consume_back("_rewritten");
    }
    for (bool rewritten : {true, false}) {
      if (rewritten && !gradient) continue;
      for (size_t i = 0; i < library_.functions.size(); ++i) {
        const LibraryFunction& each = library_.functions[i];
        if (each.name.base != name.base || static_cast<int>(i) == number) continue;
        llvm::StringRef other = stem_of(each.function->name());
        if (other == (stem + (rewritten ? "_rewritten" : "")).str()) return static_cast<int>(i);
      }
    }
    return -1;
  }

  // --- Who runs what.
  void FindStatus() {
    std::vector<int> roots;
    bool has_main = module_.main.num_nodes() > 0;
    for (size_t i = 0; i < functions().size(); ++i) {
      LibraryFunction& each = functions()[i];
      int self = static_cast<int>(i);
      bool called = llvm::any_of(each.callers, [&](int caller) { return caller != self; });
      bool by_main = llvm::is_contained(each.callers, -1);
      if (from_outside_.count(each.function->name().str())) {
        each.status = FunctionStatus::kEntry;
      } else if (by_main) {
        each.status = FunctionStatus::kCalled;
      } else if (!called && !has_main) {
        each.status = StatusOfRoot(each);
      }
      if (each.status != FunctionStatus::kUnused) roots.push_back(self);
    }
    while (!roots.empty()) {
      int caller = roots.back();
      roots.pop_back();
      for (int callee : functions()[caller].calls) {
        if (functions()[callee].status != FunctionStatus::kUnused) continue;
        functions()[callee].status = FunctionStatus::kCalled;
        roots.push_back(callee);
      }
    }
    FindSuperseded();
  }

  // Of what nothing in a file without a main graph calls.
  FunctionStatus StatusOfRoot(const LibraryFunction& each) const {
    switch (each.role) {
      case FunctionRole::kTrace:
        return each.forward >= 0 ? FunctionStatus::kUnused : FunctionStatus::kEntry;
      case FunctionRole::kForward:  // Python ran it under a tape
        return each.name.is_loaded || each.partner < 0 || !IsFree(each.partner)
                   ? FunctionStatus::kUnused
                   : FunctionStatus::kEntry;
      case FunctionRole::kBackward:
        return each.partner < 0 || !IsFree(each.partner) ||
                       library_.functions[each.partner].name.is_loaded ||
                       library_.functions[each.partner].partner !=
                           static_cast<int>(&each - library_.functions.data())
                   ? FunctionStatus::kUnused
                   : FunctionStatus::kEntry;
      case FunctionRole::kDataset:
        return FunctionStatus::kDataset;
      case FunctionRole::kEagerOp:
        return FunctionStatus::kEager;
      case FunctionRole::kPlain:
      case FunctionRole::kSignature:
      case FunctionRole::kRestored:
      case FunctionRole::kSaver:
        return FunctionStatus::kEntry;
      default:
        return FunctionStatus::kUnused;
    }
  }

  bool IsFree(int number) const { return library_.functions[number].callers.empty(); }

  // What has a forward function, and what only such functions call.
  void FindSuperseded() {
    std::vector<int> found;
    auto supersede = [&](size_t i) {
      functions()[i].status = FunctionStatus::kSuperseded;
      found.push_back(static_cast<int>(i));
    };
    for (size_t i = 0; i < functions().size(); ++i) {
      if (functions()[i].status == FunctionStatus::kUnused && functions()[i].forward >= 0) supersede(i);
    }
    while (!found.empty()) {
      int caller = found.back();
      found.pop_back();
      for (int callee : functions()[caller].calls) {
        if (functions()[callee].status != FunctionStatus::kUnused) continue;
        bool all = llvm::all_of(functions()[callee].callers, [&](int each) {
          return each >= 0 && functions()[each].status == FunctionStatus::kSuperseded;
        });
        if (all) supersede(callee);
      }
    }
  }

  // --- Rows.
  // What stands in one row: a Python function with its pairs; a part of an op of one Python
  // function.
  std::string KeyOf(const LibraryFunction& each) const {
    switch (each.role) {
      case FunctionRole::kTrace:
      case FunctionRole::kForward:
      case FunctionRole::kBackward:
        return "trace " + each.name.base;
      case FunctionRole::kBody:
      case FunctionRole::kCondition:
      case FunctionRole::kBranch:
        return "part " + each.name.base + " " + OwnerOf(each);
      case FunctionRole::kDataset:
        return "dataset " + each.name.base + " " + each.name.transformation;
      case FunctionRole::kEagerOp:
        return "eager";
      default:
        return "other " + each.name.base;
    }
  }

  // The Python function that has the op whose part it is; the trace's where it is made of one.
  std::string OwnerOf(const LibraryFunction& each) const {
    const LibraryFunction& from = each.trace >= 0 ? library_.functions[each.trace] : each;
    for (const FunctionUse& use : from.uses)
      return use.caller < 0 ? "" : library_.functions[use.caller].name.base;
    return "";
  }

  bool IsTrace(int number) const {
    const LibraryFunction& each = library_.functions[number];
    return each.role != FunctionRole::kForward && each.role != FunctionRole::kBackward &&
           !each.name.is_rewritten && !each.name.is_gradient;
  }

  void MakeRows() {
    std::map<std::string, std::vector<int>> groups;
    for (size_t i = 0; i < functions().size(); ++i)
      groups[KeyOf(functions()[i])].push_back(static_cast<int>(i));
    for (auto& [key, members] : groups) SplitGroup(members);
    for (FunctionRow& row : library_.rows) FinishRow(&row);
    std::stable_sort(library_.rows.begin(), library_.rows.end(),
                     [&](const FunctionRow& a, const FunctionRow& b) { return Rank(a) < Rank(b); });
    for (size_t i = 0; i < library_.rows.size(); ++i)
      for (int member : library_.rows[i].members) functions()[member].row = static_cast<int>(i);
  }

  // Python functions of one name, as the methods of two classes are, get a row each.
  void SplitGroup(const std::vector<int>& group) {
    size_t first = library_.rows.size();
    auto add = [&](int number, size_t row) {
      if (row == library_.rows.size()) {
        bool eager = functions()[number].role == FunctionRole::kEagerOp;
        library_.rows.push_back({eager ? "eager ops" : functions()[number].name.base,
                                 functions()[number].role, {}});
      }
      library_.rows[row].members.push_back(number);
      functions()[number].row = static_cast<int>(row);
    };
    for (int number : group) {
      if (!IsTrace(number)) continue;
      size_t row = first;
      while (row < library_.rows.size() && functions()[number].role == FunctionRole::kTrace &&
             !MayBeTracesOfOne(functions()[library_.rows[row].members[0]], functions()[number]))
        ++row;
      add(number, row);
    }
    for (int number : group) {
      if (IsTrace(number)) continue;
      int trace = functions()[number].trace;
      while (trace >= 0 && !IsTrace(trace)) trace = functions()[trace].trace;
      bool is_here = trace >= 0 && llvm::is_contained(group, trace);
      add(number, is_here ? functions()[trace].row : first);
    }
  }

  void FinishRow(FunctionRow* row) {
    std::sort(row->members.begin(), row->members.end(), [&](int a, int b) {
      auto key = [&](int number) {
        const LibraryFunction& each = functions()[number];
        return std::make_tuple(!IsTrace(number), each.name.number.value_or(-1),
                               each.function->name(), number);
      };
      return key(a) < key(b);
    });
    row->traces = llvm::count_if(row->members, [&](int number) { return IsTrace(number); });
    std::vector<LibraryFunction*> traces;
    for (int member : llvm::ArrayRef(row->members).take_front(row->traces))
      traces.push_back(&functions()[member]);
    row->one_body = traces.size() > 1 && llvm::all_of(traces, [&](const LibraryFunction* each) {
      return each->hash == traces[0]->hash;
    });
    row->role = functions()[row->members[0]].role;
    if (row->role == FunctionRole::kForward || row->role == FunctionRole::kBackward)
      row->role = FunctionRole::kTrace;
    row->is_entry = llvm::any_of(row->members, [&](int member) {
      return functions()[member].status == FunctionStatus::kEntry;
    });
    if (row->role != FunctionRole::kEagerOp) CompareTraces(traces);
  }

  static std::tuple<int, llvm::StringRef> Rank(const FunctionRow& row) {
    bool is_part = row.role != FunctionRole::kTrace && row.role != FunctionRole::kPlain;
    int rank = row.is_entry && !is_part ? 0 : is_part ? 2 : 1;
    if (row.is_entry && is_part) rank = row.role == FunctionRole::kSignature ? 0 : 2;
    if (row.role == FunctionRole::kEagerOp) rank = 3;
    return {rank, row.name};
  }

  const Module& module_;
  std::set<std::string> from_outside_;
  FunctionLibrary library_;
  llvm::StringMap<int> number_;
  llvm::DenseMap<StringId, bool> may_call_;
  std::map<int, std::set<int>> called_;
  llvm::StringMap<std::string> gradient_of_, gradient_for_;
  llvm::StringMap<std::vector<int>> by_base_;
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
      "trace",  "forward",   "backward", "body",  "cond",     "branch",  "dataset function",
      "signature", "restored", "saver", "gradient", "eager op", "function"};
  return kNames[static_cast<int>(role)];
}

llvm::StringRef StatusName(FunctionStatus status) {
  static constexpr llvm::StringRef kNames[] = {"entry", "called", "dataset",
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
