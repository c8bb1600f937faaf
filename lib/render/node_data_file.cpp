// Reads the files of node_data.h: Model Explorer's JSON, and tables.
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/render/css_color.h"
#include "lib/render/node_data.h"
#include "lib/support/json.h"
#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kWanted =
    "expected Model Explorer's node data, {\"results\": {node: {\"value\": number}}} or {graph: "
    "that}, or a table: a line with the names of the columns, then lines with a node and its "
    "values";

using llvm::json::Object;

// Returns the keys of an object, sorted, because the object's own order is that of a hash table.
std::vector<llvm::StringRef> SortedKeys(const Object& object) {
  std::vector<llvm::StringRef> keys;
  keys.reserve(object.size());
  for (const auto& [key, value] : object) keys.push_back(key);
  llvm::sort(keys);
  return keys;
}

class JsonReader {
 public:
  JsonReader(llvm::StringRef file, std::vector<NodeData>* all) : file_(file), all_(*all) {}

  Error Read(llvm::StringRef text) {
    auto value = ParseJson(text);
    if (!value) return Annotate(file_, value.takeError());
    const Object* top = value->getAsObject();
    if (!top) return Wrong();
    if (top->getObject("results")) return ReadGraph("", *top);
    if (top->empty()) return Wrong();
    for (llvm::StringRef graph : SortedKeys(*top)) {
      const Object* object = top->getObject(graph);
      if (!object || !object->getObject("results")) return Wrong();
      RETURN_IF_ERROR(ReadGraph(graph.str(), *object));
    }
    return Error::success();
  }

 private:
  Error Wrong() const { return MakeError("{0}: {1}", file_, kWanted); }

  Error ReadGraph(const std::string& graph, const Object& object) {
    std::string name = object.getString("name").value_or(llvm::sys::path::stem(file_)).str();
    auto found = llvm::find_if(all_, [&](const NodeData& other) { return other.name == name; });
    NodeData& data = found == all_.end() ? all_.emplace_back() : *found;
    data.name = name;
    const Object& results = *object.getObject("results");
    data.entries.reserve(data.entries.size() + results.size());
    for (llvm::StringRef node : SortedKeys(results))
      RETURN_IF_ERROR(ReadNode(graph, node, *results.get(node), data));
    RETURN_IF_ERROR(ReadSteps(object, "gradient", "stop", &data.scale.gradient));
    return ReadSteps(object, "thresholds", "value", &data.scale.thresholds);
  }

  Error ReadNode(const std::string& graph, llvm::StringRef node, const llvm::json::Value& result,
                 NodeData& data) {
    const Object* object = result.getAsObject();
    const llvm::json::Value* value = object ? object->get("value") : nullptr;
    if (!value) return MakeError("{0}: node '{1}' has no 'value'", file_, Printable(node));
    std::optional<double> number = value->getAsNumber();
    if (!number || !std::isfinite(*number)) {
      ++data.not_numbers;
      return Error::success();
    }
    NodeNumber taken = {*number, ""};
    if (auto color = object->getString("bgColor")) {
      ASSIGN_OR_RETURN(taken.fill, Color(*color, "node '" + Printable(node) + "'"));
    }
    data.entries.push_back({graph, node.str(), std::move(taken)});
    return Error::success();
  }

  // Reads the steps of a gradient or of thresholds; does nothing if an earlier object of the same
  // name had some.
  Error ReadSteps(const Object& object, llvm::StringRef key, llvm::StringRef at,
                  std::vector<NumberScale::Step>* steps) {
    const llvm::json::Array* list = object.getArray(key);
    if (!list || !steps->empty()) return Error::success();
    steps->reserve(list->size());
    for (const llvm::json::Value& item : *list) {
      const Object* step = item.getAsObject();
      std::optional<double> place = step ? step->getNumber(at) : std::nullopt;
      if (!place)
        return MakeError("{0}: an entry of '{1}' lacks the field '{2}', a number", file_, key, at);
      auto color = step->getString("bgColor");
      if (!color) continue;  // the entry may set only the text's color
      ASSIGN_OR_RETURN(std::string fill, Color(*color, "'" + key.str() + "'"));
      steps->push_back({*place, std::move(fill)});
    }
    llvm::stable_sort(*steps, [](const auto& a, const auto& b) { return a.at < b.at; });
    return Error::success();
  }

