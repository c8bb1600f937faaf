// Text that holds what others have written (names of a graph, paths, strings of constants), made
// fit for a terminal.
#ifndef GRAPNEL_LIB_SUPPORT_PRINTABLE_H_
#define GRAPNEL_LIB_SUPPORT_PRINTABLE_H_

#include <string>

#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// UTF-8 that a terminal shows as it is: control characters and bytes that are no UTF-8 become \xNN;
// U+0080 to U+009F, which are control characters too, and marks that turn the direction of what
// follows become \uNNNN, as JSON has them.
GRAPNEL_PUBLIC std::string Printable(llvm::StringRef text);
// The same, but lines stay lines.
GRAPNEL_PUBLIC std::string PrintableLines(llvm::StringRef text);

// Hands on what is written as PrintableLines, tabs too, to a stream that outlives it. flush() goes
// through to that stream.
class GRAPNEL_PUBLIC PrintableStream : public llvm::raw_ostream {
 public:
  explicit PrintableStream(llvm::raw_ostream& os) : llvm::raw_ostream(), os_(os) {}
  ~PrintableStream() override;
  // Lets through what sets and ends the colors that grapnel itself uses.
  void AllowColor() { color_ = true; }

 private:
  void write_impl(const char* data, size_t size) override;
  uint64_t current_pos() const override { return os_.tell(); }

  llvm::raw_ostream& os_;
  std::string cut_;  // the beginning of a character whose end is still to come
  bool color_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_PRINTABLE_H_
