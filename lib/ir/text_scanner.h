// The scanner (lexer) for the text of a graph. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_SCANNER_H_
#define GRAPNEL_LIB_IR_TEXT_SCANNER_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

namespace grapnel {

// A position in a text: line and column, both counted from 1, columns in bytes.
struct TextPlace {
  int line = 0;
  int column = 0;
  std::string ToString() const;  // "12:3"
};

// Reads a text from left to right. Spaces, line ends and comments ('#' to the end of the line) may
// separate any two tokens. Each Read...() returns false and records an error if the text does not
// match.
class TextScanner {
 public:
  explicit TextScanner(llvm::StringRef text, int first_line = 1)
      : at_(text.begin()), end_(text.end()), line_begin_(text.begin()), line_(first_line) {}

  bool AtEnd() { return Peek() == '\0'; }
  // Returns the next character outside of spaces and comments without consuming it; '\0' at the
  // end.
  char Peek();
  // If the text continues with `text`, consumes that and returns true; otherwise returns false.
  bool Consume(llvm::StringRef text);
  // If the next word is `word`, consumes it and returns true; otherwise returns false.
  bool ConsumeWord(llvm::StringRef word);
  // Consumes `text` if it comes next; otherwise fails with "expected 'text'".
  bool Expect(llvm::StringRef text);
  // Returns the next word (letters, digits and _ . > + -) without consuming it; empty if there is
  // none.
  llvm::StringRef PeekWord();
  llvm::StringRef TakeWord();
  // Returns the character after the next word, to distinguish `int:1` from `int32`. Consumes
  // nothing.
  char CharAfterWord();
  char CharAt(size_t offset) const {
    return offset < static_cast<size_t>(end_ - at_) ? at_[offset] : '\0';
  }

  // Reads the bare or quoted name of a node or function; sets `quoted` to whether it is quoted.
  bool ReadName(std::string* name, bool* quoted = nullptr);
  // Reads a quoted text, "...", with the escapes \n \r \t \" \\ and \xHH.
  bool ReadString(std::string* value);
  bool ReadInt(int64_t* value);
  // Reads a quoted base64 text and decodes it.
  bool ReadBase64(std::string* bytes);

  TextPlace place();  // of the next word
  // Fail records an error at the next word, FailAt at `where`, unless an error is already recorded.
  // Both return false.
  bool Fail(const llvm::Twine& message);
  bool FailAt(TextPlace where, const llvm::Twine& message);
  bool failed() const { return !error_.empty(); }
  // Clears the error and skips to the next statement: a line that begins (after spaces) with '%',
  // '}' or a statement's first word.
  void Recover();
  const std::string& error() const { return error_; }
  TextPlace error_place() const { return error_place_; }

  static bool IsNameChar(char c);
  static bool IsBareName(llvm::StringRef name);

 private:
  void SkipSpace();
  const char *at_, *end_, *line_begin_;
  int line_;
  const char* recovered_at_ = nullptr;  // ensures that each recovery advances
  std::string error_;
  TextPlace error_place_;
};

// Returns `text` in quotes and with escapes, so that ReadString reads it back. Keeps the characters
// beyond ASCII of a text in valid UTF-8.
std::string QuotedText(llvm::StringRef text);
// Returns the name of a node or function as ReadName reads it, in quotes where these are needed.
std::string NameText(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_SCANNER_H_
