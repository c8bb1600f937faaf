#include "lib/place/log_line.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "lib/ir/device_name.h"
#include "lib/support/json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

constexpr size_t kLongest = size_t{1} << 20;  // longer lines are not parsed
constexpr size_t kMostContainers = 1024;

// Reads each character once, unlike StringRef::find: logs are long.
size_t FindIn(llvm::StringRef text, std::string_view what, size_t from = 0) {
  return std::string_view(text.data(), text.size()).find(what, from);
}

size_t FindLast(llvm::StringRef text, std::string_view what) {
  size_t last = llvm::StringRef::npos;
  for (size_t at = FindIn(text, what); at != llvm::StringRef::npos; at = FindIn(text, what, at + 1))
    last = at;
  return last;
}

bool SaysSomething(llvm::StringRef line) {
  return FindIn(line, "/job:") != llvm::StringRef::npos ||
         FindIn(line, "placer.cc:") != llvm::StringRef::npos ||
         FindIn(line, "Dumped Graph to ") != llvm::StringRef::npos;
}

// Caches the full names of devices: a log has few distinct devices.
class FullDevices {
 public:
  // Returns the device's name in its usual spelling; "" if `text` is not a full device name.
  const std::string& Of(llvm::StringRef text) {
    if (known_.size() > kMostContainers) known_.clear();
    auto [entry, is_new] = known_.try_emplace(text);
    if (is_new) entry->second = Read(text);
    return entry->second;
  }

 private:
  static std::string Read(llvm::StringRef text) {
    auto name = DeviceSpec::Parse(text);
    if (name && name->IsFull()) return name->ToString();
    llvm::consumeError(name.takeError());
    return "";
  }
  llvm::StringMap<std::string> known_;
};

std::optional<std::string> FullDevice(llvm::StringRef text) {
  static thread_local FullDevices devices;
  const std::string& device = devices.Of(text);
  return device.empty() ? std::nullopt : std::optional(device);
}

// The prefix "...placer.cc:162] ": where its file name begins, and where the text after it begins.
struct Marker {
  size_t begin, end;
};

std::optional<Marker> LastMarker(llvm::StringRef line) {
  std::optional<Marker> last;
  for (size_t at = FindIn(line, ".cc:"); at != llvm::StringRef::npos;
       at = FindIn(line, ".cc:", at + 1)) {
    llvm::StringRef before = line.take_front(at);
    for (llvm::StringRef file : {"placer", "execute", "dump_graph"}) {
      size_t end = line.find_first_not_of("0123456789", at + 4);
      if (!before.ends_with(file) || end == llvm::StringRef::npos || line[end] != ']') continue;
      last = Marker{at - file.size(), std::min(end + 2, line.size())};
    }
  }
  return last;
}

// The thread, "9992" of "I0000 00:00:1795905684.001959    9992 placer.cc:162] "; "" if the prefix
// does not name the thread.
llvm::StringRef ThreadOf(llvm::StringRef before_file) {
  llvm::StringRef words = before_file.rtrim();
  llvm::StringRef last = words.substr(words.find_last_of(' ') + 1);
  return !last.empty() && llvm::all_of(last, llvm::isDigit) ? last : llvm::StringRef();
}

// True for a node line ("name: (Op): /job:...") that has lost its end or its middle.
bool LooksCut(llvm::StringRef text) {
  auto [first, rest] = text.split(' ');
  return rest.empty() || first.ends_with(":");
}

// The parts of "name: (Op): /job:...", "name: (Op)/job:..." or "name: /job:...".
struct Parts {
  llvm::StringRef node, op, device;
};

std::optional<Parts> Split(llvm::StringRef text, bool may_lack_op) {
  size_t at = FindLast(text, "/job:");
  if (at == llvm::StringRef::npos) return std::nullopt;
  Parts parts;
  parts.device = text.substr(at);
  llvm::StringRef head = text.take_front(at);
  if (head.consume_back("): ") || head.consume_back(")")) {
    size_t op_at = head.rfind(": (");
    if (op_at == llvm::StringRef::npos) return std::nullopt;
    parts.op = head.substr(op_at + 3);
    parts.node = head.take_front(op_at);
    if (parts.op.empty() || parts.op.contains(' ')) return std::nullopt;
  } else if (may_lack_op && head.consume_back(": ")) {
    parts.node = head;
  } else {
    return std::nullopt;
  }
  return parts;
}