  Expected<std::string> Color(llvm::StringRef text, const std::string& where) const {
    if (auto fill = CssColor(text)) return *fill;
    return MakeError("{0}: {1}: bgColor '{2}' is not a color: expected a name, #rgb or #rrggbb",
                     file_, where, Printable(text));
  }

  llvm::StringRef file_;
  std::vector<NodeData>& all_;
};

// Reads a table's lines, and splits each into fields.
class TableReader {
 public:
  explicit TableReader(llvm::StringRef text) : rest_(text) {
    if (text.take_until([](char c) { return c == '\n'; }).contains('\t')) separator_ = '\t';
  }

  size_t line() const { return line_; }  // the number, from 1, of the line that Next() read

  // Reads the next line's fields; false at the end of the file. Quoted fields may contain
  // separators and line ends.
  bool Next(std::vector<std::string>* fields) {
    if (rest_.empty()) return false;
    line_ = next_line_;
    fields->clear();
    do fields->push_back(Field());
    while (rest_.consume_front(llvm::StringRef(&separator_, 1)));
    rest_.consume_front("\r");
    rest_.consume_front("\n");
    ++next_line_;
    return true;
  }

 private:
  std::string Field() {
    if (!rest_.consume_front("\"")) {
      llvm::StringRef plain =
          rest_.take_until([this](char c) { return c == separator_ || c == '\n'; });
      rest_ = rest_.drop_front(plain.size());
      return plain.trim().str();
    }
    std::string text;
    while (!rest_.empty()) {
      if (rest_.consume_front("\"\"")) {
        text += '"';
        continue;
      }
      if (rest_.consume_front("\"")) break;
      next_line_ += rest_.front() == '\n';
      text += rest_.front();
      rest_ = rest_.drop_front();
    }
    rest_ = rest_.drop_while([this](char c) { return c != separator_ && c != '\n'; });
    return text;
  }

  llvm::StringRef rest_;
  char separator_ = ',';
  size_t line_ = 0, next_line_ = 1;
};

Error ReadTable(llvm::StringRef text, llvm::StringRef file, std::vector<NodeData>* all) {
  TableReader table(text);
  std::vector<std::string> fields;
  if (!table.Next(&fields) || fields.size() < 2) return MakeError("{0}: {1}", file, kWanted);
  llvm::StringRef stem = llvm::sys::path::stem(file);
  for (size_t i = 1; i < fields.size(); ++i)
    all->emplace_back().name = fields[i].empty() ? stem.str() : fields[i];
  llvm::StringMap<size_t> lines;
  while (table.Next(&fields)) {
    if (fields.size() == 1 && fields[0].empty()) continue;
    auto [at, fresh] = lines.try_emplace(fields[0], table.line());
    if (!fresh)
      return MakeError("{0}: line {1}: node '{2}' is already on line {3}", file, table.line(),
                       Printable(fields[0]), at->second);
    for (size_t i = 1; i < fields.size() && i <= all->size(); ++i) {
      NodeData& data = (*all)[i - 1];
      double value = 0;
      if (fields[i].empty()) continue;
      if (llvm::StringRef(fields[i]).getAsDouble(value) || !std::isfinite(value)) {
        ++data.not_numbers;
      } else {
        data.entries.push_back({"", fields[0], {value, ""}});
      }
    }
  }
  return Error::success();
}

}  // namespace

Expected<std::vector<NodeData>> ReadNodeData(llvm::StringRef text, llvm::StringRef file) {
  std::vector<NodeData> all;
  text.consume_front("\xef\xbb\xbf");
  bool is_json = text.ltrim().starts_with("{") || text.ltrim().starts_with("[");
  RETURN_IF_ERROR(is_json ? JsonReader(file, &all).Read(text) : ReadTable(text, file, &all));
  llvm::erase_if(all, [](const NodeData& data) { return data.entries.empty(); });
  if (all.empty()) return MakeError("{0}: no node has a number; {1}", file, kWanted);
  return all;
}

}  // namespace grapnel
