#include "lib/ir/text_node_parts.h"

#include "lib/ir/device_name.h"
#include "lib/ir/import.h"
#include "lib/ir/text_scanner.h"
#include "lib/ir/wire.h"
#include "lib/ir/wire_map.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"

namespace grapnel {
namespace {

// Returns the device as it is if the reader can read it without quotes, otherwise in quotes.
std::string BareDevice(llvm::StringRef device) {
  bool bare = !device.empty() && device[0] == '/' &&
              llvm::all_of(device,
                           [](char c) {
                             return llvm::isAlnum(c) || llvm::StringRef("/:_*-.").contains(c);
                           }) &&
              device.back() != ':' && !device.contains("::");
  return bare ? device.str() : QuotedText(device);
}

}  // namespace

std::string DeviceText(llvm::StringRef device, bool exact) {
  std::string shortened = ShortDevice(device);
  auto whole = DeviceNameFromTyped(shortened);
  bool reads_again = whole && (!exact || *whole == device) && shortened[0] != '/' &&
                     BareDevice("/" + shortened)[0] == '/';
  if (!whole) llvm::consumeError(whole.takeError());
  return reads_again ? shortened : BareDevice(device);
}

std::string FieldsText(llvm::StringRef bytes) {
  return " fields \"" + llvm::encodeBase64(bytes) + '"';
}

NodeParts::NodeParts(const Node& node, const Function* function) {
  llvm::StringRef bytes = node.graph().UnchangedSource(node.id());
  if (bytes.empty()) bytes = owned = ExportNodeDef(node, function);
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() > 5) {
      fields += reader.whole_field();
    } else if (reader.Is(3, WireType::kBytes)) {
      inputs.push_back(reader.bytes());
    } else if (reader.Is(5, WireType::kBytes)) {
      auto [key, value] = ReadMapEntry(reader.bytes());
      attrs[key] = value;
    }
  }
}

}  // namespace grapnel
