#include "lib/ir/short_names.h"

#include <algorithm>
#include <iterator>

#include "lib/ir/find.h"
#include "lib/ir/name_parts.h"
#include "lib/ir/shared_scope.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

std::string Reversed(llvm::StringRef text) {
  return std::string(std::make_reverse_iterator(text.end()),
                     std::make_reverse_iterator(text.begin()));
}

bool IsInName(char c) { return llvm::isAlnum(c) || llvm::StringRef("_./>+-").contains(c); }

bool HasLong(llvm::ArrayRef<std::string> names) {
  return llvm::any_of(names,
                      [](const std::string& name) { return name.size() > ShortNames::kLongest; });
}

// Returns where the first whole part begins from which on the name has at most `most` letters.
size_t EndThatFits(llvm::StringRef name, size_t most) {
  for (size_t at = 0; at != llvm::StringRef::npos;) {
    if (name.size() - at <= most) return at;
    size_t slash = name.find('/', at);
    at = slash == llvm::StringRef::npos ? slash : slash + 1;
  }
  return llvm::StringRef::npos;
}

// Returns the text from its first whole word on.
llvm::StringRef FromWord(llvm::StringRef text) {
  size_t cut = text.find_first_of("/_");
  return cut == llvm::StringRef::npos || cut + 1 >= text.size() ? text : text.drop_front(cut + 1);
}

}  // namespace

ShortNames::ShortNames(std::vector<std::string> known, llvm::ArrayRef<std::string> printed) {
  if (!HasLong(printed)) return;
  left_out_ = SharedScope(printed);
  Keep(std::move(known));
}

ShortNames ShortNames::WithScopes(std::vector<std::string> known) {
  ShortNames names;
  names.Keep(std::move(known));
  return names;
}

void ShortNames::Keep(std::vector<std::string> known) {
  for (std::string& name : known) std::reverse(name.begin(), name.end());
  llvm::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  reversed_ = std::move(known);
}

std::string ShortNames::Note() const {
  return left_out_.empty() ? "" : "names are without " + left_out_;
}

bool ShortNames::IsKnown(llvm::StringRef name) const {
  std::string text = Reversed(name);
  auto at = std::lower_bound(reversed_.begin(), reversed_.end(), text);
  if (at != reversed_.end() && *at == text) return true;
  text += '/';
  at = std::lower_bound(at, reversed_.end(), text);
  return at != reversed_.end() && llvm::StringRef(*at).starts_with(text);
}

bool ShortNames::MeansOnly(llvm::StringRef name, llvm::StringRef letters,
                           llvm::function_ref<bool(llvm::StringRef)> fits) const {
  constexpr int kMostTried = 5000;  // known names with the same end
  std::string text = Reversed(letters);
  auto at = std::lower_bound(reversed_.begin(), reversed_.end(), text);
  for (int i = 0; at != reversed_.end() && llvm::StringRef(*at).starts_with(text); ++at, ++i) {
    if (i == kMostTried) return false;
    std::string other = Reversed(*at);
    if (!EndsWithParts(other, name) && fits(other)) return false;
  }
  return true;
}

bool ShortNames::IsEndOf(llvm::StringRef name, llvm::StringRef end) const {
  return MeansOnly(name, end, [&](llvm::StringRef other) { return EndsWithParts(other, end); });
}

// Returns a pattern of at most kLongest letters that only this name matches; the name if there is
// none.
std::string ShortNames::PatternOf(llvm::StringRef name) const {
  if (name.find_first_of("*?[]\\") != llvm::StringRef::npos) return name.str();
  // A part, which others lack, and the end.
  llvm::SmallVector<llvm::StringRef> parts;
  name.split(parts, '/');
  for (size_t from = 2; from < parts.size(); ++from) {
    llvm::StringRef rest = name.drop_front(parts[from].data() - name.data());
    for (size_t i = 0; i + 1 < from; ++i) {
      llvm::StringRef part = parts[i];
      if (part.empty() || part.size() + 3 + rest.size() > kLongest) continue;
      std::string begin = part.str() + "/";
      auto fits = [&](llvm::StringRef other) {
        llvm::StringRef before = other.drop_back(rest.size());
        return before.starts_with(begin) || before.contains("/" + begin);
      };
      if (MeansOnly(name, ("/" + rest).str(), fits)) return begin + "*/" + rest.str();
    }
  }
  // The last letters.
  llvm::StringRef end = FromWord(name.take_back(kLongest - 1));
  if (MeansOnly(name, end, [](llvm::StringRef) { return true; })) return "*" + end.str();
  // Words that others lack, and the last letters.
  end = FromWord(name.take_back(kLongest / 2));
  llvm::SmallVector<size_t> words = {0};
  llvm::StringRef before = name.drop_back(end.size());
  for (size_t i = 1; i < before.size(); ++i)
    if (!llvm::isAlnum(before[i - 1]) && llvm::isAlnum(before[i])) words.push_back(i);
  words.push_back(before.size());
  for (size_t count : {2, 1, 3, 4}) {
    for (size_t i = 0; i + count < words.size(); ++i) {
      llvm::StringRef letters = before.slice(words[i], words[i + count]).rtrim("_/");
      if (letters.empty() || letters.size() + 2 + end.size() > kLongest) continue;
      auto fits = [&](llvm::StringRef other) {
        return other.drop_back(end.size()).contains(letters);
      };
      if (MeansOnly(name, end, fits)) return ("*" + letters + "*" + end).str();
    }
  }
  return name.str();
}

std::string ShortNames::Of(llvm::StringRef name) const {
  if (reversed_.empty()) return name.str();
  llvm::StringRef rest = name;
  if (!left_out_.empty() && rest.consume_front(left_out_) && rest.size() <= kLongest &&
      IsEndOf(name, rest))
    return rest.str();
  if (name.size() <= kLongest) return name.str();
  size_t at = EndThatFits(name, kLongest);
  if (at != llvm::StringRef::npos && IsEndOf(name, name.drop_front(at)))
    return name.drop_front(at).str();
  return PatternOf(name);
}

std::string ShortNames::EndOf(llvm::StringRef name, llvm::StringRef end) const {
  return end.size() <= kLongest && IsEndOf(name, end) ? end.str() : Of(name);
}

std::string ShortNames::InText(llvm::StringRef text) const {
  if (reversed_.empty()) return text.str();
  std::string made;
  while (!text.empty()) {
    size_t begin = llvm::find_if(text, IsInName) - text.begin();
    made += text.take_front(begin);
    text = text.drop_front(begin);
    size_t size = llvm::find_if(text, [](char c) { return !IsInName(c); }) - text.begin();
    llvm::StringRef name = text.take_front(size);
    bool may_be = name.size() > kLongest || (!left_out_.empty() && name.starts_with(left_out_));
    made += may_be && IsKnown(name) ? Of(name) : name.str();
    text = text.drop_front(size);
  }
  return made;
}

std::vector<std::string> AllNodeNames(const Module& module) {
  std::vector<std::string> names;
  VisitNodeNames(module, [&](llvm::StringRef name) { names.push_back(name.str()); });
  return names;
}

}  // namespace grapnel