// Parses a node's line. Without the placer's prefix, other words may precede the node's name.
bool ReadNode(llvm::StringRef text, LogLine* line) {
  auto parts = Split(text, /*may_lack_op=*/true);
  if (!parts) return false;
  if (!line->is_prefixed && !parts->op.empty())
    parts->node = parts->node.substr(parts->node.find_last_of(" \t") + 1);
  if (parts->node.empty() || parts->node.contains(' ')) return false;
  line->kind = LogLine::kBroken;
  if (parts->node.contains("/job:")) return true;  // two lines run together: the name may be cut
  line->node = parts->node.str();
  line->op = parts->op.str();
  auto [device, rest] = parts->device.split(' ');
  if (auto full = FullDevice(device)) {
    line->kind = LogLine::kNode;
    line->device = *full;
  }
  return true;
}

bool ReadEager(llvm::StringRef text, LogLine* line) {
  if (!text.consume_front("Executing op ")) return false;
  auto [op, where] = text.split(" in device ");
  line->op = op.str();
  auto full = FullDevice(where.rtrim());
  line->kind = full ? LogLine::kEager : LogLine::kBroken;
  line->device = full.value_or("");
  return true;
}

// Parses NAME, NNNN and TAG of "Dumped Graph to DIR/NAME.NNNN.GROUP.TAG.pbtxt".
bool ReadDump(llvm::StringRef text, LogLine* line) {
  if (!text.consume_front("Dumped Graph to ")) return false;
  text = text.rtrim();
  text = text.substr(text.rfind("/job:") == llvm::StringRef::npos ? text.find_last_of('/') + 1 : 0);
  if (!text.consume_back(".pbtxt")) text.consume_back(".pb");
  auto [rest, tag] = text.rsplit('.');
  auto [name, number] = rest.rsplit('.').first.rsplit('.');
  if (name.empty() || number.getAsInteger(10, line->number)) return false;
  line->kind = LogLine::kDump;
  line->node = name.str();
  line->op = tag.str();
  return true;
}

// Removes the prefix that names the line's source ("worker_1  | ", "[pod/trainer-0/main] "), and
// returns that source; "" without such a prefix.
llvm::StringRef TakeSource(llvm::StringRef* line) {
  llvm::StringRef head = line->take_front(200);
  size_t bar = head.find("| ");
  if (bar != llvm::StringRef::npos && !head.take_front(bar).rtrim().contains(' ')) {
    *line = line->substr(bar + 2);
    return head.take_front(bar).rtrim();
  }
  size_t end = head.find(']');
  if (!head.starts_with("[") || end == llvm::StringRef::npos) return {};
  llvm::StringRef source = head.substr(1, end - 1);
  if (source.contains(' ') || !source.contains_insensitive("pod/")) return {};
  *line = line->substr(end + 1).ltrim();
  return source;
}

// Removes a container runtime's prefix, "2024-05-01T10:00:00.000000000Z stderr F "; P instead of F
// means that the line continues.
bool TakeRuntimePrefix(llvm::StringRef* line, bool* is_piece) {
  llvm::StringRef head = line->take_front(64);
  for (llvm::StringRef stream : {" stdout ", " stderr "}) {
    size_t at = head.find(stream);
    if (at == llvm::StringRef::npos || !head.take_front(at).contains('T')) continue;
    llvm::StringRef tag = head.substr(at + stream.size(), 2);
    if (tag != "F " && tag != "P " && tag != "F") continue;
    *is_piece = tag == "P ";
    *line = line->drop_front(std::min(line->size(), at + stream.size() + 2));
    return true;
  }
  return false;
}

std::string WithoutColors(llvm::StringRef line) {
  std::string text;
  while (!line.empty()) {
    auto [plain, rest] = line.split("\x1b[");
    text += plain;
    line = rest.drop_while([](char c) { return llvm::isDigit(c) || c == ';'; })
               .drop_front(rest.empty() ? 0 : 1);
  }
  return text;
}

