#include "lib/render/node_filter.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kFields[] = {"device:", "job:", "task:", "cluster:", "function:"};

}  // namespace

Expected<FilterWords> FilterWords::Parse(llvm::ArrayRef<std::string> words) {
  FilterWords parsed;
  for (llvm::StringRef word : words) {
    llvm::StringRef text = word;
    const auto* field =
        llvm::find_if(kFields, [&](llvm::StringRef known) { return text.consume_front(known); });
    if (field != std::end(kFields)) {
      parsed.texts_[field->drop_back().str()].insert(text.str());
    } else if (word.starts_with("op:")) {
      RETURN_IF_ERROR(parsed.ops_.Add(word));
    } else if (HiddenNodes::IsWord(word)) {
      RETURN_IF_ERROR(parsed.names_.Add(word));
    } else {
      return MakeError("'{0}' is not a node filter: expected op:, name:, /REGEX/, device:, ...",
                       word);
    }
  }
  return parsed;
}

bool FilterWords::FitsOp(const Node& node) {
  auto [at, fresh] = known_ops_.try_emplace(node.op_id(), false);
  if (fresh) at->second = ops_.Hides(node);
  return at->second;
}

bool FilterWords::FitsAny(const Node& node, TextOf text_of) {
  if (!ops_.empty() && FitsOp(node)) return true;
  if (!names_.empty() && names_.Hides(node)) return true;
  return llvm::any_of(
      texts_, [&](const auto& field) { return field.second.count(text_of(field.first)) != 0; });
}

bool FilterWords::FitsEachField(const Node& node, TextOf text_of) {
  if (!ops_.empty() && !FitsOp(node)) return false;
  if (!names_.empty() && !names_.Hides(node)) return false;
  return llvm::all_of(
      texts_, [&](const auto& field) { return field.second.count(text_of(field.first)) != 0; });
}

}  // namespace grapnel
