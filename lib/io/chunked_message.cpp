#include "lib/io/chunked_message.h"

#include <algorithm>
#include <optional>

#include "lib/io/editable_message.h"
#include "lib/io/recognize.h"
#include "lib/io/riegeli.h"
#include "lib/ir/wire.h"
#include "lib/proto/saved_model.pb.h"
#include "lib/support/memory.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Field numbers of tensorflow/tools/proto_splitter/chunk.proto.
enum { kMetadataVersion = 1, kMetadataChunks = 2, kMetadataMessage = 3 };
enum { kChunkType = 1, kChunkSize = 2, kChunkOffset = 3 };
enum { kMessageChunk = 1, kMessageFields = 2 };
enum { kFieldTag = 1, kFieldMessage = 3 };
enum { kTagField = 1, kTagKey = 2, kTagIndex = 3 };
enum { kKeyText = 1 };
enum { kTypeBytes = 2 };

// Protobuf's default limit on nesting.
constexpr int kDeepestMessage = 100;
constexpr size_t kMostProblems = 20;

struct Chunk {
  uint64_t type = 0, size = 0, position = 0;
};

// The contents of the file's last record, which says to which field each chunk belongs.
struct Metadata {
  std::vector<Chunk> chunks;
  llvm::StringRef message;  // a ChunkedMessage
};

bool ReadChunk(llvm::StringRef bytes, Chunk* chunk) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.type() != WireType::kVarint) return false;
    if (reader.field() == kChunkType) chunk->type = reader.number();
    if (reader.field() == kChunkSize) chunk->size = reader.number();
    if (reader.field() == kChunkOffset) chunk->position = reader.number();
  }
  return !reader.failed();
}

// Parses ChunkMetadata; nullopt for other records, as at the end of a truncated file.
std::optional<Metadata> ReadChunkMetadata(llvm::StringRef record) {
  Metadata metadata;
  bool has_message = false;
  WireReader reader(record);
  while (reader.Next()) {
    if (reader.field() > kMetadataMessage) continue;
    if (reader.type() != WireType::kBytes) return std::nullopt;
    if (reader.field() == kMetadataChunks &&
        !ReadChunk(reader.bytes(), &metadata.chunks.emplace_back()))
      return std::nullopt;
    if (reader.field() != kMetadataMessage) continue;
    has_message = true;
    metadata.message = reader.bytes();
  }
  if (reader.failed() || !has_message || metadata.chunks.empty()) return std::nullopt;
  return metadata;
}

// One component of the path to a field (FieldIndex): a field number, and which element of the
// field.
struct Step {
  uint32_t field = 0;
  enum { kOnly, kIndex, kKey } kind = kOnly;
  uint64_t index = 0;
  std::string key;  // the key field of a map entry, serialized

  bool operator<(const Step& other) const {
    return std::tie(field, kind, index, key) <
           std::tie(other.field, other.kind, other.index, other.key);
  }
  bool operator==(const Step& other) const {
    return std::tie(field, kind, index, key) ==
           std::tie(other.field, other.kind, other.index, other.key);
  }
};

struct ChunkedField {
  std::vector<Step> path;
  llvm::StringRef message;  // a ChunkedMessage
  uint64_t chunk = 0;       // the field's own chunk
  bool operator<(const ChunkedField& other) const {
    // Sorts a field after the fields that contain it, and list elements by index.
    return std::tie(path, chunk) < std::tie(other.path, other.chunk);
  }
};

std::string KeyField(llvm::StringRef map_key) {
  WireReader reader(map_key);
  std::string field;
  while (reader.Next()) {
    field.clear();
    if (reader.Is(kKeyText, WireType::kBytes)) AppendBytesField(&field, 1, reader.bytes());
    if (reader.type() == WireType::kVarint) AppendVarintField(&field, 1, reader.number());
  }
  return field;
}

// Adds a FieldIndex to the end of a path; false if it is invalid.
bool AddStep(llvm::StringRef field_index, std::vector<Step>* path) {
  WireReader reader(field_index);
  if (!reader.Next()) return false;
  if (reader.Is(kTagField, WireType::kVarint)) {
    path->emplace_back().field = static_cast<uint32_t>(reader.number());
    return reader.number() <= UINT32_MAX;
  }
  if (path->empty() || path->back().kind != Step::kOnly) return false;
  if (reader.Is(kTagIndex, WireType::kVarint)) {
    path->back().kind = Step::kIndex;
    path->back().index = reader.number();
  } else if (reader.Is(kTagKey, WireType::kBytes)) {
    path->back().kind = Step::kKey;
    path->back().key = KeyField(reader.bytes());
  }
  return path->back().kind != Step::kOnly;
}

