// Reads long string literals of a text proto separately: protobuf looks at each character of
// tensor_content several times, and most of a graph in text form consists of such literals.
#ifndef GRAPNEL_LIB_IO_LONG_LITERALS_H_
#define GRAPNEL_LIB_IO_LONG_LITERALS_H_

#include <string>
#include <vector>

#include "google/protobuf/message.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

class LongLiterals {
 public:
  // Returns the text with a short literal in place of each long one. Keeps line numbers. Does not
  // replace literals that are malformed, so that protobuf reports their errors, nor those with
  // hexadecimal or Unicode escapes. Replaces nothing if the text already contains the mark of a
  // short literal.
  std::string TakeOut(llvm::StringRef text);
  // Replaces the short literals in the parsed message by the contents of the long literals. Returns
  // false if a short literal did not occur exactly once: the text itself spells one with escapes,
  // or the parser dropped one. Then the message is invalid and the caller must parse the original
  // text.
  bool PutBack(google::protobuf::Message* message);
  bool empty() const { return values_.empty(); }

 private:
  void PutBackIn(google::protobuf::Message* message);
  void PutBackIn(std::string* value);
  std::vector<std::string> values_;
  std::vector<size_t> met_;  // how often each short literal occurred
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LONG_LITERALS_H_
