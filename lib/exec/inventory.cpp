#include "lib/exec/inventory.h"

#include "lib/exec/device.h"
#include "lib/exec/kernel.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

struct DeviceRow {
  std::string name, kind, text;
};

std::vector<DeviceRow> DeviceRows() {
  std::vector<DeviceRow> rows;
  for (const std::string& kind : Devices::Get().Kinds()) {
    auto devices = Devices::Get().OfKind(kind);
    if (!devices) {
      rows.push_back({"", kind, TextOf(devices.takeError())});
      continue;
    }
    for (Device* device : *devices) rows.push_back({device->name(), kind, device->Describe()});
  }
  return rows;
}

// Returns the kernel's first dtype attribute with the dtypes that the kernel supports; null if it
// supports any dtype.
const OfTypes* FirstTypes(const KernelDef& def) {
  return def.types.empty() ? nullptr : &def.types[0];
}

}  // namespace

void WriteKernelsText(llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows;
  for (const KernelDef& def : KernelRegistry::Get().All())
    rows.push_back({def.op, def.device, FirstTypes(def) ? TypesText(def, "=") : "any"});
  os << Table(rows, "");
}

void WriteKernelsJson(llvm::json::OStream& json) {
  json.attributeArray("kernels", [&] {
    for (const KernelDef& def : KernelRegistry::Get().All()) {
      const OfTypes* first = FirstTypes(def);
      json.object([&] {
        json.attribute("op", def.op);
        json.attribute("device", def.device);
        json.attribute("type_attr", first ? first->attr : "");
        json.attributeArray("types", [&] {
          if (!first) return;
          for (DataType type : first->types) json.value(DataTypeName(type));
        });
      });
    }
  });
}

void WriteDevicesText(llvm::raw_ostream& os) {
  for (const DeviceRow& row : DeviceRows())
    os << row.name << (row.name.empty() || row.text.empty() ? "" : "  ") << row.text << "\n";
}

void WriteDevicesJson(llvm::json::OStream& json) {
  json.attributeArray("devices", [&] {
    for (const DeviceRow& row : DeviceRows()) {
      json.object([&] {
        json.attribute("device", row.name.empty() ? llvm::json::Value(nullptr) : row.name);
        json.attribute("kind", row.kind);
        json.attribute("text", llvm::json::fixUTF8(row.text));
      });
    }
  });
}

}  // namespace grapnel
