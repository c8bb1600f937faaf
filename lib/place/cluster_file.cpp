// Reads a cluster from JSON: DeviceSet::FromClusterFile.
#include <cmath>

#include "lib/place/device_set.h"
#include "lib/support/file.h"
#include "lib/support/json.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// Reads a size of memory: a number of bytes, or a text such as "16 GB" or "512MB".
Expected<int64_t> MemoryOf(const llvm::json::Value& value) {
  if (auto bytes = value.getAsInteger(); bytes && *bytes >= 0) return *bytes;
  if (auto text = value.getAsString()) {
    llvm::StringRef rest = text->trim();
    double number = 0;
    llvm::StringRef digits =
        rest.take_while([](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    llvm::StringRef unit = rest.drop_front(digits.size()).trim();
    static constexpr std::pair<const char*, double> kUnits[] = {
        {"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
    for (auto [name, factor] : kUnits) {
      if (unit.equals_insensitive(name) && !digits.getAsDouble(number) && number * factor < 1e18)
        return static_cast<int64_t>(std::llround(number * factor));
    }
  }
  return MakeError("'memory': expected bytes as a number, or a text like \"16 GB\"");
}

}  // namespace

// Reads the file's parts in order; `where_` describes the current part, for errors.
class ClusterReader {
 public:
  Expected<DeviceSet> Read(llvm::StringRef text) {
    auto json = ParseJson(text);
    if (!json) return MakeError("is not JSON: {0}", TextOf(json.takeError()));
    const llvm::json::Object* root = json->getAsObject();
    const llvm::json::Array* jobs = root ? root->getArray("jobs") : nullptr;
    if (!jobs) return MakeError("expected an object with a list \"jobs\"");
    for (size_t i = 0; i < jobs->size(); ++i) {
      where_ = llvm::formatv("jobs[{0}]", i).str();
      if (Error error = ReadJob((*jobs)[i])) return Annotate(where_, std::move(error));
    }
    if (set_.size() == 0) return MakeError("has no devices");
    if (const llvm::json::Value* links = root->get("links")) {
      if (!links->getAsArray()) return MakeError("'links': expected a list");
      for (size_t i = 0; i < links->getAsArray()->size(); ++i) {
        where_ = llvm::formatv("links[{0}]", i).str();
        if (Error error = ReadLink((*links->getAsArray())[i]))
          return Annotate(where_, std::move(error));
      }
    }
    return std::move(set_);
  }

 private:
  static Expected<int64_t> Count(const llvm::json::Object& object, llvm::StringRef key,
                                 int64_t least) {
    const llvm::json::Value* value = object.get(key);
    if (!value) return 1;
    auto number = value->getAsInteger();
    if (!number || *number < least || *number > (1 << 16))
      return MakeError("'{0}': expected a whole number from {1} to 65536", key, least);
    return *number;
  }

  // Reads a speed; 0 if the file does not give one.
  static Expected<double> Speed(const llvm::json::Object& object, llvm::StringRef key) {
    const llvm::json::Value* value = object.get(key);
    if (!value) return 0.0;
    auto number = value->getAsNumber();
    if (!number || !(*number > 0)) return MakeError("'{0}': expected a number above 0", key);
    return *number;
  }

  Error ReadJob(const llvm::json::Value& value) {
    const llvm::json::Object* job = value.getAsObject();
    auto name = job ? job->getString("name") : std::nullopt;
    const llvm::json::Array* devices = job ? job->getArray("devices") : nullptr;
    if (!name || !devices)
      return MakeError("expected an object with a string \"name\" and a list \"devices\"");
    where_ += (" ('" + *name + "')").str();
    if (!names_.insert(*name).second) return MakeError("a job of this name exists already");
    ASSIGN_OR_RETURN(DeviceSpec prefix, DeviceSpec::OfJob(*name));
    prefix.replica = 0;
    ASSIGN_OR_RETURN(int64_t tasks, Count(*job, "tasks", 1));
    for (prefix.task = 0; prefix.task < tasks; ++prefix.task) {
      for (const llvm::json::Value& each : *devices) {
        const llvm::json::Object* kind = each.getAsObject();
        auto type = kind ? kind->getString("type") : std::nullopt;
        if (!type)
          return MakeError("'devices': expected objects like {{\"type\": \"GPU\", \"count\": 4}");
        ASSIGN_OR_RETURN(DeviceSpec typed, DeviceSpec::ParseTyped(*type));
        if (!typed.type) return MakeError("'{0}' is not a device type, such as GPU", *type);
        ASSIGN_OR_RETURN(int64_t count, Count(*kind, "count", 1));
        int64_t memory = 0;
        if (const llvm::json::Value* given = kind->get("memory")) {
          ASSIGN_OR_RETURN(memory, MemoryOf(*given));
        }
        ASSIGN_OR_RETURN(double teraflops, Speed(*kind, "teraflops"));
        ASSIGN_OR_RETURN(double gigabytes, Speed(*kind, "memory_gigabytes_per_second"));
        DeviceSpec device = prefix;
        device.type = typed.type;
        for (device.id = 0; device.id < count; ++device.id)
          RETURN_IF_ERROR(set_.Add(device, memory, teraflops * 1e12, gigabytes * 1e9));
      }
    }
    return Error::success();
  }

  Error ReadLink(const llvm::json::Value& value) {
    const llvm::json::Object* link = value.getAsObject();
    const llvm::json::Array* ends = link ? link->getArray("between") : nullptr;
    auto speed = link ? link->getNumber("gigabytes_per_second") : std::nullopt;
    if (!ends || ends->size() != 2 || !(*ends)[0].getAsString() || !(*ends)[1].getAsString() ||
        !speed || !(*speed > 0)) {
      return MakeError(
          "expected an object with \"between\" (two names) and "
          "\"gigabytes_per_second\" (more than 0)");
    }
    auto latency = link->getNumber("microseconds");
    ASSIGN_OR_RETURN(DeviceSpec a, DeviceSpec::Parse(*(*ends)[0].getAsString()));
    ASSIGN_OR_RETURN(DeviceSpec b, DeviceSpec::Parse(*(*ends)[1].getAsString()));
    return set_.AddLink(a, b, {0, 0, *speed * 1e9, latency.value_or(0) * 1e-6});
  }

  DeviceSet set_;
  std::string where_;
  llvm::StringSet<> names_;
};

Expected<DeviceSet> DeviceSet::FromClusterFile(llvm::StringRef path) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  auto set = ClusterReader().Read(file->bytes());
  if (!set) return Annotate(path, set.takeError());
  return set;
}

}  // namespace grapnel
