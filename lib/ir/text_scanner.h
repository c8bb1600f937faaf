// The words of a graph's text. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_SCANNER_H_
#define GRAPNEL_LIB_IR_TEXT_SCANNER_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

namespace grapnel {

// A place in a text, both counted from 1, columns in bytes.
struct TextPlace {
  int line = 0;
  int column = 0;
  std::string ToString() const;  // "12:3"
};

// Reads a text from left to right. Spaces, line ends and comments ('#' to the end of the line)
// stand between any two words. Each Read...() is false, with an error, when something else is
// there.
class TextScanner {
 public:
  explicit TextScanner(llvm::StringRef text, int first_line = 1)
      : at_(text.begin()), end_(text.end()), line_begin_(text.begin()), line_(first_line) {}

  bool AtEnd() { return Peek() == '\0'; }
  // The next character that is no space and in no comment; '\0' at the end. It stays.
  char Peek();
  // Whether what comes next is `text`; takes it.
  bool Consume(llvm::StringRef text);
  // The same for a whole word: not the beginning of a longer one.
  bool ConsumeWord(llvm::StringRef word);
  // Takes `text` or fails with "expected 'text'".
  bool Expect(llvm::StringRef text);
  // The word that comes next, of letters, digits and _ . > + -; empty when there is none. It stays.
  llvm::StringRef PeekWord();
  llvm::StringRef TakeWord();
  // What follows the next word: for telling `int:1` from `int32`. Nothing is taken.
  char CharAfterWord();
  char CharAt(size_t offset) const {
    return offset < static_cast<size_t>(end_ - at_) ? at_[offset] : '\0';
  }

  // A name of a node or function: bare, or in quotes. `quoted` tells which.
  bool ReadName(std::string* name, bool* quoted = nullptr);
  // "..." with \n \r \t \" \\ and \xHH.
  bool ReadString(std::string* value);
  bool ReadInt(int64_t* value);
  // A text in quotes that is base64: the bytes it stands for.
  bool ReadBase64(std::string* bytes);

  TextPlace place();  // of the next word
  // Notes what is wrong, at the next word or at `where`; the first note stays. Returns false.
  bool Fail(const llvm::Twine& message);
  bool FailAt(TextPlace where, const llvm::Twine& message);
  bool failed() const { return !error_.empty(); }
  // The note is forgotten, and all is passed over up to the next line that begins (spaces aside)
  // with
  // '%', '}' or a word that begins a statement.
  void Recover();
  const std::string& error() const { return error_; }
  TextPlace error_place() const { return error_place_; }

  static bool IsNameChar(char c);
  static bool IsBareName(llvm::StringRef name);

 private:
  void SkipSpace();
  const char *at_, *end_, *line_begin_;
  int line_;
  const char* recovered_at_ = nullptr;  // so that each recovery goes on
  std::string error_;
  TextPlace error_place_;
};

// `text` in quotes, as ReadString reads it. UTF-8 stays as it is.
std::string QuotedText(llvm::StringRef text);
// A name as ReadName reads it.
std::string NameText(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_SCANNER_H_
