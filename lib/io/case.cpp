#include "lib/io/case.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "lib/support/file.h"
#include "lib/support/json.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {
namespace {

using llvm::json::Object;
using llvm::json::Value;

// A parsed case.json, with its text: an llvm::json::Object does not keep the order of its keys.
struct CaseFile {
  llvm::StringRef text;
  Value json;
};

// Returns the index after the closing quote of the JSON string that begins at text[begin].
size_t EndOfString(llvm::StringRef text, size_t begin) {
  size_t end = begin + 1;
  while (text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}

// Returns the keys of the object that is member `name` of the top-level object, in the order of the
// text, each once. `text` must be valid JSON. If several members have that name, the last counts.
std::vector<std::string> KeysInOrder(llvm::StringRef text, llvm::StringRef name) {
  std::vector<std::string> keys;
  llvm::StringSet<> seen;
  int depth = 0;
  bool is_inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    size_t end = EndOfString(text, i);
    llvm::StringRef quoted = text.slice(i, end);
    i = end - 1;
    bool is_key = text.drop_front(end).ltrim(" \t\r\n").starts_with(":");
    if (!is_key || depth > 2) continue;
    std::string key = quoted.contains('\\')
                          ? llvm::cantFail(llvm::json::parse(quoted)).getAsString()->str()
                          : quoted.drop_front().drop_back().str();
    if (depth == 2) {
      if (is_inside && seen.insert(key).second) keys.push_back(key);
      continue;
    }
    is_inside = key == name;
    if (!is_inside) continue;
    keys.clear();
    seen.clear();
  }
  return keys;
}

// Changes the place in a message of the JSON parser from "[2:11, byte=13]: " to "2:11: ".
std::string WithPlace(llvm::StringRef text, llvm::StringRef message) {
  message.consume_front("[");
  auto [place, what] = message.split("]: ");
  auto [position, byte] = place.split(", byte=");
  size_t end = 0;
  // The parser reports an unexpected line end as column 0 of the next line.
  if (!position.ends_with(":0") || byte.getAsInteger(10, end) || end == 0)
    return llvm::formatv("{0}: {1}", position, what);
  llvm::StringRef before = text.take_front(end - 1);
  size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return llvm::formatv("{0}:{1}: {2}", before.count('\n') + 1, column, what);
}

Expected<CaseFile> ParseCase(const FileBytes& file) {
  llvm::StringRef text = file.bytes();
  if (text.empty()) return MakeError("{0}: is empty", file.name());
  text.consume_front("\xef\xbb\xbf");  // the byte order mark that some editors write
  auto json = ParseJson(text);
  if (!json) return MakeError("{0}:{1}", file.name(), WithPlace(text, TextOf(json.takeError())));
  return CaseFile{text, std::move(*json)};
}

// Returns a tolerance; `tensor` is null for "rtol", which is one number for all tensors.
Expected<double> Tolerance(const Object& json, const char* key, const std::string* tensor) {
  const Value* value = json.get(key);
  if (tensor && value && value->getAsObject()) value = value->getAsObject()->get(*tensor);
  if (!value) return 0.0;
  std::optional<double> number = value->getAsNumber();
  if (!number || !std::isfinite(*number))
    return MakeError("'{0}' must be a finite number{1}", key,
                     tensor ? ", or an object: tensor to finite number" : "");
  return *number;
}

// Returns the path of the file that `files`, member `key` of the case, states for a tensor.
Expected<std::string> ValueFile(llvm::StringRef folder, const char* key, const Object& files,
                                llvm::StringRef tensor) {
  auto file = files.getString(tensor);
  if (!file)
    return MakeError("'{0}': '{1}' must be a string, the name of a .npy file", key, tensor);
  return JoinPath(folder, *file);
}

// Returns the file names that `step` states for `tensors`, which are the feeds or the fetches of
// the case, in the order of `tensors`. `key` is "feeds" or "fetches".
template <typename Tensors>
Expected<std::vector<std::string>> FilesOf(const Case& values, const Value& step, const char* key,
                                           const Tensors& tensors) {
  const Object* files = step.getAsObject() ? step.getAsObject()->getObject(key) : nullptr;
  if (!files || files->size() != tensors.size())
    return MakeError(
        "each of 'steps' must have an object '{0}' with one file for each of the case's {0}", key);
  std::vector<std::string> paths;
  for (const auto& first : tensors) {
    if (!files->get(first.tensor))
      return MakeError(
          "each of 'steps' must have a file for each of the case's {0}: '{1}' is missing", key,
          first.tensor);
    ASSIGN_OR_RETURN(std::string path, ValueFile(values.folder, key, *files, first.tensor));
    paths.push_back(std::move(path));
  }
  return paths;
}

Error ReadState(const CaseFile& file, const Object& json, Case* result) {
  if (json.get("variables")) {
    const Object* variables = json.getObject("variables");
    if (!variables) return MakeError("'variables' must be an object: node to file");
    for (const std::string& node : KeysInOrder(file.text, "variables")) {
      ASSIGN_OR_RETURN(std::string path, ValueFile(result->folder, "variables", *variables, node));
      result->variables.push_back({node, path});
    }
  }
  if (json.get("init")) {
    auto init = json.getString("init");
    if (!init) return MakeError("'init' must be a string, the name of a file");
    result->init_graph = JoinPath(result->folder, *init);
  }
  if (!json.get("steps")) return Error::success();
  const llvm::json::Array* steps = json.getArray("steps");
  if (!steps) return MakeError("'steps' must be a list");
  for (const Value& step : *steps) {
    Case::Step& read = result->steps.emplace_back();
    ASSIGN_OR_RETURN(read.feeds, FilesOf(*result, step, "feeds", result->feeds));
    ASSIGN_OR_RETURN(read.fetches, FilesOf(*result, step, "fetches", result->fetches));
  }
  return Error::success();
}

// Replaces the keys of the signature by tensor names.
Error ReadTensors(const Object& json, Case* result) {
  if (!json.get("tensors")) return Error::success();
  const Object* tensors = json.getObject("tensors");
  if (!tensors) return MakeError("'tensors' must be an object: key to tensor");
  // "tensors" is usually {key: tensor}; if an input and an output of the signature have the same
  // key, it is {"feeds": {key: tensor}, "fetches": {key: tensor}}.
  auto name = [&](const char* group, std::string* key) -> Error {
    const Object* of_group = tensors->getObject(group);
    const Value* found = (of_group ? of_group : tensors)->get(*key);
    if (!found) return Error::success();
    auto tensor = found->getAsString();
    if (!tensor)
      return MakeError("'tensors' must map '{0}' to a string, the name of a tensor", *key);
    *key = tensor->str();
    return Error::success();
  };
  for (Case::Feed& feed : result->feeds) RETURN_IF_ERROR(name("feeds", &feed.tensor));
  for (Case::Fetch& fetch : result->fetches) RETURN_IF_ERROR(name("fetches", &fetch.tensor));
  return Error::success();
}

Error ReadCase(const CaseFile& file, Case* result) {
  const Object* json = file.json.getAsObject();
  if (!json) return MakeError("an object with feeds and fetches was expected");
  const Object *feeds = json->getObject("feeds"), *fetches = json->getObject("fetches");
  if (!feeds || !fetches)
    return MakeError("'{0}' must be an object: tensor to file", feeds ? "fetches" : "feeds");
  ASSIGN_OR_RETURN(result->rtol, Tolerance(*json, "rtol", nullptr));
  for (const std::string& tensor : KeysInOrder(file.text, "feeds")) {
    ASSIGN_OR_RETURN(std::string path, ValueFile(result->folder, "feeds", *feeds, tensor));
    result->feeds.push_back({tensor, path});
  }
  for (const std::string& tensor : KeysInOrder(file.text, "fetches")) {
    ASSIGN_OR_RETURN(std::string path, ValueFile(result->folder, "fetches", *fetches, tensor));
    ASSIGN_OR_RETURN(double atol, Tolerance(*json, "atol", &tensor));
    result->fetches.push_back({tensor, path, atol});
  }
  RETURN_IF_ERROR(ReadState(file, *json, result));
  return ReadTensors(*json, result);  // last: what is read above is stated by the signature's keys
}

// Writes {tensor: file name} of feeds, fetches or variables. Tensor names come from graphs and may
// not be valid UTF-8: each invalid part becomes U+FFFD.
template <typename Tensors>
void WriteFiles(llvm::StringRef key, const Tensors& tensors, llvm::json::OStream& json) {
  json.attributeObject(key, [&] {
    for (const auto& tensor : tensors)
      json.attribute(llvm::json::fixUTF8(tensor.tensor),
                     llvm::json::fixUTF8(llvm::sys::path::filename(tensor.file)));
  });
}

// Writes a number with the fewest digits that read back as the same double; null for NaN and
// infinities, which JSON does not have.
void WriteNumber(llvm::StringRef key, double number, llvm::json::OStream& json) {
  char digits[64];
  char* end = std::to_chars(digits, std::end(digits), number).ptr;
  json.attributeBegin(key);
  json.rawValue(std::isfinite(number) ? llvm::StringRef(digits, end - digits) : "null");
  json.attributeEnd();
}

}  // namespace