uint64_t ChunkOf(llvm::StringRef chunked_message, bool* has_chunk, bool* has_fields) {
  uint64_t chunk = 0;
  WireReader reader(chunked_message);
  while (reader.Next()) {
    if (reader.Is(kMessageChunk, WireType::kVarint)) {
      *has_chunk = true;
      chunk = reader.number();
    }
    *has_fields |= reader.Is(kMessageFields, WireType::kBytes);
  }
  return chunk;
}

const Descriptor* TypeOf(Content content) {
  if (content == Content::kGraphDef) return proto::GraphDef::descriptor();
  if (content == Content::kMetaGraph) return proto::MetaGraphDef::descriptor();
  return content == Content::kSavedModel ? proto::SavedModel::descriptor() : nullptr;
}

// A message within the message that the chunks are merged into; its `type` is null if this program
// does not know the message type.
struct Part {
  EditableMessage* message;
  const Descriptor* type;
  std::string path;  // "meta_graphs[0].graph_def", for problems
  int depth = 0;
};

class Merger {
 public:
  Merger(RiegeliFile file, std::vector<Problem>* problems, uint64_t limit)
      : file_(std::move(file)),
        problems_(*problems),
        room_(std::min(limit, AvailableMemory() / 2)) {}

  Error Merge() {
    for (const std::string& problem : file_.problems()) Report(problem);
    if (!file_.HasRecords()) return MakeError("holds no records");
    if (auto last = file_.Read(file_.LastPosition())) {
      if (std::optional<Metadata> metadata = ReadChunkMetadata(*last)) {
        metadata_ = std::move(*metadata);
        Put({&whole_, RootType(), "", 0}, metadata_.message);
        return Error::success();
      }
      Report(
          "the last record does not tell where the chunks belong (no ChunkMetadata): only the "
          "first chunk is read");
    } else {
      Report("the metadata of the chunks cannot be read: " + TextOf(last.takeError()) +
             "; only the first chunk is read");
    }
    ASSIGN_OR_RETURN(llvm::StringRef first, file_.Read(file_.FirstPosition()));
    whole_.Append(first);
    return Error::success();
  }

  std::string Bytes() {
    std::string bytes;
    bytes.reserve(whole_.Measure());
    whole_.Write(&bytes);
    return bytes;
  }

 private:
  void Report(std::string text, Severity severity = Severity::kError) {
    if (++num_problems_ == kMostProblems + 1) text = "the chunks have more problems";
    if (num_problems_ <= kMostProblems + 1) problems_.push_back({severity, "", std::move(text)});
  }

  // Returns the type of the chunk that contains the top-level message; null if the type is not
  // known.
  const Descriptor* RootType() {
    bool has_chunk = false, has_fields = false;
    uint64_t chunk = ChunkOf(metadata_.message, &has_chunk, &has_fields);
    if (!has_chunk || chunk >= metadata_.chunks.size()) return nullptr;
    auto bytes = file_.Read(metadata_.chunks[chunk].position);
    if (bytes) return TypeOf(Recognize(*bytes));
    llvm::consumeError(bytes.takeError());
    return nullptr;
  }

  Expected<llvm::StringRef> ChunkBytes(uint64_t index) {
    if (index >= metadata_.chunks.size())
      return MakeError("chunk {0}, counted from 0, does not exist: the number of chunks is {1}",
                       index, metadata_.chunks.size());
    const Chunk& chunk = metadata_.chunks[index];
    auto bytes = file_.Read(chunk.position);
    if (!bytes) return Annotate("chunk " + std::to_string(index), bytes.takeError());
    if (bytes->size() != chunk.size) {
      Report(llvm::formatv("chunk {0} has {1}, {2} were expected", index,
                           Plural(bytes->size(), "byte"), chunk.size)
                 .str(),
             Severity::kWarning);
    }
    if (bytes->size() > room_) {
      return MakeError(
          "with chunk {0}, the merged message exceeds its limit, at most half of the free memory",
          index);
    }
    room_ -= bytes->size();
    return *bytes;
  }

  // Merges a serialized ChunkedMessage into the message of `part`: its own chunk first, then the
  // chunks of its fields.
  void Put(const Part& part, llvm::StringRef chunked_message) {
    bool has_chunk = false, has_fields = false;
    uint64_t index = ChunkOf(chunked_message, &has_chunk, &has_fields);
    if (has_chunk) {
      if (auto bytes = ChunkBytes(index)) {
        part.message->Append(*bytes);
      } else {
        Leave(part.path, bytes.takeError());
      }
    }
    for (const ChunkedField& field : Fields(chunked_message, part.path)) {
      if (Error error = PutField(part, field)) Leave(part.path, std::move(error));
    }
  }

  void Leave(llvm::StringRef path, Error error) {
    Report(TextOf(std::move(error)) + "; " +
           (path.empty() ? "the message" : "'" + path.str() + "'") + " lacks this chunk");
  }

