#include "lib/ir/device_name.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

struct Words {
  std::mutex mutex;
  llvm::StringMap<uint32_t> indices;
  std::vector<llvm::StringRef> texts = {""};
};

Words& AllWords() {
  static auto* words = new Words;
  return *words;
}

constexpr const char* kExpected =
    "expected parts like /job:worker/replica:0/task:0/device:GPU:0, each of them optional";

// Removes a word that starts with a letter from the front of `rest` and returns it; empty if `rest`
// starts otherwise.
llvm::StringRef TakeWord(llvm::StringRef* rest) {
  if (rest->empty() || !llvm::isAlpha(rest->front())) return {};
  llvm::StringRef word = rest->take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  *rest = rest->drop_front(word.size());
  return word;
}

// Removes a number or "*" from the front of `rest`; "*" sets `number` to kOpen. False if `rest`
// starts otherwise.
bool TakeNumber(llvm::StringRef* rest, int32_t* number) {
  *number = DeviceSpec::kOpen;
  if (rest->consume_front("*")) return true;
  llvm::StringRef digits = rest->take_while([](char c) { return llvm::isDigit(c); });
  *rest = rest->drop_front(digits.size());
  return !digits.empty() && !digits.getAsInteger(10, *number);
}

bool TakeWordOrStar(llvm::StringRef* rest, DeviceWord* word) {
  *word = DeviceWord();
  if (rest->consume_front("*")) return true;
  llvm::StringRef text = TakeWord(rest);
  if (text.empty()) return false;
  *word = DeviceWord::Of(text);
  return true;
}

// Returns the device type `text`, with "cpu" and "gpu" in capitals.
DeviceWord TypeOf(llvm::StringRef text) {
  if (text.equals_insensitive("cpu") || text.equals_insensitive("gpu"))
    return DeviceWord::Of(text.upper());
  return DeviceWord::Of(text);
}

bool TakePart(llvm::StringRef* rest, DeviceSpec* name) {
  if (rest->consume_front("/job:")) return TakeWordOrStar(rest, &name->job);
  if (rest->consume_front("/replica:")) return TakeNumber(rest, &name->replica);
  if (rest->consume_front("/task:")) return TakeNumber(rest, &name->task);
  if (rest->consume_front("/device:")) {
    if (!TakeWordOrStar(rest, &name->type)) return false;
    if (name->type) name->type = TypeOf(name->type.text());
    name->id = DeviceSpec::kOpen;
    return !rest->consume_front(":") || TakeNumber(rest, &name->id);
  }
  for (const char* type : {"/cpu:", "/gpu:"}) {
    if (!rest->take_front(5).equals_insensitive(type)) continue;
    *rest = rest->drop_front(5);
    name->type = TypeOf(llvm::StringRef(type).substr(1, 3));
    return TakeNumber(rest, &name->id);
  }
  return false;
}

// Parses a device name; nullopt if it is not one for TensorFlow.
std::optional<DeviceSpec> Read(llvm::StringRef text) {
  DeviceSpec name;
  llvm::StringRef rest = text == "/" ? "" : text;
  while (!rest.empty()) {
    if (!TakePart(&rest, &name)) return std::nullopt;
  }
  return name;
}

Error Conflict(const char* what, const DeviceSpec& a, const DeviceSpec& b) {
  return MakeError("Cannot merge devices with incompatible {0}: '{1}' and '{2}'", what,
                   a.ToString(), b.ToString());
}

Error MalformedTyped(llvm::StringRef text) {
  return MakeError(
      "malformed device name '{0}': expected a type like GPU, GPU:1, or parts like {1}", text,
      kLocalCpu);
}

}  // namespace

DeviceWord DeviceWord::Of(llvm::StringRef text) {
  Words& words = AllWords();
  std::lock_guard lock(words.mutex);
  auto [entry, is_new] = words.indices.try_emplace(text, words.texts.size());
  if (is_new) words.texts.push_back(entry->first());
  DeviceWord word;
  word.index_ = entry->second;
  return word;
}

llvm::StringRef DeviceWord::text() const {
  Words& words = AllWords();
  std::lock_guard lock(words.mutex);
  return words.texts[index_];
}

Expected<DeviceSpec> DeviceSpec::Parse(llvm::StringRef text) {
  if (std::optional<DeviceSpec> name = Read(text)) return *name;
  return MakeError("malformed device name '{0}': {1}", text, kExpected);
}

Expected<DeviceSpec> DeviceSpec::ParseTyped(llvm::StringRef text) {
  if (text.empty() || text.contains('/')) return Parse(text);
  auto spec = Parse(("/device:" + text).str());
  if (spec) return spec;
  llvm::consumeError(spec.takeError());
  return MalformedTyped(text);
}

Expected<DeviceSpec> DeviceSpec::OfJob(llvm::StringRef job) {
  ASSIGN_OR_RETURN(DeviceSpec spec, Parse(("/job:" + job).str()));
  if (spec.job.text() != job)
    return MakeError("malformed name of a job '{0}': letters, digits and _ were expected", job);
  return spec;
}