bool IsCaseFolder(llvm::StringRef folder) {
  std::string path = JoinPath(folder, "case.json");
  if (!FileExists(path)) return false;
  auto file = FileBytes::Open(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return true;  // LoadCase reports why the file cannot be read
  }
  auto parsed = ParseCase(**file);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return true;
  }
  const Object* json = parsed->json.getAsObject();
  return json && (json->getObject("feeds") || json->getObject("fetches"));
}

Expected<Case> LoadCase(llvm::StringRef folder) {
  Case result;
  result.folder = folder.str();
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(JoinPath(folder, "case.json")));
  ASSIGN_OR_RETURN(CaseFile parsed, ParseCase(*file));
  if (Error error = ReadCase(parsed, &result)) return Annotate(file->name(), std::move(error));
  for (const char* name : {"graph.pb", "graph.pbtxt", "graph.pb.gz", "graph.pbtxt.gz"}) {
    if (result.graph.empty() && FileExists(JoinPath(folder, name)))
      result.graph = JoinPath(folder, name);
  }
  if (result.graph.empty())
    return MakeError(
        "{0}: has a case.json but none of graph.pb, graph.pbtxt, graph.pb.gz and graph.pbtxt.gz",
        folder);
  return result;
}

Expected<CaseSignature> SignatureOfCase(llvm::StringRef folder) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(JoinPath(folder, "case.json")));
  ASSIGN_OR_RETURN(CaseFile parsed, ParseCase(*file));
  CaseSignature signature;
  const Object* json = parsed.json.getAsObject();
  if (!json || !json->get("signature")) return signature;
  auto name = json->getString("signature");
  if (!name)
    return MakeError("{0}: 'signature' must be a string, the name of a signature", file->name());
  signature.name = name->str();
  signature.feeds = KeysInOrder(parsed.text, "feeds");
  signature.fetches = KeysInOrder(parsed.text, "fetches");
  return signature;
}

Error SaveCase(llvm::StringRef folder, const Case& values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, 1);
  json.object([&] {
    WriteFiles("feeds", values.feeds, json);
    WriteFiles("fetches", values.fetches, json);
    WriteNumber("rtol", values.rtol, json);
    json.attributeObject("atol", [&] {
      for (const Case::Fetch& fetch : values.fetches)
        WriteNumber(llvm::json::fixUTF8(fetch.tensor), fetch.atol, json);
    });
    if (!values.variables.empty()) WriteFiles("variables", values.variables, json);
  });
  os << "\n";
  return WriteFile(JoinPath(folder, "case.json"), text);
}

}  // namespace grapnel
