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
  // What the parser made of the short ones becomes what the long ones say.
  void PutBack(google::protobuf::Message* message) const;
  bool empty() const { return values_.empty(); }

 private:
  void PutBack(std::string* value) const;
  std::vector<std::string> values_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LONG_LITERALS_H_
