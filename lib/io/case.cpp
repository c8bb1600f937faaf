#include "lib/io/case.h"

#include "lib/support/file.h"
#include "lib/support/json.h"
#include "llvm/Support/Path.h"
#include "nlohmann/json.hpp"

namespace grapnel {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of feeds and fetches

std::string Position(llvm::StringRef text, size_t byte) {
  llvm::StringRef before = text.take_front(byte == 0 ? 0 : byte - 1);
  size_t line = before.count('\n') + 1;
  size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return std::to_string(line) + ":" + std::to_string(column);
}

Expected<Json> ParseOrdered(const FileBytes& file) {
  llvm::StringRef text = file.bytes();
  if (text.empty()) return MakeError("{0}: is empty", file.name());
  if (Error error = CheckJsonDepth(text)) return Annotate(file.name(), std::move(error));
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    // Keeps only what follows the first ": " of nlohmann's message,
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..."
    llvm::StringRef why = error.what();
    return MakeError("{0}:{1}: {2}", file.name(), Position(text, error.byte),
                     why.split(": ").second);
  } catch (const Json::exception& error) {
    return MakeError("{0}: {1}", file.name(), llvm::StringRef(error.what()).split("] ").second);
  }
}

bool HasObject(const Json& json, const char* key) {
  auto it = json.find(key);
  return it != json.end() && it->is_object();
}

Expected<double> Tolerance(const Json& json, const char* key, llvm::StringRef tensor) {
  auto it = json.find(key);
  if (it == json.end()) return 0.0;
  if (it->is_object()) {
    auto of_tensor = it->find(tensor.str());
    if (of_tensor == it->end()) return 0.0;
    it = of_tensor;
  }
  if (!it->is_number())
    return MakeError("'{0}' must be a number, or an object: tensor to number", key);
  return it->get<double>();
}

Expected<std::string> ValueFile(llvm::StringRef folder, const char* key, const std::string& tensor,
                                const Json& value) {
  if (!value.is_string()) {
    return MakeError("'{0}': '{1}' must name a .npy file", key, tensor);
  }
  return JoinPath(folder, value.get<std::string>());
}

// Returns the file names that `step` states for `tensors`, which are the feeds or the fetches of
// the case, in the order of `tensors`. `key` is "feeds" or "fetches".
template <typename Tensors>
Expected<std::vector<std::string>> FilesOf(const Case& values, const Json& step, const char* key,
                                           const Tensors& tensors) {
  if (!step.is_object() || !HasObject(step, key) || step[key].size() != tensors.size())
    return MakeError("each of 'steps' must have a file for each of the case's {0}", key);
  std::vector<std::string> files;
  for (const auto& first : tensors) {
    auto it = step[key].find(first.tensor);
    if (it == step[key].end())
      return MakeError(
          "each of 'steps' must have a file for each of the case's {0}: '{1}' is missing", key,
          first.tensor);
    ASSIGN_OR_RETURN(std::string path, ValueFile(values.folder, key, first.tensor, *it));
    files.push_back(std::move(path));
  }
  return files;
}

Error ReadState(const Json& json, Case* result) {
  if (json.contains("variables")) {
    if (!HasObject(json, "variables"))
      return MakeError("'variables' must be an object: node to file");
    for (const auto& [node, file] : json["variables"].items()) {
      ASSIGN_OR_RETURN(std::string path, ValueFile(result->folder, "variables", node, file));
      result->variables.push_back({node, path});
    }
  }
  if (json.contains("init")) {
    if (!json["init"].is_string()) return MakeError("'init' must name a file");
    result->init_graph = JoinPath(result->folder, json["init"].get<std::string>());
  }
  if (!json.contains("steps")) return Error::success();
  if (!json["steps"].is_array()) return MakeError("'steps' must be a list");
  for (const Json& step : json["steps"]) {
    Case::Step& read = result->steps.emplace_back();
    ASSIGN_OR_RETURN(read.feeds, FilesOf(*result, step, "feeds", result->feeds));
    ASSIGN_OR_RETURN(read.fetches, FilesOf(*result, step, "fetches", result->fetches));
  }
  return Error::success();
}

