#include "lib/place/device_set.h"

#include <algorithm>

#include "lib/support/file.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr int kMostDevices = 1 << 16;  // a larger count is a typo
constexpr size_t kMostTypes = 32;      // a set of types is a uint32_t

// TensorFlow's device factories have priorities; preferred devices come first.
int Priority(DeviceWord type) {
  if (type.text() == "GPU") return 210;
  if (type.text() == "CPU") return 60;
  return 50;
}

}  // namespace

Expected<DeviceSet> DeviceSet::Parse(llvm::StringRef text) {
  if (FileExists(text) && !IsDirectory(text)) return FromClusterFile(text);
  return ParseNames(text);
}

Expected<DeviceSet> DeviceSet::ParseNames(llvm::StringRef text) {
  DeviceSet set;
  for (const std::string& item : SplitList(text)) {
    if (HasSuffix(item, ".json"))
      return MakeError("{0}: no such file: expected a cluster file, or names of devices", item);
    RETURN_IF_ERROR(set.AddNames(item));
  }
  if (set.size() == 0)
    return MakeError(
        "no devices given: expected names like /device:CPU:0, counts like "
        "cpu:4,gpu:8, or a cluster file");
  return set;
}

// Adds the devices of one item of the list: a device name, or a type with a count.
Error DeviceSet::AddNames(llvm::StringRef item) {
  DeviceSpec name;
  name.job = DeviceWord::Of("localhost");
  name.replica = name.task = name.id = 0;
  if (!HasPrefix(item, "/")) {
    // "cpu:4": the number is a count.
    auto parsed = item.contains('*') ? DeviceSpec() : DeviceSpec::ParseTyped(item);
    int count = parsed && parsed->id != DeviceSpec::kOpen ? parsed->id : 1;
    if (parsed && count == 0) {
      return MakeError(
          "'{0}' requests 0 devices: expected {1}:1 for one device, or /device:{0} for the "
          "device with that number",
          item, item.split(':').first);
    }
    if (!parsed || !parsed->type || count < 1 || count > kMostDevices) {
      llvm::consumeError(parsed.takeError());
      return MakeError(
          "malformed device '{0}': expected a name like /device:CPU:0, or a type and a count of "
          "{1} at most, like cpu:4",
          item, kMostDevices);
    }
    bool is_tpu = parsed->type.text().equals_insensitive("tpu");
    name.type = is_tpu ? DeviceWord::Of("TPU") : parsed->type;
    for (name.id = 0; name.id < count; ++name.id) RETURN_IF_ERROR(Add(name));
    return Error::success();
  }
  ASSIGN_OR_RETURN(DeviceSpec given, DeviceSpec::Parse(item));
  if (!given.type)
    return MakeError("device '{0}' has no type: expected one like /device:CPU:0", item);
  name.Override(given);
  return Add(name);
}

Error DeviceSet::Add(const DeviceSpec& name, int64_t memory, double flops,
                     double memory_bandwidth) {
  ListedDevice device{name, name.ToString(), memory, flops, memory_bandwidth};
  if (!by_text_.try_emplace(device.text, size()).second)
    return MakeError("device '{0}' is given twice", device.text);
  devices_.push_back(std::move(device));
  if (!llvm::is_contained(types_, name.type)) {
    if (types_.size() == kMostTypes)
      return MakeError("device '{0}': more than {1} types of devices", name.ToString(), kMostTypes);
    types_.push_back(name.type);
    std::stable_sort(types_.begin(), types_.end(), [](DeviceWord a, DeviceWord b) {
      return Priority(a) != Priority(b) ? Priority(a) > Priority(b) : a.text() < b.text();
    });
    type_of_.clear();
    for (const ListedDevice& each : devices_) {
      type_of_.push_back(llvm::find(types_, each.name.type) - types_.begin());
    }
  } else {
    type_of_.push_back(llvm::find(types_, name.type) - types_.begin());
  }
  return Error::success();
}

const DeviceLink* DeviceSet::FindLink(int a, int b) const {
  auto found = link_between_.find({std::min(a, b), std::max(a, b)});
  return found == link_between_.end() ? nullptr : &links_[found->second];
}

std::optional<int> DeviceSet::Find(const DeviceSpec& name) const {
  for (int i = 0; i < size(); ++i) {
    if (name.Matches(devices_[i].name)) return i;
  }
  return std::nullopt;
}

bool DeviceSet::IsPreferred(int a, int b) const {
  int priority_a = Priority(devices_[a].name.type), priority_b = Priority(devices_[b].name.type);
  if (priority_a != priority_b) return priority_a > priority_b;
  auto is_local = [&](int i) {
    const DeviceSpec &name = devices_[i].name, &first = devices_[0].name;
    return name.job == first.job && name.replica == first.replica && name.task == first.task;
  };
  if (is_local(a) != is_local(b)) return is_local(a);
  return devices_[a].text < devices_[b].text;
}

std::string DeviceSet::List() const {
  std::vector<std::string> names;
  for (const ListedDevice& device : devices_) names.push_back(device.text);
  std::sort(names.begin(), names.end());
  return llvm::join(names, ", ");
}

Error DeviceSet::AddLink(const DeviceSpec& a, const DeviceSpec& b, const DeviceLink& link) {
  for (const DeviceSpec& end : {a, b}) {
    if (!Find(end)) return MakeError("'{0}' matches no device of the file", end.ToString());
  }
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < size(); ++i) {
    for (int j = 0; j < size(); ++j) {
      if (i != j && a.Matches(devices_[i].name) && b.Matches(devices_[j].name))
        pairs.emplace_back(std::min(i, j), std::max(i, j));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (auto [i, j] : pairs) {
    if (FindLink(i, j))
      return MakeError("'{0}' and '{1}' have a link already", devices_[i].text, devices_[j].text);
  }
  for (auto [i, j] : pairs) {
    link_between_[{i, j}] = static_cast<int>(links_.size());
    links_.push_back({i, j, link.bytes_per_second, link.latency_seconds});
  }
  return Error::success();
}

}  // namespace grapnel
