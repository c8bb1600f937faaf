#include "lib/ir/short_names.h"

#include <algorithm>
#include <iterator>

#include "lib/ir/find.h"
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

}  // namespace

ShortNames::ShortNames(std::vector<std::string> known, llvm::ArrayRef<std::string> printed) {
  if (!HasLong(printed)) return;
  left_out_ = SharedScope(printed);
  Keep(std::move(known));
}

ShortNames ShortNames::WithScopes(std::vector<std::string> known) {
  ShortNames names;
  if (HasLong(known)) names.Keep(std::move(known));
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

int ShortNames::CountEnding(llvm::StringRef end) const {
  std::string text = Reversed(end);
  auto exact = std::lower_bound(reversed_.begin(), reversed_.end(), text);
  int count = exact != reversed_.end() && *exact == text;
  text += '/';
  for (auto at = std::lower_bound(reversed_.begin(), reversed_.end(), text);
       at != reversed_.end() && llvm::StringRef(*at).starts_with(text) && count < 2; ++at)
    ++count;
  return count;
}

bool ShortNames::IsAlone(llvm::StringRef text) const { return CountEnding(text) == 1; }

// Returns a pattern of at most kLongest letters that only this name matches; the name if there is
// none.
std::string ShortNames::PatternOf(llvm::StringRef name) const {
  constexpr size_t kMostTried = 2000;  // known names with the same end
  if (name.find_first_of("*?[]\\") != llvm::StringRef::npos) return name.str();
  // Calls `fits` with the known names that end with these letters. Returns whether only this name
  // fits.
  auto is_alone = [&](llvm::StringRef letters, auto fits) {
    std::string text = Reversed(letters);
    auto at = std::lower_bound(reversed_.begin(), reversed_.end(), text);
    int count = 0;
    for (size_t i = 0; at != reversed_.end() && llvm::StringRef(*at).starts_with(text); ++at, ++i) {
      if (i == kMostTried) return false;
      count += fits(Reversed(*at));
    }
    return count == 1;
  };
  llvm::StringRef end = name.take_back(kLongest - 1);
  size_t cut = end.find_first_of("/_");
  if (cut != llvm::StringRef::npos && cut + 1 < end.size()) end = end.drop_front(cut + 1);
  if (is_alone(end, [](const std::string&) { return true; })) return "*" + end.str();
  // A part of the name from which on it differs from the others.
  llvm::SmallVector<llvm::StringRef> parts;
  name.split(parts, '/');
  for (size_t from = 1; from < parts.size(); ++from) {
    llvm::StringRef rest = name.drop_front(parts[from].data() - name.data());
    for (size_t i = 0; i < from; ++i) {
      llvm::StringRef part = parts[i];
      if (part.empty() || part.size() + 2 + rest.size() > kLongest) continue;
      std::string begin = part.str() + "/";
      auto fits = [&](const std::string& other) {
        llvm::StringRef before = llvm::StringRef(other).drop_back(rest.size());
        return before.starts_with(begin) || before.contains("/" + begin);
      };
      if (is_alone(("/" + rest).str(), fits)) return begin + "*/" + rest.str();
    }
  }
  return name.str();
}

std::string ShortNames::Of(llvm::StringRef name) const {
  if (reversed_.empty()) return name.str();
  llvm::StringRef rest = name;
  if (!left_out_.empty() && rest.consume_front(left_out_) && rest.size() <= kLongest &&
      IsAlone(rest))
    return rest.str();
  if (name.size() <= kLongest) return name.str();
  size_t at = EndThatFits(name, kLongest);
  if (at != llvm::StringRef::npos && IsAlone(name.drop_front(at))) return name.drop_front(at).str();
  return PatternOf(name);
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
    made += may_be && CountEnding(name) > 0 ? Of(name) : name.str();
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
