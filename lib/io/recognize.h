// Recognizes the type of a file from its first bytes.
#ifndef GRAPNEL_LIB_IO_RECOGNIZE_H_
#define GRAPNEL_LIB_IO_RECOGNIZE_H_

#include <string>

#include "lib/ir/wire.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

enum class Content {
  kUnknown,
  kGzip,
  kGraphDef,
  kGraphText,  // protobuf text format
  kText,       // a graph in the format of lib/ir/text.h
  kSavedModel,
  kSavedModelText,
  kMetaGraph,
  kMetaGraphText,
  kRecords,  // TFRecord framing; probably an event file
  kEvent,    // a single Event without framing, as tfdbg v1 writes it
  kChunked,  // Riegeli records: a SavedModel, MetaGraphDef or GraphDef in chunks
};

// Recognizes a file. `head` is the beginning of the file, of any length; an empty one gives
// kUnknown. Looks only at the first fields.
Content Recognize(llvm::StringRef head);

// Describes the beginning of a file that is not recognized, for the error message: `starts with
// "hello"` or `looks like a TensorFlow Lite model`.
std::string LooksLike(llvm::StringRef head);

// Walks the fields of a message whose end may be missing: of a bytes field that goes beyond the
// end, returns the bytes that are available.
class CutReader {
 public:
  explicit CutReader(llvm::StringRef bytes) : all_(bytes), reader_(bytes) {}
  bool Next();
  uint32_t field() const { return cut_ ? cut_field_ : reader_.field(); }
  WireType type() const { return cut_ ? WireType::kBytes : reader_.type(); }
  bool Is(uint32_t field_number, WireType wire) const {
    return field() == field_number && type() == wire;
  }
  llvm::StringRef bytes() const { return cut_ ? cut_bytes_ : reader_.bytes(); }
  uint64_t number() const { return reader_.number(); }
  // After Next() returned false: true if the message ended within a field, or is malformed.
  bool failed() const { return cut_ || reader_.failed(); }

 private:
  llvm::StringRef all_;
  WireReader reader_;
  bool cut_ = false;
  uint32_t cut_field_ = 0;
  llvm::StringRef cut_bytes_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RECOGNIZE_H_
