#include "lib/library/function_name.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Removes a number like "_221" from the end of `name` and returns it; nullopt if there is no number
// or nothing would be left.
std::optional<int64_t> TakeNumber(llvm::StringRef* name) {
  size_t digits = name->find_last_not_of("0123456789");
  if (digits == llvm::StringRef::npos || digits == 0 || (*name)[digits] != '_') return std::nullopt;
  int64_t number;
  if (name->substr(digits + 1).getAsInteger(10, number)) return std::nullopt;
  *name = name->take_front(digits);
  return number;
}

// Removes all suffixes "_rewritten" and "_grad_203" that tf.cond and tf.while_loop appended to the
// name of a branch, condition or body when they differentiated it. `number` becomes the number
// after the last "_grad_".
void TakeSuffixes(llvm::StringRef* name, FunctionName* out) {
  while (true) {
    llvm::StringRef rest = *name;
    if (rest.consume_back("_rewritten") && !rest.empty()) {
      if (!out->is_gradient) out->is_rewritten = true;
      *name = rest;
      continue;
    }
    std::optional<int64_t> number = TakeNumber(&rest);
    if (!number || !rest.consume_back("_grad") || rest.empty()) return;
    if (!out->is_gradient) out->number = number;
    out->is_gradient = true;
    *name = rest;
  }
}

// True for a name that cond, switch_case, while_loop or a function built on them gives: a scope,
// such as "while", "while_1" or "AssertGuard", and the part, such as "body".
bool IsNameOfControlFlow(llvm::StringRef name) {
  auto is_part_of = [&](llvm::StringRef part, llvm::StringRef scope) {
    llvm::StringRef rest = name;
    if (!rest.consume_back(part)) return false;
    TakeNumber(&rest);
    return rest.ends_with(scope);
  };
  for (llvm::StringRef part : {"_true", "_false"})
    if (is_part_of(part, "cond") || is_part_of(part, "AssertGuard")) return true;
  for (llvm::StringRef part : {"_body", "_cond"})
    if (is_part_of(part, "while")) return true;
  llvm::StringRef rest = name.rtrim("0123456789");
  return rest.size() < name.size() && rest.ends_with("_branch");
}

// Splits "Dataset_map_parse" into the transformation "map" and the name "parse".
void TakeTransformation(llvm::StringRef* name, FunctionName* out) {
  static constexpr llvm::StringRef kMethods[] = {"bucket_by_sequence_length",
                                                 "choose_from_datasets",
                                                 "flat_map",
                                                 "filter",
                                                 "from_generator",
                                                 "group_by_reducer",
                                                 "group_by_window",
                                                 "interleave",
                                                 "map_with_legacy_function",
                                                 "map",
                                                 "rejection_resample",
                                                 "reduce",
                                                 "scan",
                                                 "take_while",
                                                 "unique",
                                                 "window"};
  llvm::StringRef rest = *name;
  if (!rest.consume_front("Dataset_") && !rest.consume_front("tf_data_experimental_") &&
      !rest.starts_with("reduce_"))
    return;
  const auto* method = llvm::find_if(kMethods, [&](llvm::StringRef each) {
    return rest.starts_with((each + "_").str()) && rest.size() > each.size() + 1;
  });
  if (method == std::end(kMethods)) return;
  out->transformation = method->str();
  *name = rest.drop_front(method->size() + 1);
}

// Removes each "__backward_" from the front, with a number from the end:
// "__backward___backward_critic_115" becomes "critic", the Python function that was differentiated.
void TakeGradients(llvm::StringRef* name, FunctionName* out) {
  while (name->starts_with("__backward_")) {
    llvm::StringRef rest = name->drop_front(llvm::StringRef("__backward_").size());
    std::optional<int64_t> begun = TakeNumber(&rest);
    if (rest.empty()) return;
    if (!out->begun) out->begun = begun;
    ++out->order;
    *name = rest;
  }
}

}  // namespace

FunctionName ParseFunctionName(llvm::StringRef name, bool in_dataset, bool is_part) {
  using Kind = FunctionName::Kind;
  FunctionName out;
  llvm::StringRef rest = name;
  if (rest.consume_front("__wrapped__") && rest.contains("_device_")) {
    out.kind = Kind::kEagerOp;
    out.base = rest.take_front(rest.find("_device_")).str();
    return out;
  }
  rest = name;
  if (size_t at = rest.find("_specialized_for_"); at != llvm::StringRef::npos && at > 0) {
    out.is_specialized = true;
    rest = rest.take_front(at);
  }
  if (rest.consume_front("__inference_")) {
    out.kind = Kind::kTrace;
  } else if (rest.consume_front("__forward_")) {
    out.kind = Kind::kForward;
  } else if (rest.starts_with("__backward_")) {
    out.kind = Kind::kBackward;
  }
  bool is_plain = out.kind == Kind::kPlain;
  if (!is_plain) out.number = TakeNumber(&rest);
  if (out.kind == Kind::kTrace && rest.starts_with("__backward_")) out.kind = Kind::kBackward;
  if (out.kind == Kind::kTrace && rest.starts_with("__forward_")) {
    llvm::StringRef inner = rest.drop_front(llvm::StringRef("__forward_").size());
    if (TakeNumber(&inner) && !inner.empty()) {
      out.kind = Kind::kForward;
      out.is_loaded = true;
      rest = inner;
    }
  }
  TakeGradients(&rest, &out);
  if (out.kind == Kind::kForward) ++out.order;
  if (out.kind == Kind::kPlain || out.kind == Kind::kTrace) {
    llvm::StringRef inner = rest;
    TakeSuffixes(&inner, &out);
    llvm::StringRef without = inner;
    std::optional<int64_t> number = TakeNumber(&without);
    bool has_suffix = out.is_rewritten || out.is_gradient;
    bool may_be = number && (IsNameOfControlFlow(without) || (is_plain && (has_suffix || is_part)));
    if (may_be) {
      out.is_control_flow = true;
      if (!out.number) out.number = number;
      inner = without;
    }
    if (may_be || (has_suffix && is_part)) {
      rest = inner;
    } else {
      out.is_rewritten = out.is_gradient = false;
    }
  }
  if (in_dataset) TakeTransformation(&rest, &out);
  out.base = (rest.empty() ? name : rest).str();
  return out;
}

}  // namespace grapnel
