#include "lib/place/placement_log.h"

#include "lib/ir/device_name.h"
#include "lib/ir/find.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// The text after "... execute.cc:1775] " or "... placer.cc:162] "; a bare line is all text.
llvm::StringRef WithoutPrefix(llvm::StringRef line) {
  size_t at = line.find(".cc:");
  if (at == llvm::StringRef::npos) return line;
  size_t end = line.find("] ", at);
  return end == llvm::StringRef::npos ? line : line.substr(end + 2);
}

Error CheckDevice(llvm::StringRef device) {
  ASSIGN_OR_RETURN(DeviceSpec name, DeviceSpec::Parse(device));
  if (!name.IsFull())
    return MakeError("device '{0}' is no full name: expected one like {1}", device, kLocalCpu);
  return Error::success();
}

// "name: (Op): /job:..."; false when it is another kind of line.
bool ParseNodeLine(llvm::StringRef text, PlacementLog::Line* line) {
  size_t device_at = text.rfind(llvm::StringRef("): /job:"));
  if (device_at == llvm::StringRef::npos) return false;
  size_t op_at = text.take_front(device_at).rfind(llvm::StringRef(": ("));
  if (op_at == llvm::StringRef::npos || op_at == 0) return false;
  line->node = text.take_front(op_at).str();
  line->op = text.slice(op_at + 3, device_at).str();
  line->device = text.drop_front(device_at + 3).str();
  return true;
}

}  // namespace

std::string PlacementLogLine(const Node& node, llvm::StringRef device) {
  return (node.name() + ": (" + node.op() + "): " + device).str();
}

Expected<PlacementLog> ReadPlacementLog(llvm::StringRef path) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  PlacementLog log;
  llvm::StringSet<> seen;
  llvm::StringRef rest = file->bytes();
  for (int number = 1; !rest.empty(); ++number) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    llvm::StringRef text = WithoutPrefix(line.rtrim("\r "));
    PlacementLog::Line parsed;
    std::string device;
    if (text.consume_front("Executing op ")) {
      auto [op, where] = text.split(" in device ");
      device = where.str();
      ++log.eager[{op.str(), device}];
    } else if (ParseNodeLine(text, &parsed)) {
      parsed.number = number;
      device = parsed.device;
      if (seen.insert(text).second) log.nodes.push_back(std::move(parsed));
    } else {
      continue;
    }
    if (Error error = CheckDevice(device))
      return Annotate(path + ":" + llvm::Twine(number), std::move(error));
  }
  return log;
}

Expected<std::vector<std::string>> PutOnGraph(const PlacementLog& log, llvm::StringRef path,
                                              const Graph& graph) {
  std::vector<std::string> devices(graph.end_id());
  for (const PlacementLog::Line& line : log.nodes) {
    auto node = FindNode(graph, line.node);
    if (!node) return Annotate(path + ":" + llvm::Twine(line.number), node.takeError());
    if (node->op() != line.op) {
      return MakeError("{0}:{1}: node '{2}' is a {3} in the log and a {4} in the graph", path,
                       line.number, line.node, line.op, node->op());
    }
    devices[node->id()] = line.device;
  }
  std::map<std::string, std::string> of_op;  // empty: ran on several
  for (const auto& [op_and_device, count] : log.eager) {
    auto [entry, is_new] = of_op.try_emplace(op_and_device.first, op_and_device.second);
    if (!is_new) entry->second.clear();
  }
  for (Node node : graph.nodes()) {
    auto found = of_op.find(node.op().str());
    if (devices[node.id()].empty() && found != of_op.end()) devices[node.id()] = found->second;
  }
  return devices;
}

}  // namespace grapnel
