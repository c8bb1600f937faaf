#include "lib/pass/op_pattern.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

class Parser {
 public:
  Parser(llvm::StringRef text, llvm::ArrayRef<const char*> root_ops)
      : text_(text), left_(text), root_ops_(root_ops) {}

  Expected<OpPattern> Parse() {
    pattern_.steps.emplace_back();
    Take();
    if (left_.starts_with("(")) {
      pattern_.steps[0].kind = OpPattern::Step::kOps;
      pattern_.steps[0].ops.assign(root_ops_.begin(), root_ops_.end());
    } else {
      RETURN_IF_ERROR(ReadWord(0));
      if (pattern_.steps[0].kind != OpPattern::Step::kOps) return Wrong("an op");
    }
    RETURN_IF_ERROR(ReadInputs(0));
    if (!left_.empty()) return Wrong("the end, or ';'");
    return std::move(pattern_);
  }

 private:
  void Take() { left_ = left_.ltrim(); }
  Error Wrong(llvm::StringRef expected) const {
    return MakeError("pattern '{0}': {1} was expected at '{2}'", text_, expected, left_);
  }

  static bool IsOfName(char letter) { return llvm::isAlnum(letter) || letter == '_'; }

  // Reads the part of a step before its parentheses.
  Error ReadWord(int at) {
    using Step = OpPattern::Step;
    Take();
    double number = 0;
    llvm::StringRef digits =
        left_.take_while([](char letter) { return llvm::isDigit(letter) || letter == '.'; });
    if (!digits.empty() && !digits.getAsDouble(number)) {
      pattern_.steps[at].kind = Step::kNumber;
      pattern_.steps[at].number = number;
      left_ = left_.drop_front(digits.size());
      return Error::success();
    }
    llvm::StringRef word = left_.take_while(IsOfName);
    if (word.empty()) return Wrong("an op, a number or a name");
    left_ = left_.drop_front(word.size());
    if (word == "_") return Error::success();
    if (word[0] >= 'a' && word[0] <= 'z') {
      pattern_.steps[at].name = word.str();
      return left_.consume_front(":") ? ReadWord(at) : Error::success();
    }
    if (word == "Const") {
      pattern_.steps[at].kind = Step::kConstant;
      return Error::success();
    }
    pattern_.steps[at].kind = Step::kOps;
    pattern_.steps[at].ops.push_back(word.str());
    return left_.consume_front("|") ? ReadWord(at) : Error::success();
  }

  Error ReadInputs(int parent) {
    Take();
    if (!left_.consume_front("(")) return Error::success();
    do {
      int at = static_cast<int>(pattern_.steps.size());
      pattern_.steps.emplace_back().parent = parent;
      pattern_.steps[parent].inputs.push_back(at);
      RETURN_IF_ERROR(ReadWord(at));
      RETURN_IF_ERROR(ReadInputs(at));
      Take();
    } while (left_.consume_front(","));
    if (!left_.consume_front(")")) return Wrong("',' or ')'");
    Take();
    return Error::success();
  }

  llvm::StringRef text_, left_;
  llvm::ArrayRef<const char*> root_ops_;
  OpPattern pattern_;
};

}  // namespace

Expected<std::vector<OpPattern>> OpPattern::ParseAll(llvm::StringRef text,
                                                     llvm::ArrayRef<const char*> root_ops) {
  std::vector<OpPattern> patterns;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  text.split(parts, ';', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    if (part.trim().empty()) continue;
    ASSIGN_OR_RETURN(OpPattern pattern, Parser(part.trim(), root_ops).Parse());
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace grapnel
