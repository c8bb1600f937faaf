#include "lib/check/node_place.h"

#include <utility>
#include <vector>

#include "lib/ir/attr.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using CalledPart = std::pair<std::string, llvm::StringRef>;  // a role ("body"), and its function

std::vector<CalledPart> PartsOf(const Node& caller) {
  llvm::StringRef op = caller.op();
  op.consume_front("Stateless");
  std::vector<CalledPart> parts;
  auto add = [&](const char* part, const char* attr) {
    auto value = caller.Attr(attr);
    auto function = value ? value->AsFuncName() : std::nullopt;
    if (function) parts.emplace_back(part, *function);
  };
  if (op == "While") {
    add("cond", "cond");
    add("body", "body");
  } else if (op == "If") {
    add("then", "then_branch");
    add("else", "else_branch");
  } else if (op == "Case") {
    auto value = caller.Attr("branches");
    std::vector<llvm::StringRef> branches;
    if (value) branches = value->FuncNames();
    for (size_t i = 0; i < branches.size(); ++i)
      parts.emplace_back("branch" + std::to_string(i), branches[i]);
  }
  return parts;
}

bool IsNumber(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool IsLoweredNumber(llvm::StringRef word) { return word.consume_front("_") && IsNumber(word); }

bool IsPart(llvm::StringRef word) {
  return word == "cond" || word == "body" || word == "then" || word == "else" ||
         (word.consume_front("branch") && IsNumber(word));
}

// Adds the role of a function in its caller (see PartOfCaller) to the place: "?/" to the path for
// the condition of a loop, a branch such as "then" to `branches`; nothing for "body".
void AppendPart(llvm::StringRef part, NodePlace* place) {
  if (part == "cond") {
    place->path += "?/";
  } else if (!part.empty() && part != "body") {
    place->branches.append(part.str()).append(";");
  }
}

llvm::SmallVector<llvm::StringRef, 4> Split(llvm::StringRef text, char separator) {
  llvm::SmallVector<llvm::StringRef, 4> words;
  text.split(words, separator, /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return words;
}

}  // namespace

std::string PartOfCaller(const Node& caller, llvm::StringRef function) {
  std::string all;
  for (const auto& [part, of] : PartsOf(caller)) {
    if (of == function) all += (all.empty() ? "" : "|") + part;
  }
  return all;
}

void AppendCaller(const NodePlace& caller, llvm::StringRef part, NodePlace* place) {
  place->path.append(caller.path).append("/");
  place->branches += caller.branches;
  AppendPart(part, place);
}

bool IsAddedByLowering(llvm::StringRef name) {
  return name.starts_with("Func/") || IsLoweredNumber(name.rsplit('/').second);
}

NodePlace PlaceOfName(llvm::StringRef name) {
  NodePlace place;
  if (!name.contains("/_") || IsAddedByLowering(name)) {
    place.path = name.str();
    return place;
  }
  llvm::SmallVector<llvm::StringRef, 8> words;
  name.split(words, '/');
  for (size_t i = 0; i < words.size(); ++i) {
    // The first component of the name is a caller, and the last one is the node's own name, so
    // neither is a role such as "body".
    bool is_part =
        i > 0 && i + 2 < words.size() && IsPart(words[i]) && IsLoweredNumber(words[i + 1]);
    if (is_part) {
      AppendPart(words[i++], &place);
    } else {
      place.path.append(words[i].str()).append(i + 1 < words.size() ? "/" : "");
    }
  }
  return place;
}

bool MayBeSameBranches(llvm::StringRef a, llvm::StringRef b) {
  auto of_a = Split(a, ';'), of_b = Split(b, ';');
  if (of_a.size() != of_b.size()) return true;  // branches that were inlined are not in the list
  for (size_t i = 0; i < of_a.size(); ++i) {
    auto any_of_b = Split(of_b[i], '|');
    auto is_there = [&](llvm::StringRef part) { return llvm::is_contained(any_of_b, part); };
    if (llvm::none_of(Split(of_a[i], '|'), is_there)) return false;
  }
  return true;
}

}  // namespace grapnel
