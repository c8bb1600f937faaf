#include "lib/render/name_regex.h"

#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// Translates \d, \w and \s outside of brackets into POSIX brackets: users write these classes, but
// POSIX regular expressions lack them.
std::string WithClasses(llvm::StringRef regex) {
  std::string result;
  bool in_brackets = false;
  for (size_t i = 0; i < regex.size(); ++i) {
    char c = regex[i];
    if (c != '\\' || i + 1 == regex.size() || in_brackets) {
      in_brackets = in_brackets ? c != ']' : c == '[';
      result += c;
      continue;
    }
    char next = regex[++i];
    llvm::StringRef set = llvm::StringSwitch<llvm::StringRef>(llvm::StringRef(&next, 1))
                              .CaseLower("d", "0-9")
                              .CaseLower("w", "A-Za-z0-9_")
                              .CaseLower("s", "[:space:]")
                              .Default("");
    if (set.empty()) {
      result += {c, next};
    } else {
      result += (llvm::isUpper(next) ? "[^" : "[") + set.str() + "]";
    }
  }
  return result;
}

// Returns texts that every match of `regex` contains: its runs of literal characters. Returns no
// text if the regex has groups, alternatives, escapes or unusual brackets.
std::vector<std::string> LiteralsOf(llvm::StringRef regex) {
  std::vector<std::string> literals;
  if (regex.find_first_of("|(\\") != llvm::StringRef::npos) return literals;
  for (llvm::StringRef odd :
       {"[:", "[.", "[=", "[]", "[^]"})  // brackets that do not end at the first ]
    if (regex.contains(odd)) return literals;
  std::string run;
  auto end = [&] {
    if (!run.empty()) literals.push_back(std::exchange(run, ""));
  };
  for (size_t i = 0; i < regex.size(); ++i) {
    char c = regex[i];
    if (llvm::isAlnum(c) || c == '_' || c == '/' || c == '-') {
      run += c;
      continue;
    }
    if (c == '*' || c == '?' || c == '{') run.erase(run.size() - !run.empty());
    end();
    if (c == '[') i = regex.find(']', i + 2);
    if (c == '{') i = regex.find('}', i);
    if (i == llvm::StringRef::npos) break;
  }
  end();
  return literals;
}

}  // namespace

Expected<NameRegex> NameRegex::Parse(llvm::StringRef word, bool ignore_case) {
  std::string pattern = WithClasses(word.drop_front().drop_back());
  auto regex = std::make_shared<llvm::Regex>(
      pattern, ignore_case ? llvm::Regex::IgnoreCase : llvm::Regex::NoFlags);
  std::string why;
  if (!regex->isValid(why)) return MakeError("'{0}' is not a regular expression: {1}", word, why);
  NameRegex parsed;
  parsed.regex_ = std::move(regex);
  if (!ignore_case) parsed.literals_ = LiteralsOf(pattern);
  return parsed;
}

bool NameRegex::Matches(llvm::StringRef name) const {
  auto is_there = [name](const std::string& text) { return name.contains(text); };
  return llvm::all_of(literals_, is_there) && regex_->match(name);
}

}  // namespace grapnel
