#include "lib/ir/line_table.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "lib/ir/debug_info_writer.h"
#include "lib/ir/find.h"
#include "lib/ir/wire.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

int Int(const WireReader& reader) { return static_cast<int>(reader.number()); }

// The names in a node's experimental_debug_info: the nodes from which TensorFlow made this node,
// and the functions that contained those.
struct OriginalNames {
  explicit OriginalNames(llvm::StringRef node_def) {
    constexpr uint32_t kExperimentalDebugInfo = 6;
    WireReader node(node_def);
    while (node.Next()) {
      if (!node.Is(kExperimentalDebugInfo, WireType::kBytes)) continue;
      WireReader info(node.bytes());
      while (info.Next()) {
        if (info.Is(1, WireType::kBytes)) nodes.push_back(info.bytes());
        if (info.Is(2, WireType::kBytes)) functions.push_back(info.bytes());
      }
    }
  }
  std::vector<llvm::StringRef> nodes, functions;
};

}  // namespace

// Reads one GraphDebugInfo. Its stack traces refer to files and frames by number, and these may
// come later in the message. So the class collects files, frames and traces first, then reads the
// names.
class LineTable::Reader {
 public:
  explicit Reader(LineTable& lines, llvm::StringRef bytes) : lines_(lines), bytes_(bytes) {}

  void Read() {
    WireReader reader(bytes_);
    while (reader.Next()) {
      if (reader.type() != WireType::kBytes) continue;
      if (reader.field() == kFiles) files_.push_back(reader.bytes());
      if (reader.field() == kFramesById) AddById(reader.bytes(), &frame_by_id_);
      if (reader.field() == kTracesById) AddById(reader.bytes(), &trace_by_id_);
    }
    llvm::DenseMap<llvm::StringRef, TraceId> found;  // the last value counts if a key occurs twice
    WireReader again(bytes_);
    while (again.Next()) {
      if (again.type() != WireType::kBytes) continue;
      if (again.field() == kTraces) AddTrace(again.bytes(), &found);
      if (again.field() == kNameToTraceId) AddName(again.bytes(), &found);
    }
    if (lines_.trace_of_.empty()) {
      lines_.trace_of_ = std::move(found);
    } else {
      for (const auto& [key, trace] : found) lines_.trace_of_.try_emplace(key, trace);
    }
  }

 private:
  static constexpr uint32_t kFiles = 1, kTraces = 2, kFramesById = 4, kNameToTraceId = 5,
                            kTracesById = 6;
  // A DenseMap does not work here: it reserves two key values, and a file may contain any number.
  using ById = std::unordered_map<uint64_t, llvm::StringRef>;

  static void AddById(llvm::StringRef entry, ById* map) {
    uint64_t id = 0;
    llvm::StringRef value;
    WireReader reader(entry);
    while (reader.Next()) {
      if (reader.Is(1, WireType::kFixed64)) id = reader.number();
      if (reader.Is(2, WireType::kBytes)) value = reader.bytes();
    }
    (*map)[id] = value;
  }

  void AddTrace(llvm::StringRef entry, llvm::DenseMap<llvm::StringRef, TraceId>* found) {
    llvm::StringRef key = "", trace;
    WireReader reader(entry);
    while (reader.Next()) {
      if (reader.Is(1, WireType::kBytes)) key = reader.bytes();
      if (reader.Is(2, WireType::kBytes)) trace = reader.bytes();
    }
    if (TraceId id = TraceOf(trace)) (*found)[key] = id;
  }

  void AddName(llvm::StringRef entry, llvm::DenseMap<llvm::StringRef, TraceId>* found) {
    llvm::StringRef key = "";
    uint64_t id = 0;
    WireReader reader(entry);
    while (reader.Next()) {
      if (reader.Is(1, WireType::kBytes)) key = reader.bytes();
      if (reader.Is(2, WireType::kFixed64)) id = reader.number();
    }
    auto trace = trace_by_id_.find(id);
    if (trace == trace_by_id_.end()) return;
    if (TraceId made = TraceOf(trace->second)) (*found)[key] = made;
  }

  // Adds a stack trace and returns its id, or the id of the trace with equal bytes.
  TraceId TraceOf(llvm::StringRef bytes) {
    auto [known, is_new] = traces_.try_emplace(bytes, 0);
    if (!is_new) return known->second;
    std::vector<uint32_t> frames;  // a ring buffer of the last frames
    size_t count = 0;
    auto add = [&](uint32_t frame) {
      if (frame == kNone) return;
      if (frames.size() < kMostFrames)
        frames.push_back(frame);
      else
        frames[count % kMostFrames] = frame;
      ++count;
    };
    WireReader reader(bytes);
    while (reader.Next()) {
      if (reader.Is(1, WireType::kBytes)) add(FrameOf(reader.bytes()));
      if (reader.Is(2, WireType::kFixed64)) add(FrameOfId(reader.number()));
      if (!reader.Is(2, WireType::kBytes)) continue;
      llvm::StringRef packed = reader.bytes();
      packed = packed.take_front(packed.size() / 8 * 8).take_back(kMostFrames * 8);
      for (; !packed.empty(); packed = packed.drop_front(8)) {
        uint64_t id;
        std::memcpy(&id, packed.data(), 8);
        add(FrameOfId(id));
      }
    }
    if (frames.empty()) return 0;
    if (count > kMostFrames)
      std::rotate(frames.begin(), frames.begin() + count % kMostFrames, frames.end());
    uint32_t begin = lines_.frames_of_traces_.size();
    llvm::append_range(lines_.frames_of_traces_, frames);
    lines_.traces_.emplace_back(begin, begin + frames.size());
    return traces_[bytes] = lines_.traces_.size();
  }