std::string DeviceSpec::TaskToString() const {
  std::string text;
  if (job) text += ("/job:" + job.text()).str();
  if (replica >= 0) text += "/replica:" + std::to_string(replica);
  if (task >= 0) text += "/task:" + std::to_string(task);
  return text;
}

std::string DeviceSpec::ToString() const {
  std::string text = TaskToString();
  if (type) text += ("/device:" + type.text() + ":").str() + (id >= 0 ? std::to_string(id) : "*");
  return text;
}

bool DeviceSpec::IsCompatibleWith(const DeviceSpec& other) const {
  auto differ = [](int32_t a, int32_t b) { return a >= 0 && b >= 0 && a != b; };
  if (job && other.job && job != other.job) return false;
  if (type && other.type && type != other.type) return false;
  return !differ(replica, other.replica) && !differ(task, other.task) && !differ(id, other.id);
}

bool DeviceSpec::Matches(const DeviceSpec& device) const {
  return (!job || job == device.job) && (replica < 0 || replica == device.replica) &&
         (task < 0 || task == device.task) && (!type || type == device.type) &&
         (id < 0 || id == device.id);
}

Error DeviceSpec::Merge(const DeviceSpec& other, bool soft) {
  auto differ = [](int32_t a, int32_t b) { return a >= 0 && b >= 0 && a != b; };
  // The result of the merge so far. TensorFlow's error messages contain it, so Conflict gets it.
  DeviceSpec merged = *this;
  if (job && other.job && job != other.job) return Conflict("jobs", merged, other);
  if (other.job) merged.job = other.job;
  if (differ(replica, other.replica)) return Conflict("replicas", merged, other);
  if (other.replica >= 0) merged.replica = other.replica;
  if (differ(task, other.task)) return Conflict("tasks", merged, other);
  if (other.task >= 0) merged.task = other.task;
  bool types_differ = type && other.type && type != other.type;
  if (types_differ && !soft) return Conflict("types", merged, other);
  if (other.type) merged.type = types_differ ? DeviceWord() : other.type;
  bool ids_differ = differ(id, other.id);
  if (ids_differ && !soft) return Conflict("ids", merged, other);
  if (other.id >= 0) merged.id = other.id;
  if (types_differ || ids_differ) merged.id = kOpen;
  *this = merged;
  return Error::success();
}

void DeviceSpec::Override(const DeviceSpec& other) {
  if (other.job) job = other.job;
  if (other.replica >= 0) replica = other.replica;
  if (other.task >= 0) task = other.task;
  if (other.type) type = other.type;
  if (other.id >= 0) id = other.id;
}

std::string LocalDeviceName(llvm::StringRef type, int id) {
  return ("/device:" + type + ":" + llvm::Twine(id)).str();
}

Expected<std::string> DeviceNameFromTyped(llvm::StringRef text) {
  ASSIGN_OR_RETURN(DeviceSpec spec, DeviceSpec::ParseTyped(text));
  if (text.empty() || text.contains('/')) return text.str();
  if (!spec.type) return MalformedTyped(text);
  return LocalDeviceName(spec.type.text(), std::max(spec.id, 0));
}

bool IsOn(llvm::StringRef device, llvm::StringRef type) {
  std::optional<DeviceSpec> spec = Read(device);
  return spec && spec->type && spec->id >= 0 && spec->type.text() == type;
}

llvm::StringRef DeviceTypeOf(llvm::StringRef device) {
  std::optional<DeviceSpec> spec = Read(device);
  return spec ? spec->type.text() : llvm::StringRef();
}

std::optional<std::string> TaskOf(llvm::StringRef device) {
  std::optional<DeviceSpec> spec = Read(device);
  if (!spec || !spec->type || spec->id < 0) return std::nullopt;
  return spec->TaskToString();
}

std::string CanonicalDevice(llvm::StringRef device) {
  std::optional<DeviceSpec> spec = Read(device);
  return spec ? spec->ToString() : device.str();
}

std::string QuotedDevice(llvm::StringRef device) {
  return device.empty() ? "no device" : ("'" + device + "'").str();
}

std::string ShortDevice(llvm::StringRef device) {
  llvm::StringRef rest = device;
  rest.consume_front("/job:localhost");
  rest.consume_front("/replica:0");
  rest.consume_front("/task:0");
  if (rest.consume_front("/device:") && rest.find('/') == llvm::StringRef::npos)
    return rest.lower();
  return device.str();
}

bool DevicePartMentions(llvm::StringRef device, llvm::StringRef type) {
  return device.rsplit('/').second.contains_insensitive(type);
}

bool MentionsGpu(llvm::StringRef device) { return device.contains_insensitive("gpu"); }

bool MentionsCpu(llvm::StringRef device) { return device.contains("CPU"); }

std::string HostOfGpu(llvm::StringRef device) {
  size_t at = device.rfind("GPU");
  return at == llvm::StringRef::npos ? "" : device.substr(0, at).str() + "CPU:0";
}

std::string DeviceOfDumpFolder(llvm::StringRef folder) {
  std::string name;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  folder.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    auto [key, value] = part.rsplit('_');
    llvm::StringRef type = key;
    name += type.consume_front("device_") ? ("/device:" + type + ":" + value).str()
                                          : ("/" + key + ":" + value).str();
  }
  return name;
}

}  // namespace grapnel
