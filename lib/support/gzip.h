// Reads and writes gzip, for compressed graphs. Also reads zlib's framing, which TensorFlow's
// record files may have.
#ifndef GRAPNEL_LIB_SUPPORT_GZIP_H_
#define GRAPNEL_LIB_SUPPORT_GZIP_H_

#include <memory>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

bool IsGzip(llvm::StringRef bytes);

enum class Framing { kGzip, kZlib, kNone };  // kNone: plain deflate, as in a zip archive

struct Inflated {
  std::string bytes;
  std::string problem;  // why the output ends early if the data is truncated or damaged
};

// Expands all members of `gzip`, but stops once the output has `limit` bytes or more. For damaged
// data, returns the output before the damage, and fails if there is no such output. Also fails if
// the output needs more than half of AvailableMemory, even if the input is small: zeros compress a
// thousandfold. The errors do not name the file.
Expected<Inflated> Inflate(llvm::StringRef gzip, size_t limit = ~size_t{0},
                           Framing framing = Framing::kGzip);

// Returns the gzip of some bytes: the same bytes for the same input. Faster than a GzipStream for
// many short inputs.
std::string Gzip(llvm::StringRef bytes);

// A stream that compresses what it receives and writes it to `os`. The last call must be Finish().
class GzipStream : public llvm::raw_ostream {
 public:
  explicit GzipStream(llvm::raw_ostream* os);
  ~GzipStream() override;
  void Finish();

 private:
  struct State;
  void write_impl(const char* data, size_t size) override;
  uint64_t current_pos() const override { return written_; }
  void Deflate(const char* data, size_t size, int flush);

  llvm::raw_ostream* os_;
  std::unique_ptr<State> state_;
  uint64_t written_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_GZIP_H_