Error ReadCase(const Json& json, Case* result) {
  if (!json.is_object()) return MakeError("an object with feeds and fetches was expected");
  for (const char* key : {"feeds", "fetches"}) {
    if (!HasObject(json, key)) return MakeError("'{0}' must be an object: tensor to file", key);
  }
  ASSIGN_OR_RETURN(result->rtol, Tolerance(json, "rtol", {}));
  for (const auto& [tensor, file] : json["feeds"].items()) {
    ASSIGN_OR_RETURN(std::string path, ValueFile(result->folder, "feeds", tensor, file));
    result->feeds.push_back({tensor, path});
  }
  for (const auto& [tensor, file] : json["fetches"].items()) {
    ASSIGN_OR_RETURN(std::string path, ValueFile(result->folder, "fetches", tensor, file));
    ASSIGN_OR_RETURN(double atol, Tolerance(json, "atol", tensor));
    result->fetches.push_back({tensor, path, atol});
  }
  RETURN_IF_ERROR(ReadState(json, result));
  // Replaces the keys of the signature by tensor names. Does so at the end, because the steps and
  // tolerances read above are stated by key.
  if (!json.contains("tensors")) return Error::success();
  const Json& tensors = json["tensors"];
  if (!tensors.is_object()) return MakeError("'tensors' must be an object: key to tensor");
  // "tensors" is usually {key: tensor}; if an input and an output of the signature have the same
  // key, it is {"feeds": {key: tensor}, "fetches": {key: tensor}}.
  auto name = [&](const char* group, std::string* key) -> Error {
    const Json& of_group = HasObject(tensors, group) ? tensors[group] : tensors;
    auto found = of_group.find(*key);
    if (found == of_group.end()) return Error::success();
    if (!found->is_string()) return MakeError("'tensors' must name a tensor for '{0}'", *key);
    *key = found->get<std::string>();
    return Error::success();
  };
  for (Case::Feed& feed : result->feeds) RETURN_IF_ERROR(name("feeds", &feed.tensor));
  for (Case::Fetch& fetch : result->fetches) RETURN_IF_ERROR(name("fetches", &fetch.tensor));
  return Error::success();
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
  auto json = ParseOrdered(**file);
  if (!json) {
    llvm::consumeError(json.takeError());
    return true;
  }
  return HasObject(*json, "feeds") || HasObject(*json, "fetches");
}

Expected<Case> LoadCase(llvm::StringRef folder) {
  Case result;
  result.folder = folder.str();
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(JoinPath(folder, "case.json")));
  ASSIGN_OR_RETURN(Json json, ParseOrdered(*file));
  if (Error error = ReadCase(json, &result)) return Annotate(file->name(), std::move(error));
  for (const char* name : {"graph.pb", "graph.pbtxt", "graph.pb.gz", "graph.pbtxt.gz"}) {
    if (result.graph.empty() && FileExists(JoinPath(folder, name)))
      result.graph = JoinPath(folder, name);
  }
  if (result.graph.empty()) return MakeError("{0}: has a case.json but no graph.pb", folder);
  return result;
}

Expected<CaseSignature> SignatureOfCase(llvm::StringRef folder) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(JoinPath(folder, "case.json")));
  ASSIGN_OR_RETURN(Json json, ParseOrdered(*file));
  CaseSignature signature;
  if (!json.is_object() || !json.contains("signature")) return signature;
  if (!json["signature"].is_string())
    return MakeError("{0}: 'signature' must be a name", file->name());
  signature.name = json["signature"].get<std::string>();
  for (const auto& [name, unused] : json["feeds"].items()) signature.feeds.push_back(name);
  for (const auto& [name, unused] : json["fetches"].items()) signature.fetches.push_back(name);
  return signature;
}

Error SaveCase(llvm::StringRef folder, const Case& values) {
  Json json = {{"feeds", Json::object()}, {"fetches", Json::object()}};
  for (const Case::Feed& feed : values.feeds) {
    json["feeds"][feed.tensor] = llvm::sys::path::filename(feed.file).str();
  }
  json["rtol"] = values.rtol;
  json["atol"] = Json::object();
  for (const Case::Fetch& fetch : values.fetches) {
    json["fetches"][fetch.tensor] = llvm::sys::path::filename(fetch.file).str();
    json["atol"][fetch.tensor] = fetch.atol;
  }
  for (const Case::Feed& variable : values.variables)
    json["variables"][variable.tensor] = llvm::sys::path::filename(variable.file).str();
  // Tensor names come from graphs and may not be valid UTF-8.
  std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return WriteFile(JoinPath(folder, "case.json"), text);
}

}  // namespace grapnel
