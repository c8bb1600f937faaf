// Reads long string literals of a text proto separately: protobuf looks at each character of
// tensor_content several times, and a text graph consists almost only of these.
#ifndef GRAPNEL_LIB_IO_LONG_LITERALS_H_
#define GRAPNEL_LIB_IO_LONG_LITERALS_H_

#include <string>
#include <vector>

#include "google/protobuf/message.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

class LongLiterals {
 public:
  // Returns the text with a short literal in place of each long one. Keeps line numbers; leaves
  // literals that are malformed or contain Unicode escapes to protobuf's error messages.
  std::string TakeOut(llvm::StringRef text);
  // Replaces the short literals in the parsed message with the contents of the long ones. Returns
  // false if one of them did not occur exactly once: the text itself spells it with escapes, or the
  // parser dropped one. Then the message is invalid and the caller must parse the whole text.
  bool PutBack(google::protobuf::Message* message);
  bool empty() const { return values_.empty(); }

 private:
  void PutBackIn(google::protobuf::Message* message);
  void PutBackIn(std::string* value);
  std::vector<std::string> values_;
  std::vector<size_t> met_;  // occurrences, by value
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LONG_LITERALS_H_