  std::vector<ChunkedField> Fields(llvm::StringRef chunked_message, llvm::StringRef path) {
    std::vector<ChunkedField> fields;
    WireReader reader(chunked_message);
    while (reader.Next()) {
      if (!reader.Is(kMessageFields, WireType::kBytes)) continue;
      ChunkedField field;
      bool fits = true, unused = false;
      WireReader parts(reader.bytes());
      while (parts.Next()) {
        if (parts.Is(kFieldTag, WireType::kBytes)) fits &= AddStep(parts.bytes(), &field.path);
        if (parts.Is(kFieldMessage, WireType::kBytes)) field.message = parts.bytes();
      }
      field.chunk = ChunkOf(field.message, &unused, &unused);
      if (fits && !parts.failed()) {
        fields.push_back(std::move(field));
      } else {
        Leave(path, MakeError("the path to the field of chunk {0} cannot be read", field.chunk));
      }
    }
    if (reader.failed()) Report("the metadata of the chunks is damaged");
    std::stable_sort(fields.begin(), fields.end());
    return fields;
  }

  // Finds the field that a chunk belongs to and adds the chunk: merges it into a message, or
  // replaces a string by it.
  Error PutField(Part part, const ChunkedField& field) {
    if (++part.depth > kDeepestMessage)
      return MakeError("chunks are nested more than {0} deep", kDeepestMessage);
    const FieldDescriptor* known = nullptr;
    for (const Step& step : field.path) {
      if (known && !IsMessage(*known))
        return MakeError("'{0}' is not a message: chunk {1} cannot be in it", part.path,
                         field.chunk);
      known = part.type ? part.type->FindFieldByNumber(static_cast<int>(step.field)) : nullptr;
      RETURN_IF_ERROR(Go(step, &part, &known));
    }
    bool has_chunk = false, has_fields = false;
    uint64_t index = ChunkOf(field.message, &has_chunk, &has_fields);
    if (known ? IsMessage(*known) : has_fields || !IsBytes(index)) {
      Put(part, field.message);
      return Error::success();
    }
    if (known && known->cpp_type() != FieldDescriptor::CPPTYPE_STRING)
      return MakeError("'{0}' is a number: chunk {1} cannot be in it", part.path, index);
    ASSIGN_OR_RETURN(llvm::StringRef bytes, ChunkBytes(index));
    part.message->Replace(bytes);
    return Error::success();
  }

  static bool IsMessage(const FieldDescriptor& field) {
    return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  }

  bool IsBytes(uint64_t chunk) const {
    return chunk < metadata_.chunks.size() && metadata_.chunks[chunk].type == kTypeBytes;
  }

  Error Go(const Step& step, Part* part, const FieldDescriptor** known) {
    part->path += (part->path.empty() ? "" : ".") +
                  (*known ? std::string((*known)->name()) : std::to_string(step.field));
    part->depth += step.kind == Step::kKey ? 2 : 1;
    if (part->depth > kDeepestMessage)
      return MakeError("a field is nested more than {0} deep", kDeepestMessage);
    if (step.field == 0 || step.field > 0x1FFFFFFF)
      return MakeError("a field has the invalid number {0}", step.field);
    if (step.kind == Step::kIndex) {
      part->path += "[" + std::to_string(step.index) + "]";
      part->message = part->message->At(step.field, step.index);
      if (!part->message) return MakeError("'{0}' is past the end of its list", part->path);
    } else if (step.kind == Step::kKey) {
      WireReader key(step.key);
      if (!key.Next()) return MakeError("'{0}' has a key that cannot be read", part->path);
      part->path += key.type() == WireType::kBytes ? Sentence("['{0}']", key.bytes())
                                                   : "[" + std::to_string(key.number()) + "]";
      part->message = &part->message->ValueOf(step.field, step.key);
      if (*known)
        *known =
            (*known)->is_map() ? (*known)->message_type()->FindFieldByNumber(kMapValue) : nullptr;
    } else if (*known && (*known)->is_repeated()) {
      return MakeError("'{0}' is a list, and the chunk gives no index", part->path);
    } else {
      part->message = &part->message->Only(step.field);
    }
    part->type = *known ? (*known)->message_type() : nullptr;
    return Error::success();
  }

  RiegeliFile file_;
  std::vector<Problem>& problems_;
  size_t num_problems_ = 0;
  Metadata metadata_;
  EditableMessage whole_;
  uint64_t room_;  // bytes that chunks may still take
};

}  // namespace

Expected<std::shared_ptr<const FileBytes>> MergeChunks(std::shared_ptr<const FileBytes> file,
                                                       std::vector<Problem>* problems,
                                                       uint64_t limit) {
  std::string name = file->name();
  ASSIGN_OR_RETURN(RiegeliFile records, RiegeliFile::Open(std::move(file)));
  Merger merger(std::move(records), problems, limit);
  RETURN_IF_ERROR(merger.Merge());
  return FileBytes::FromString(merger.Bytes(), name);
}

}  // namespace grapnel
