// Makes text from unknown sources (names in a graph, paths, string constants) safe for a terminal.
#ifndef GRAPNEL_LIB_SUPPORT_PRINTABLE_H_
#define GRAPNEL_LIB_SUPPORT_PRINTABLE_H_

#include <string>

#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Returns `text` as UTF-8 that a terminal shows as it is. Control characters below U+0020 and bytes
// that are not UTF-8 become \xNN. The control characters U+007F to U+009F, line and paragraph
// separators, and characters that change the text direction become \uNNNN, as in JSON.
GRAPNEL_PUBLIC std::string Printable(llvm::StringRef text);
// Like Printable, but keeps line feeds.
GRAPNEL_PUBLIC std::string PrintableLines(llvm::StringRef text);

// Writes its text to another stream, which must outlive this one. Escapes the text as
// PrintableLines does, but keeps tabs. Flushes the other stream after each write to it.
class GRAPNEL_PUBLIC PrintableStream : public llvm::raw_ostream {
 public:
  explicit PrintableStream(llvm::raw_ostream& os) : llvm::raw_ostream(), os_(os) {}
  ~PrintableStream() override;
  // Lets the escape sequences for grapnel's own colors pass unchanged.
  void AllowColor() { color_ = true; }

 private:
  void write_impl(const char* data, size_t size) override;
  uint64_t current_pos() const override { return os_.tell(); }

  llvm::raw_ostream& os_;
  std::string cut_;  // the beginning of a character that was split between writes
  bool color_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_PRINTABLE_H_