  uint32_t FrameOfId(uint64_t id) {
    auto frame = frame_by_id_.find(id);
    return frame == frame_by_id_.end() ? kNone : FrameOf(frame->second);
  }

  uint32_t FrameOf(llvm::StringRef bytes) {
    auto [known, is_new] = frames_.try_emplace(bytes, kNone);
    if (!is_new) return known->second;
    SourceFrame frame;
    uint64_t file = 0;
    WireReader reader(bytes);
    while (reader.Next()) {
      if (reader.Is(1, WireType::kVarint)) file = reader.number();
      if (reader.Is(2, WireType::kVarint)) frame.line = std::max(0, Int(reader));
      if (reader.Is(3, WireType::kVarint)) frame.column = std::max(0, Int(reader));
      if (reader.Is(4, WireType::kBytes)) frame.function = reader.bytes();
      if (reader.Is(5, WireType::kBytes)) frame.code = reader.bytes();
    }
    if (file >= files_.size()) return kNone;
    frame.file = files_[file];
    lines_.frames_.push_back(frame);
    return known->second = lines_.frames_.size() - 1;
  }

  static constexpr uint32_t kNone = ~0u;
  LineTable& lines_;
  llvm::StringRef bytes_;
  std::vector<llvm::StringRef> files_;
  ById frame_by_id_, trace_by_id_;
  llvm::DenseMap<llvm::StringRef, uint32_t> frames_;  // keyed by serialized bytes
  llvm::DenseMap<llvm::StringRef, TraceId> traces_;
};

LineTable::LineTable(const Module& module) {
  std::string info;  // serialized; two concatenated messages parse as one
  WireReader reader(module.other_fields);
  while (reader.Next()) {
    if (reader.Is(kDebugInfoOfGraph, WireType::kBytes)) info += reader.bytes();
  }
  if (!info.empty()) Add(std::move(info));
}

void LineTable::Add(std::string debug_info) {
  bytes_.push_back(std::make_shared<const std::string>(std::move(debug_info)));
  Reader(*this, *bytes_.back()).Read();
}

LineTable::TraceId LineTable::Find(llvm::StringRef function, llvm::StringRef node) const {
  if (empty()) return 0;
  if (function.empty()) {
    if (!main_function_.empty()) {
      if (TraceId trace = Find(main_function_, node)) return trace;
    }
    if (TraceId trace = trace_of_.lookup(node)) return trace;
  }
  llvm::SmallString<128> key = node;
  key += '@';
  key += function;
  return trace_of_.lookup(key);
}

LineTable::TraceId LineTable::Of(const Node& node) const {
  if (empty() || !node) return 0;
  const Function* function = FunctionOf(node.graph());
  llvm::StringRef body = function ? function->name() : llvm::StringRef();
  if (TraceId trace = Find(body, node.name())) return trace;
  OriginalNames before(node.graph().Source(node.id()));
  for (size_t i = 0; i < before.nodes.size(); ++i) {
    llvm::StringRef in = i < before.functions.size() ? before.functions[i] : body;
    if (TraceId trace = Find(in, before.nodes[i])) return trace;
  }
  return 0;
}

LineTable::Stack LineTable::StackOf(TraceId trace) const {
  Stack stack;
  if (trace == 0) return stack;
  auto [begin, end] = traces_[trace - 1];
  for (uint32_t i = begin; i < end; ++i) stack.push_back(frames_[frames_of_traces_[i]]);
  return stack;
}

std::optional<SourceFrame> LineTable::LineOf(TraceId trace) const {
  if (trace == 0) return std::nullopt;
  auto [begin, end] = traces_[trace - 1];
  for (uint32_t i = end; i > begin; --i) {
    const SourceFrame& frame = frames_[frames_of_traces_[i - 1]];
    if (!IsFrameworkFile(frame.file)) return frame;
  }
  return frames_[frames_of_traces_[end - 1]];
}