// Finds the log text in a JSON log record, in whichever field, and the record's source.
void FindText(const llvm::json::Object& record, std::optional<std::string>* text,
              std::string* source) {
  constexpr std::array kSources = {"pod",       "pod_name",     "podName",
                                   "container", "container_id", "container_name",
                                   "hostname",  "host",         "instance_id"};
  std::vector<llvm::StringRef> keys;
  for (const auto& [key, value] : record) keys.push_back(key);
  llvm::sort(keys);
  for (llvm::StringRef key : keys) {
    const llvm::json::Value& value = *record.get(key);
    if (const auto* inner = value.getAsObject()) {
      FindText(*inner, text, source);
    } else if (auto string = value.getAsString()) {
      if (!*text && SaysSomething(*string)) *text = string->str();
      if (llvm::is_contained(kSources, key)) *source += "," + string->str();
    }
  }
}

}  // namespace

void LogLineReader::ReadBare(llvm::StringRef text, llvm::StringRef source,
                             llvm::function_ref<void(LogLine&)> visit) {
  text = text.rtrim("\r\n\t ");
  if (!SaysSomething(text)) return;
  LogLine line;
  line.stream = source.str();
  if (auto marker = LastMarker(text)) {
    llvm::StringRef before = text.take_front(marker->begin);
    bool is_placer = text.substr(marker->begin).starts_with("placer.cc:");
    line.is_prefixed = true;
    line.follows_piece =
        FindIn(before, "/job:") != llvm::StringRef::npos || LastMarker(before).has_value();
    // The thread's id is before the name of the source file, which may begin with a path.
    line.stream += ":" + ThreadOf(before.take_front(before.find_last_of(' ') + 1)).str();
    text = text.substr(marker->end);
    bool is_read = ReadEager(text, &line) || ReadDump(text, &line) || ReadNode(text, &line);
    if (!is_read && is_placer && LooksCut(text)) {
      line.kind = LogLine::kBroken;
      line.node = text.take_until([](char c) { return c == ':'; }).str();
      if (line.node.size() == text.size()) line.node.clear();
    }
  } else if (!ReadEager(text.substr(std::min(text.find("Executing op "), text.size())), &line)) {
    ReadNode(text, &line);
  }
  if (line.kind != LogLine::kOther || line.follows_piece) visit(line);
}

bool LogLineReader::ReadJson(llvm::StringRef line, llvm::StringRef source,
                             llvm::function_ref<void(LogLine&)> visit) {
  auto record = ParseJson(line);
  if (!record || !record->getAsObject()) {
    llvm::consumeError(record.takeError());
    return false;
  }
  std::optional<std::string> text;
  std::string from = source.str();
  const llvm::json::Object& fields = *record->getAsObject();
  auto log = fields.getString("log");
  if (log && fields.getString("stream")) text = log->str();  // Docker's format
  FindText(fields, &text, &from);
  if (!text) return true;
  bool is_piece = log && fields.getString("stream") && !log->ends_with("\n");
  std::string whole = std::move(pieces_[from]) + *text;
  pieces_.erase(from);
  if (is_piece && whole.size() < kLongest && pieces_.size() < kMostContainers) {
    pieces_[from] = std::move(whole);
    return true;
  }
  for (llvm::StringRef rest = whole; !rest.empty();) {
    auto [first, more] = rest.split('\n');
    ReadBare(first, from, visit);
    rest = more;
  }
  return true;
}

void LogLineReader::Read(llvm::StringRef line, llvm::function_ref<void(LogLine&)> visit) {
  std::string plain;
  bool is_piece = false;
  bool has_runtime = TakeRuntimePrefix(&line, &is_piece);
  if (!has_runtime && pieces_.empty() && !SaysSomething(line)) return;
  if (line.size() > kLongest) return;
  if (line.contains('\x1b')) line = plain = WithoutColors(line);
  llvm::StringRef source = TakeSource(&line);
  if (has_runtime) {
    std::string whole = std::move(pieces_[source.str()]) + line.str();
    pieces_.erase(source.str());
    if (is_piece && whole.size() < kLongest && pieces_.size() < kMostContainers) {
      pieces_[source.str()] = std::move(whole);
      return;
    }
    return ReadBare(whole, source, visit);
  }
  size_t brace = line.rtrim().ends_with("}") ? FindIn(line, "{\"") : size_t{llvm::StringRef::npos};
  if (brace != llvm::StringRef::npos && ReadJson(line.substr(brace).rtrim(), source, visit)) return;
  ReadBare(line, source, visit);
}

}  // namespace grapnel
