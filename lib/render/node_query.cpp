#include "lib/render/node_query.h"

#include <algorithm>
#include <cstring>

#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// True if `text` contains `part` in upper or lower case; `part` must be in lower case. Fast (some
// 50 ms for a million names), because memchr finds possible beginnings.
bool Holds(llvm::StringRef text, llvm::StringRef part) {
  if (part.empty()) return true;
  if (text.size() < part.size()) return false;
  const char first[] = {part[0], llvm::toUpper(part[0])};
  const char* last = text.end() - part.size();
  for (const char* at = text.begin(); at <= last; ++at) {
    size_t left = last - at + 1;
    const char* lower = static_cast<const char*>(std::memchr(at, first[0], left));
    if (first[1] != first[0]) {
      size_t before = lower ? lower - at : left;
      if (const void* upper = std::memchr(at, first[1], before))
        lower = static_cast<const char*>(upper);
    }
    if (!lower) return false;
    if (llvm::StringRef(lower, part.size()).equals_insensitive(part)) return true;
    at = lower;
  }
  return false;
}

llvm::StringRef LastComponent(llvm::StringRef name) {
  size_t slash = name.rfind('/');
  return slash == llvm::StringRef::npos ? name : name.drop_front(slash + 1);
}

}  // namespace

NodeQuery NodeQuery::Parse(llvm::StringRef text) {
  static constexpr std::pair<const char*, Field> kFields[] = {
      {"op:", Field::kOp},      {"device:", Field::kDevice}, {"shape:", Field::kTypes},
      {"type:", Field::kTypes}, {"dtype:", Field::kTypes},   {"attr:", Field::kAttributes}};
  NodeQuery query;
  llvm::SmallVector<llvm::StringRef, 4> words;
  llvm::SplitString(text, words, " \t\n\v\f\r");
  for (llvm::StringRef word : words) {
    Field field = Field::kName;
    for (const auto& [prefix, of_prefix] : kFields) {
      if (field == Field::kName && word.consume_front(prefix)) field = of_prefix;
    }
    Word one{field, word.lower(), std::nullopt, std::nullopt};
    if (field == Field::kName && NameRegex::IsWord(word)) {
      if (auto regex = NameRegex::Parse(word, /*ignore_case=*/true)) {
        one.regex = std::move(*regex);
      } else {
        llvm::consumeError(regex.takeError());
      }
    }
    bool may_be_glob = (field == Field::kName && !one.regex) || field == Field::kOp;
    if (may_be_glob && word.find_first_of("*?") != llvm::StringRef::npos) {
      if (auto glob = Glob::Parse(one.text)) {
        one.glob = std::move(*glob);
      } else {
        llvm::consumeError(glob.takeError());
      }
    }
    query.words_.push_back(std::move(one));
  }
  return query;
}

std::optional<int> NodeQuery::RankOfName(const Word& word, const Node& node) {
  llvm::StringRef name = node.name(), last = LastComponent(name);
  if (word.regex) {
    if (word.regex->Matches(last)) return 1;
    return word.regex->Matches(name) ? std::optional<int>(4) : std::nullopt;
  }
  if (word.glob) {
    std::string lower = name.lower();
    if (word.glob->Fits(lower)) return 0;
    for (llvm::StringRef rest = lower; rest.contains('/');) {
      rest = rest.split('/').second;
      if (word.glob->Fits(rest)) return rest.contains('/') ? 4 : 1;
    }
    return std::nullopt;
  }
  bool op = node.op().equals_insensitive(word.text);
  if (!op && !Holds(name, word.text)) return std::nullopt;
  if (name.equals_insensitive(word.text)) return 0;
  if (last.equals_insensitive(word.text)) return 1;
  if (op) return 2;
  return last.starts_with_insensitive(word.text) ? 3 : 4;
}

std::optional<int> NodeQuery::RankOf(const Node& node, const Texts& texts) const {
  std::optional<int> rank;
  for (const Word& word : words_) {
    bool holds = true;
    switch (word.field) {
      case Field::kName: {
        std::optional<int> of_name = RankOfName(word, node);
        holds = of_name.has_value();
        if (!rank) rank = of_name;
        break;
      }
      case Field::kOp:
        holds = word.glob ? word.glob->Fits(node.op().lower())
                          : node.op().equals_insensitive(word.text);
        break;
      case Field::kDevice:
        holds = Holds(texts.device(), word.text);
        break;
      case Field::kTypes:
        holds = Holds(texts.types(), word.text);
        break;
      case Field::kAttributes:
        holds = Holds(texts.attributes(), word.text);
        break;
    }
    if (!holds) return std::nullopt;
  }
  return 2 * rank.value_or(0) + (node.op() == "_Arg" ? 1 : 0);
}

}  // namespace grapnel