std::vector<Node> LineTable::NodesAt(const SourcePlace& place, const Module& module) const {
  std::vector<Node> nodes;
  std::vector<bool> is_there(traces_.size() + 1);
  for (size_t i = 0; i < traces_.size(); ++i) {
    for (uint32_t at = traces_[i].first; at < traces_[i].second && !is_there[i + 1]; ++at)
      is_there[i + 1] = place.Has(frames_[frames_of_traces_[at]]);
  }
  if (llvm::none_of(is_there, [](bool is) { return is; })) return nodes;
  auto add = [&](const Graph& graph, llvm::StringRef function) {
    for (Node node : graph.nodes()) {
      TraceId trace = Find(function, node.name());
      if (is_there[trace ? trace : Of(node)]) nodes.push_back(node);
    }
  };
  add(module.main, "");
  for (const auto& function : module.functions) add(function->body, function->name());
  return nodes;
}

std::vector<llvm::StringRef> LineTable::Files() const {
  std::vector<llvm::StringRef> files;
  for (const SourceFrame& frame : frames_) files.push_back(frame.file);
  llvm::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::optional<SourceFrame> LineOf(const LineTable::Stack& stack) {
  auto is_users = [](const SourceFrame& frame) { return !IsFrameworkFile(frame.file); };
  auto found = llvm::find_if(llvm::reverse(stack), is_users);
  if (found != stack.rend()) return *found;
  return stack.empty() ? std::nullopt : std::optional(stack.back());
}

std::string FrameText(const SourceFrame& frame, bool with_function) {
  std::string text = frame.file.str();
  if (frame.line > 0) text += ":" + std::to_string(frame.line);
  bool has_name = !frame.function.empty() && frame.function != "operator()";
  if (with_function && has_name) text += " in " + frame.function.str();
  return text;
}

SourcePlace SourcePlace::Parse(llvm::StringRef text) {
  SourcePlace place;
  auto [file, number] = text.rsplit(':');
  bool has_line = !number.empty() && !number.getAsInteger(10, place.line) && place.line > 0;
  if (!has_line) place.line = 0;
  place.file = (has_line ? file : text).str();
  return place;
}

bool SourcePlace::Has(const SourceFrame& frame) const {
  if (file.empty() || (line > 0 && frame.line != line)) return false;
  llvm::StringRef path = frame.file;
  return path == file || (path.consume_back(file) && (path.ends_with("/") || path.ends_with("\\")));
}

bool IsFrameworkFile(llvm::StringRef path) {
  for (llvm::StringRef packages : {"site-packages", "dist-packages"}) {
    llvm::StringRef package = path.split(packages).second.ltrim("/\\");
    for (llvm::StringRef name : {"tensorflow", "keras", "tf_keras", "absl"}) {
      if (package.starts_with(name)) return true;
    }
  }
  // A file of Python's standard library, such as threading, contextlib or importlib.
  bool is_library = path.contains("/lib/python3") && !path.contains("site-packages") &&
                    !path.contains("dist-packages");
  return is_library || path.starts_with("<frozen ");
}

std::string StackText(const LineTable::Stack& stack, size_t most) {
  LineTable::Stack shown;
  for (const SourceFrame& frame : llvm::reverse(stack)) {
    if (!IsFrameworkFile(frame.file)) shown.push_back(frame);
  }
  if (shown.empty() && !stack.empty()) shown.push_back(stack.back());
  std::string text;
  for (size_t i = 0; i < std::min(most, shown.size()); ++i) text += "\n  at " + FrameText(shown[i]);
  return text;
}

namespace {

// Returns the node of that name in the function bodies; an empty Node if no function or several
// functions have one.
Node OnlyNodeNamed(llvm::StringRef name, const Module& module) {
  Node only;
  for (const auto& function : module.functions) {
    Node node = function->body.Find(name);
    if (node && only) return Node();
    if (node) only = node;
  }
  return only;
}

}  // namespace

std::string StackOfMessage(llvm::StringRef message, const LineTable& lines, const Module& module) {
  if (lines.empty()) return "";
  std::string text;
  const Graph* body = &module.main;
  // Keeps the stack of the last node named, which is the innermost one. A message names a function
  // before the node in it.
  for (size_t at = 0; (at = message.find('\'', at)) != llvm::StringRef::npos;) {
    llvm::StringRef before = message.take_front(at);
    size_t end = message.find('\'', at + 1);
    if (end == llvm::StringRef::npos) break;
    llvm::StringRef name = message.slice(at + 1, end);
    if (before.ends_with("function ")) {
      if (const Function* function = module.FindFunction(name)) body = &function->body;
    } else if (before.ends_with("node ")) {
      Node node = body->Find(name);
      if (!node) {
        auto found = FindNode(module, name);
        if (found) node = *found;
        llvm::consumeError(found.takeError());
      }
      if (!node) node = OnlyNodeNamed(name, module);
      if (std::string stack = StackText(lines.StackOf(node)); node && !stack.empty()) text = stack;
    } else {
      at = at + 1;  // an apostrophe, or another kind of name
      continue;
    }
    at = end + 1;
  }
  return text;
}

}  // namespace grapnel
