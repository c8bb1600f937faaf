#include "lib/io/recognize.h"

#include "lib/io/record.h"
#include "lib/io/riegeli.h"
#include "lib/ir/text.h"
#include "lib/support/gzip.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

// How many fields of a message to look at. The first nodes suffice to recognize a GraphDef, but a
// MetaGraphDef may have many signatures and collections before its graph.
constexpr int kFieldsToLookAt = 8, kMetaFieldsToLookAt = 1000;

// Bit sets of field numbers of a message type: the fields whose values are bytes (strings,
// messages), and those that are numbers. Fields in neither set may have any wire type.
struct Schema {
  uint32_t bytes = 0, numbers = 0;
};
constexpr uint32_t FieldSet(std::initializer_list<int> fields) {
  uint32_t set = 0;
  for (int field : fields) set |= 1u << field;
  return set;
}
constexpr Schema kGraph = {FieldSet({1, 2, 4, 5}), FieldSet({3})};
constexpr Schema kNode = {FieldSet({1, 2, 3, 4, 5, 6, 7}), 0};
constexpr Schema kLibrary = {FieldSet({1, 2, 3}), 0};
constexpr Schema kFunction = {FieldSet({1, 3, 4, 5, 6, 7, 8}), 0};
constexpr Schema kVersions = {FieldSet({3}), FieldSet({1, 2, 3})};
constexpr Schema kModel = {FieldSet({2}), FieldSet({1})};
constexpr Schema kMeta = {FieldSet({1, 2, 3, 4, 5, 6, 7}), 0};
constexpr Schema kMetaInfo = {FieldSet({1, 2, 3, 4, 5, 6, 8}), FieldSet({7})};

// Looks at the first fields of a message; false if a field has the wrong wire type or `check`
// rejects it, if the first field is not in the schema, or if there is no field.
bool FitsSchema(llvm::StringRef bytes, const Schema& schema,
                llvm::function_ref<bool(uint32_t, llvm::StringRef)> check,
                int fields_to_look_at = kFieldsToLookAt) {
  CutReader reader(bytes);
  int count = 0;
  while (count < fields_to_look_at && reader.Next()) {
    ++count;
    uint32_t bit = reader.field() < 32 ? 1u << reader.field() : 0;
    bool is_bytes = reader.type() == WireType::kBytes;
    bool known = bit & (schema.bytes | schema.numbers);
    if (count == 1 && !known) return false;
    if (!known) continue;
    if (!(bit & (is_bytes ? schema.bytes : schema.numbers))) return false;
    if (is_bytes && !check(reader.field(), reader.bytes())) return false;
  }
  return count > 0;
}

bool IsText(llvm::StringRef bytes) {
  return llvm::all_of(bytes, [](char c) { return static_cast<uint8_t>(c) >= ' '; });
}

// True if the bytes can be a name or are empty; false for most serialized messages, which contain a
// byte below ' '. Looks at the first 256 bytes.
bool IsNameOrEmpty(llvm::StringRef bytes) { return IsText(bytes.take_front(256)); }

bool LooksLikeNode(llvm::StringRef bytes) {
  bool named = false;
  return FitsSchema(bytes, kNode,
                    [&](uint32_t field, llvm::StringRef value) {
                      if (field <= 2) named |= !value.empty();
                      if (field <= 4) return IsNameOrEmpty(value);
                      return field != 5 || value.empty() || value[0] == '\n' || value[0] == '\x12';
                    }) &&
         named;
}

bool LooksLikeLibrary(llvm::StringRef bytes) {
  return FitsSchema(bytes, kLibrary, [](uint32_t field, llvm::StringRef function) {
    if (field != 1 || function.empty()) return true;
    return FitsSchema(function, kFunction, [](uint32_t part, llvm::StringRef signature) {
      // A signature begins with the tag of its name, which is a line end. In another message type
      // the field would be the name of a node, which cannot begin with a line end.
      return part != 1 || signature.empty() || signature[0] == '\n';
    });
  });
}

// True for a GraphDef with at least one node, function or version.
bool LooksLikeGraph(llvm::StringRef bytes) {
  bool evidence = false, fits_first = true;
  int count = 0;
  bool fits = FitsSchema(bytes, kGraph, [&](uint32_t field, llvm::StringRef value) {
    bool good = true;
    if (field == 1) good = LooksLikeNode(value);
    if (field == 2) good = !value.empty() && LooksLikeLibrary(value);
    if (field == 4)
      good = FitsSchema(value, kVersions, [](uint32_t, llvm::StringRef) { return true; });
    evidence |= good && field != 5;
    if (count++ == 0) fits_first = good || value.empty();
    return true;  // one bad node does not count: the importer reports it
  });
  return fits && evidence && (fits_first || count > 1);
}

bool LooksLikeMetaInfo(llvm::StringRef bytes) {
  return FitsSchema(bytes, kMetaInfo, [](uint32_t field, llvm::StringRef value) {
    if (field == 2) return value.empty() || value[0] == '\n';
    return field == 3 || field == 8 || IsNameOrEmpty(value);
  });
}

