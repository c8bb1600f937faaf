// Long string literals of a text proto, read by themselves: protobuf looks at each character of
// tensor_content several times, and a text graph is hardly anything else.
#ifndef GRAPNEL_LIB_IO_LONG_LITERALS_H_
#define GRAPNEL_LIB_IO_LONG_LITERALS_H_

#include <string>
#include <vector>

#include "google/protobuf/message.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

class LongLiterals {
 public:
  // The text with a short literal in the place of each long one. Lines stay as they are; a literal
  // that is broken, or has escapes of Unicode, stays, so that protobuf says what there is to say.
  std::string TakeOut(llvm::StringRef text);
  // What the parser made of the short ones becomes what the long ones say. False when one of them
  // was not met exactly once: the text spells one itself, by escapes, or the parser left one out.
  // Then the message is of no use, and the whole text is to be parsed.
  bool PutBack(google::protobuf::Message* message);
  bool empty() const { return values_.empty(); }

 private:
  void PutBackIn(google::protobuf::Message* message);
  void PutBackIn(std::string* value);
  std::vector<std::string> values_;
  std::vector<size_t> met_;  // how often, by value
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LONG_LITERALS_H_
