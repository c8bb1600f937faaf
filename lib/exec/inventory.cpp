#include "lib/exec/inventory.h"

#include "lib/exec/device.h"
#include "lib/exec/kernel.h"
#include "lib/support/text.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

void WriteKernels(llvm::raw_ostream& os, bool as_json) {
  std::vector<std::vector<std::string>> rows;
  llvm::json::Array list;
  for (const KernelDef& def : KernelRegistry::Get().All()) {
    // Of several attributes the first is the one that devices differ in.
    const OfTypes* first = def.types.empty() ? nullptr : &def.types[0];
    llvm::json::Array names;
    if (first) {
      for (DataType type : first->types) names.push_back(DataTypeName(type));
    }
    rows.push_back({def.op, def.device, first ? TypesText(def, "=") : "any"});
    list.push_back(llvm::json::Object{{"op", def.op},
                                      {"device", def.device},
                                      {"type_attr", first ? first->attr : ""},
                                      {"types", std::move(names)}});
  }
  if (as_json)
    os << llvm::formatv("{0:2}", llvm::json::Value(std::move(list))) << "\n";
  else
    os << Table(rows, "");
}

void WriteDevices(llvm::raw_ostream& os, bool as_json) {
  struct Row {
    std::string name, kind, text;
  };
  std::vector<Row> rows;
  for (const std::string& kind : Devices::Get().Kinds()) {
    auto devices = Devices::Get().OfKind(kind);
    if (!devices) {
      rows.push_back({"", kind, TextOf(devices.takeError())});
      continue;
    }
    for (Device* device : *devices) rows.push_back({device->name(), kind, device->Describe()});
  }
  if (!as_json) {
    for (const Row& row : rows)
      os << row.name << (row.name.empty() || row.text.empty() ? "" : "  ") << row.text << "\n";
    return;
  }
  llvm::json::OStream json(os, 1);
  json.array([&] {
    for (const Row& row : rows) {
      json.object([&] {
        json.attribute("device", row.name.empty() ? llvm::json::Value(nullptr) : row.name);
        json.attribute("kind", row.kind);
        json.attribute("text", llvm::json::fixUTF8(row.text));
      });
    }
  });
  os << "\n";
}

}  // namespace grapnel