bool LooksLikeMetaGraph(llvm::StringRef bytes) {
  bool evidence = false;
  auto check = [&](uint32_t field, llvm::StringRef value) {
    if (value.empty()) return true;
    if (field == 1) {
      // A node with a name and a device also parses as a MetaInfoDef with a version and tags, so it
      // does not show that this is a MetaGraphDef; the graph in the next field can.
      evidence |= LooksLikeMetaInfo(value) && !LooksLikeNode(value);
      return LooksLikeMetaInfo(value);
    }
    if (field == 2) {
      if (LooksLikeLibrary(value)) return false;
      evidence |= LooksLikeGraph(value);
    }
    return true;
  };
  return FitsSchema(bytes, kMeta, check, kMetaFieldsToLookAt) && evidence;
}

// True for a SavedModel. If the message begins with a schema version, it is enough that the fields
// of its meta graphs have the right wire types.
bool LooksLikeSavedModel(llvm::StringRef bytes) {
  bool evidence = !bytes.empty() && bytes[0] == '\x08';
  auto check = [&](uint32_t, llvm::StringRef meta_graph) {
    if (meta_graph.empty()) return true;
    if (LooksLikeMetaGraph(meta_graph)) return evidence = true;
    return evidence &&
           FitsSchema(meta_graph, kMeta, [](uint32_t, llvm::StringRef) { return true; });
  };
  return FitsSchema(bytes, kModel, check) && evidence;
}

// True for a serialized Event: the wall time as a double, then perhaps the step, then a field with
// the contents.
bool LooksLikeEvent(llvm::StringRef bytes) {
  WireReader reader(bytes);
  if (!reader.Next() || !reader.Is(1, WireType::kFixed64)) return false;
  CutReader rest(bytes.drop_front(reader.offset()));
  if (!rest.Next()) return false;
  if (rest.Is(2, WireType::kVarint) && !rest.Next()) return false;
  return rest.type() == WireType::kBytes && rest.field() >= 3 && rest.field() <= 10;
}

Content RecognizeText(llvm::StringRef head) {
  head.consume_front("\xEF\xBB\xBF");
  if (LooksLikeGraphText(head)) return Content::kText;
  for (;;) {
    head = head.ltrim(" \t\r\n\f\v");
    if (!HasPrefix(head, "#")) break;
    head = head.drop_until([](char c) { return c == '\n'; });
  }
  llvm::StringRef field = head.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  llvm::StringRef after = head.drop_front(field.size()).ltrim();
  if (field.empty() || after.empty() || !llvm::StringRef("{:<").contains(after[0])) {
    return Content::kUnknown;
  }
  auto is = [&](std::initializer_list<llvm::StringRef> names) {
    return llvm::is_contained(names, field);
  };
  if (is({"node", "library", "versions", "version", "debug_info"})) return Content::kGraphText;
  if (is({"saved_model_schema_version", "meta_graphs"})) return Content::kSavedModelText;
  if (is({"meta_info_def", "graph_def", "saver_def", "collection_def", "signature_def",
          "asset_file_def", "object_graph_def"})) {
    return Content::kMetaGraphText;
  }
  return Content::kUnknown;
}

}  // namespace

bool CutReader::Next() {
  if (cut_) return false;
  size_t start = reader_.offset();
  if (reader_.Next()) return true;
  if (!reader_.failed()) return false;
  // The field goes beyond the end. Reads its tag and length again: if it is a bytes field, returns
  // those of its bytes that are available.
  WireReader again(all_.drop_front(start));
  uint64_t tag, size;
  if (!again.Varint(&tag) || (tag & 7) != static_cast<uint64_t>(WireType::kBytes) ||
      tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF || !again.Varint(&size)) {
    return false;
  }
  cut_ = true;
  cut_field_ = static_cast<uint32_t>(tag >> 3);
  cut_bytes_ = all_.drop_front(start + again.offset());
  return true;
}

Content Recognize(llvm::StringRef head) {
  if (head.empty()) return Content::kUnknown;
  if (IsGzip(head)) return Content::kGzip;
  if (IsRiegeli(head)) return Content::kChunked;
  Content text = RecognizeText(head);
  if (text != Content::kUnknown) return text;
  if (StartsWithRecord(head)) return Content::kRecords;
  if (LooksLikeSavedModel(head)) return Content::kSavedModel;
  if (LooksLikeMetaGraph(head)) return Content::kMetaGraph;
  if (LooksLikeGraph(head)) return Content::kGraphDef;
  if (LooksLikeEvent(head)) return Content::kEvent;
  return Content::kUnknown;
}

std::string LooksLike(llvm::StringRef head) {
  if (HasPrefix(head, "\x89HDF"))
    return "looks like an HDF5 file, as Keras writes weights: --variables reads those, beside a "
           "model";
  if (HasPrefix(head, "PK\x03\x04"))
    return "looks like a zip file, as Keras writes .keras models: model.export() writes a "
           "SavedModel";
  if (HasPrefix(head.drop_front(std::min<size_t>(4, head.size())), "TFL3"))
    return "looks like a TensorFlow Lite model";
  if (HasPrefix(head, "\x93NUMPY")) return "looks like a NumPy array, a value for --feed";
  llvm::StringRef text_of_json = head.ltrim();
  if (text_of_json.consume_front("{") && HasPrefix(text_of_json.ltrim(), "\""))
    return "looks like JSON; to open a case, name its folder";
  std::string text;
  for (char c : head.take_front(16)) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (llvm::isPrint(c)) {
      text += c;
    } else {
      text += llvm::formatv("\\x{0:x-2}", static_cast<uint8_t>(c)).str();
    }
  }
  return "starts with \"" + text + "\"";
}

}  // namespace grapnel
