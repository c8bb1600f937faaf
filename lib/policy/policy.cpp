#include "lib/policy/policy.h"

#include <chrono>

#include "lib/job/shape_overrides.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#define TOML_EXCEPTIONS 0

// toml++ 3.3 asserts (in a release build, assumes) properties that invalid input may not have: that
// a table's name starts correctly, that non-ASCII letters are only in strings. Without the
// assertions, it reports the error.
#include <toml++/impl/forward_declarations.h>
#undef TOML_ASSERT
#define TOML_ASSERT(expr) static_assert(true)
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#pragma push_macro("TOML_UNREACHABLE")
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#pragma pop_macro("TOML_UNREACHABLE")
// The full library, with the macros defined above.
#include <toml++/toml.h>

namespace grapnel {
namespace {

constexpr const char* kSeverity = "severity";
constexpr const char* kOneDnn = "onednn";

template <typename T>
const T* FindIn(const std::map<std::string, T>& map, const std::string& key) {
  auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

std::optional<FindingSeverity> SeverityOf(llvm::StringRef name) {
  for (auto severity : {FindingSeverity::kError, FindingSeverity::kWarning, FindingSeverity::kNote})
    if (name == FindingSeverityName(severity)) return severity;
  return std::nullopt;
}

// Parses the name of a dtype: TensorFlow's or NumPy's.
std::optional<DataType> TypeOf(llvm::StringRef name) {
  if (name == "float64") return proto::DT_DOUBLE;
  if (name == "float32") return proto::DT_FLOAT;
  if (name == "float16") return proto::DT_HALF;
  return ParseDataType(name);
}

std::vector<std::string> DtypeNames() {
  std::vector<std::string> names = {"float64", "float32", "float16"};
  for (int type = proto::DataType_MIN; type <= proto::DataType_MAX; ++type) {
    llvm::StringRef name = DataTypeName(static_cast<DataType>(type));
    if (ParseDataType(name)) names.push_back(name.str());
  }
  return names;
}

// Parses a number of bytes: "25 MB", "1.5GiB", "300".
std::optional<double> BytesOfText(llvm::StringRef text) {
  static constexpr std::pair<const char*, double> kUnits[] = {
      {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}, {"kB", 1e3}, {"KB", 1e3},
      {"MB", 1e6},    {"GB", 1e9},       {"TB", 1e12},         {"B", 1}};
  double factor = 1, number = 0;
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.consume_back(unit)) continue;
    factor = bytes;
    break;
  }
  if (text.trim().getAsDouble(number) || number < 0) return std::nullopt;
  return number * factor;
}

// Returns the strings of a list of strings, or a single string; nullopt for other values.
std::optional<std::vector<std::string>> WordsOf(const toml::node& value) {
  if (auto text = value.value<std::string>()) return std::vector<std::string>{*text};
  const toml::array* list = value.as_array();
  if (!list) return std::nullopt;
  std::vector<std::string> words;
  for (const toml::node& element : *list) {
    auto word = element.value<std::string>();
    if (!word) return std::nullopt;
    words.push_back(*word);
  }
  return words;
}

std::optional<double> NumberOf(const toml::node& value, SettingKind kind) {
  // Do not use value<double>(): it fails for integers that a double cannot represent exactly.
  if (const auto* integer = value.as_integer()) {
    return integer->get() >= 0 ? std::optional(static_cast<double>(integer->get())) : std::nullopt;
  }
  if (const auto* real = value.as_floating_point()) {
    return real->get() >= 0 ? std::optional(real->get()) : std::nullopt;
  }
  auto text = value.value<std::string>();
  bool may_have_unit = kind == SettingKind::kBytes || kind == SettingKind::kByteBudget;
  return text && may_have_unit ? BytesOfText(*text) : std::nullopt;
}

// Parses growth: 0.05 for "+5%".
std::optional<double> GrowthOf(const toml::node& value) {
  std::string held = value.value_or(std::string());
  llvm::StringRef text = held;
  double percent = 0;
  if (!text.consume_front("+") || !text.consume_back("%")) return std::nullopt;
  if (text.trim().getAsDouble(percent) || !(percent >= 0)) return std::nullopt;
  return percent / 100;
}

bool IsBudget(SettingKind kind) {
  return kind == SettingKind::kBudget || kind == SettingKind::kByteBudget;
}

const char* Wanted(SettingKind kind) {
  switch (kind) {
    case SettingKind::kGlobs:
      return "a list of names or patterns";
    case SettingKind::kPaths:
      return "a list of files or folders";
    case SettingKind::kDevices:
      return "a list of devices, such as \"CPU\"";
    case SettingKind::kDevice:
      return "a device, such as \"GPU:0\"";
    case SettingKind::kTypes:
      return "a list of dtypes, such as \"float64\"";
    case SettingKind::kNumber:
      return "a number, not negative";
    case SettingKind::kBytes:
      return "bytes: a number, or a string such as \"25 MB\"";
    case SettingKind::kBudget:
      return "a number, not negative, or growth from BASE such as \"+5%\"";
    case SettingKind::kByteBudget:
      return "bytes: a number, or a string such as \"25 MB\", or growth from BASE such as \"+5%\"";
    case SettingKind::kSeverity:
      return "\"error\", \"warning\" or \"note\"";
    case SettingKind::kInterface:
      return "a table of inputs and outputs";
  }
  return "";
}

// Parses the type of a signature's input or output: "float[?,3]"; "float?" has any rank, "?" any
// type.
Expected<SignatureTensor> ParseTensor(std::string key, llvm::StringRef text) {
  SignatureTensor tensor;
  tensor.key = std::move(key);
  if (text == "?") return tensor;
  bool has_rank = text.contains('[');
  auto [type, sizes] = text.split('[');
  if (has_rank ? !sizes.consume_back("]") : !type.consume_back("?"))
    return MakeError("expected a dtype and sizes, such as \"float[?,3]\"");
  auto dtype = TypeOf(type.trim());
  if (!dtype) return NotFound("dtype", type.trim(), DtypeNames());
  tensor.dtype = *dtype;
  if (has_rank) {
    ASSIGN_OR_RETURN(tensor.shape, ParseSizes(sizes));
  }
  return tensor;
}

// Reads the value of one key into a rule.
class SettingReader {
 public:
  SettingReader(llvm::StringRef folder, const SettingInfo& info, PolicyRule* rule)
      : folder_(folder), info_(info), rule_(*rule) {}

  Error Read(const toml::node& value) {
    if (IsBudget(info_.kind)) {
      if (auto growth = GrowthOf(value)) {
        rule_.growths[info_.name] = *growth;
        return Error::success();
      }
    }
    if (info_.kind == SettingKind::kNumber || info_.kind == SettingKind::kBytes ||
        IsBudget(info_.kind)) {
      auto number = NumberOf(value, info_.kind);
      if (!number) return WrongKind();
      rule_.numbers[info_.name] = *number;
      return Error::success();
    }
    if (info_.kind == SettingKind::kSeverity) {
      auto severity = SeverityOf(value.value_or(std::string()));
      if (!severity) return WrongKind();
      rule_.severities[info_.name] = *severity;
      return Error::success();
    }
    auto words = WordsOf(value);
    if (!words) return WrongKind();
    return Take(*words);
  }

 private:
  Error WrongKind() const {
    return MakeError("'{0}': expected {1}", info_.name, Wanted(info_.kind));
  }

  Error Take(const std::vector<std::string>& words) {
    if (info_.kind == SettingKind::kGlobs) {
      ASSIGN_OR_RETURN(rule_.globs[info_.name], Glob::ParseAll(words));
      return Error::success();
    }
    if (info_.kind == SettingKind::kPaths) {
      auto& paths = rule_.paths[info_.name];
      for (const std::string& word : words) {
        bool is_whole = llvm::sys::path::is_absolute(word) || folder_.empty();
        paths.push_back(is_whole ? word : JoinPath(folder_, word));
      }
      return Error::success();
    }
    for (const std::string& word : words)
      RETURN_IF_ERROR(info_.kind == SettingKind::kTypes ? TakeType(word) : TakeDevice(word));
    return Error::success();
  }

  Error TakeType(const std::string& word) {
    auto type = TypeOf(word);
    if (!type)
      return Annotate(std::string("'") + info_.name + "'", NotFound("dtype", word, DtypeNames()));
    rule_.types[info_.name].push_back(*type);
    return Error::success();
  }

  Error TakeDevice(const std::string& word) {
    auto device = DeviceSpec::ParseTyped(word);
    if (!device) return Annotate(info_.name, device.takeError());
    rule_.devices[info_.name].push_back(*device);
    return Error::success();
  }

  llvm::StringRef folder_;
  const SettingInfo& info_;
  PolicyRule& rule_;
};

class PolicyReader {
 public:
  PolicyReader(llvm::StringRef path, llvm::ArrayRef<PolicyTable> tables)
      : folder_(llvm::sys::path::parent_path(path)), tables_(tables) {
    policy_.path = path.str();
  }

  Expected<Policy> Read(llvm::StringRef bytes) {
    toml::parse_result parsed = toml::parse(std::string_view(bytes.data(), bytes.size()));
    if (!parsed) {
      const toml::parse_error& error = parsed.error();
      NoteError(error.source(), MakeError("not valid TOML: {0}", std::string(error.description())));
      return AllErrors();
    }
    // Since toml++ iterates in the order of names, errors and rules are sorted by line below.
    for (auto&& [key, node] : parsed.table())
      NoteError(key.source(), key.str() == "waiver"  ? ReadWaivers(node)
                              : key.str() == kOneDnn ? ReadOneDnn(node)
                                                     : ReadRule(key.source(), key.str(), node));
    if (!errors_.empty()) return AllErrors();
    // An empty policy would accept every model. A file may be empty because `--init > policy.toml`
    // could not read the model.
    if (policy_.rules.empty())
      return MakeError(
          "{0}: the policy has no check: add a table, such as [unused_inputs] (`grapnel check "
          "--list` shows them, `grapnel check MODEL --init` prints a policy)",
          policy_.path);
    auto by_line = [](const auto& a, const auto& b) { return a.line < b.line; };
    llvm::stable_sort(policy_.rules, by_line);
    return std::move(policy_);
  }

 private:
  // Adds an error, "policy.toml:7: ...", to the list: all errors are reported at once.
  void NoteError(const toml::source_region& source, Error error) {
    if (!error) return;
    uint32_t line = source.begin.line;
    errors_.emplace_back(
        line, TextOf(Annotate(policy_.path + ":" + std::to_string(line), std::move(error))));
  }

  Error AllErrors() {
    llvm::stable_sort(errors_, llvm::less_first());
    return MakeError("{0}", llvm::join(llvm::make_second_range(errors_), "\n"));
  }

  Expected<const PolicyTable*> TableOf(llvm::StringRef name) const {
    std::vector<std::string> names = {"waiver", kOneDnn};
    for (const PolicyTable& table : tables_) {
      if (name == table.name) return &table;
      names.push_back(table.name);
    }
    return NotFound("check", name, names);
  }

  Error ReadRule(const toml::source_region& source, std::string_view name, const toml::node& node) {
    auto table = TableOf(llvm::StringRef(name.data(), name.size()));
    if (!table) return table.takeError();
    const toml::table* settings = node.as_table();
    if (!settings)
      return MakeError("'{0}' is a check: a table was expected, [{0}]", (*table)->name);
    PolicyRule rule;
    rule.check = (*table)->name;
    rule.line = static_cast<int>(source.begin.line);
    rule.severity = (*table)->severity;
    size_t before = errors_.size();
    for (auto&& [key, value] : *settings)
      NoteError(key.source(), ReadSetting(**table, key.str(), value, &rule));
    bool may_be_misspelt = errors_.size() > before;
    for (const SettingInfo& info : (*table)->settings) {
      if (info.is_required && !settings->contains(info.name) && !may_be_misspelt)
        return MakeError("[{0}] needs the key '{1}' ({2})", rule.check, info.name, info.help);
    }
    // Without any of these, every model would pass.
    std::vector<std::string> demands;
    for (const SettingInfo& info : (*table)->settings)
      if (llvm::is_contained({"allowed", "forbidden", "new"}, llvm::StringRef(info.name)))
        demands.push_back(std::string("'") + info.name + "'");
    bool has_demand = llvm::any_of(demands, [&](llvm::StringRef key) {
      return settings->contains(key.drop_front().drop_back().str());
    });
    if (demands.size() > 1 && !has_demand && !may_be_misspelt)
      return MakeError("[{0}] needs {1}", rule.check, llvm::join(demands, " or "));
    bool needs_pattern = (*table)->other && (*table)->other->kind == SettingKind::kDevice;
    if (needs_pattern && rule.placed.empty() && !may_be_misspelt)
      return MakeError(
          "[{0}] needs a pattern of nodes and their device, such as \"head/*\" = "
          "\"GPU:0\"",
          rule.check);
    llvm::stable_sort(rule.placed, [](const auto& a, const auto& b) { return a.line < b.line; });
    policy_.rules.push_back(std::move(rule));
    return Error::success();
  }

  Error ReadSetting(const PolicyTable& table, std::string_view key, const toml::node& value,
                    PolicyRule* rule) {
    // A signature may have the name of a setting, but only a signature is a table.
    const toml::table* inner = value.as_table();
    if (inner && table.other && table.other->kind == SettingKind::kInterface)
      return ReadInterface(std::string(key), *inner, rule);
    std::vector<std::string> names = {kSeverity};
    for (const SettingInfo& info : table.settings) {
      if (key == info.name) return SettingReader(folder_, info, rule).Read(value);
      names.push_back(info.name);
    }
    std::string where = std::string(" in [") + table.name + "]";
    bool is_pattern = table.other && table.other->kind == SettingKind::kDevice;
    if (key != kSeverity && is_pattern && !value.is_array())
      return ReadPlacedNodes(std::string(key), value, rule);
    if (key != kSeverity)
      return NotFound("key", llvm::StringRef(key.data(), key.size()), names, where);
    auto severity = SeverityOf(value.value_or(std::string()));
    if (!severity) return MakeError("'severity' must be \"error\", \"warning\" or \"note\"");
    rule->severity = *severity;
    return Error::success();
  }

  // Reads "head/*" = "GPU:0".
  static Error ReadPlacedNodes(const std::string& pattern, const toml::node& value,
                               PolicyRule* rule) {
    auto nodes = Glob::Parse(pattern);
    if (!nodes) return nodes.takeError();
    auto text = value.value<std::string>();
    if (!text) return MakeError("'{0}': expected {1}", pattern, Wanted(SettingKind::kDevice));
    auto device = DeviceSpec::ParseTyped(*text);
    if (!device) return Annotate("'" + pattern + "'", device.takeError());
    rule->placed.push_back(
        {std::move(*nodes), *device, static_cast<int>(value.source().begin.line)});
    return Error::success();
  }

  Error ReadInterface(std::string name, const toml::table& table, PolicyRule* rule) {
    static const std::vector<std::string> kKeys = {"inputs", "outputs", "method"};
    Signature signature;
    signature.name = std::move(name);
    for (auto&& [key, value] : table) {
      llvm::StringRef word(key.data(), key.length());
      if (word == "method" && value.is_string()) {
        signature.method = value.value_or(std::string());
      } else if (word == "method") {
        NoteError(key.source(), MakeError("'method': expected a string"));
      } else if (llvm::is_contained(kKeys, word)) {
        ReadTensors(word, value, word == "inputs" ? &signature.inputs : &signature.outputs);
      } else {
        NoteError(key.source(), NotFound("key", word, kKeys, " in a signature"));
      }
    }
    rule->signatures.push_back(std::move(signature));
    return Error::success();
  }

  void ReadTensors(llvm::StringRef what, const toml::node& value,
                   std::vector<SignatureTensor>* tensors) {
    const toml::table* table = value.as_table();
    if (!table)
      return NoteError(value.source(),
                       MakeError("'{0}': expected the type of each key, as in {0}.x = "
                                 "\"float[?,3]\"",
                                 what));
    for (auto&& [key, type] : *table) {
      auto tensor = ParseTensor(std::string(key.str()), type.value_or(std::string()));
      if (tensor) {
        tensors->push_back(std::move(*tensor));
      } else {
        std::string place = Sentence("'{0}.{1}'", what, llvm::StringRef(key.data(), key.length()));
        NoteError(key.source(), Annotate(place, tensor.takeError()));
      }
    }
  }

  // Rejects "auto", since a check must give the same result on every machine.
  Error ReadOneDnn(const toml::node& node) {
    auto choice = ParseOneDnn(node.value_or(std::string()));
    if (!choice || *choice == OneDnn::kAuto)
      return MakeError(
          "'onednn' must be \"on\" or \"off\": whether the TensorFlow that runs the model uses "
          "oneDNN");
    policy_.onednn = *choice;
    return Error::success();
  }

  Error ReadWaivers(const toml::node& node) {
    const toml::array* list = node.as_array();
    if (!list || !list->is_array_of_tables())
      return MakeError("'waiver' must be a list of tables, each [[waiver]]");
    for (const toml::node& one : *list) NoteError(one.source(), ReadWaiver(*one.as_table()));
    return Error::success();
  }

  Error ReadWaiver(const toml::table& table) {
    static const std::vector<std::string> kKeys = {"check", "node", "reason", "until"};
    size_t before = errors_.size();
    for (auto&& [key, value] : table) {
      if (llvm::is_contained(kKeys, key.str())) continue;
      llvm::StringRef name(key.data(), key.length());
      NoteError(key.source(), NotFound("key", name, kKeys, " in [[waiver]]"));
    }
    if (errors_.size() > before) return Error::success();
    auto text = [&](const char* key) { return table[key].value_or(std::string()); };
    for (const char* key : {"check", "node", "reason"})
      if (!table[key].is_string()) return MakeError("[[waiver]] needs '{0}', a string", key);
    if (auto known = TableOf(text("check")); !known) return known.takeError();
    if (text("reason").empty())
      return MakeError("'reason' is empty: explain why this is acceptable");
    auto node = Glob::Parse(text("node"));
    if (!node) return Annotate("node", node.takeError());
    std::string until = DateOf(table["until"].node());
    if (until.empty()) return MakeError("[[waiver]] needs 'until', a day such as 2027-01-31");
    policy_.waivers.push_back({text("check"), std::move(*node), text("reason"), until,
                               static_cast<int>(table.source().begin.line)});
    return Error::success();
  }

  // Returns a date as text, from a TOML date or a string; empty for any other value.
  static std::string DateOf(const toml::node* value) {
    if (!value) return "";
    if (auto date = value->value<toml::date>())
      return llvm::formatv("{0,0+4}-{1,0+2}-{2,0+2}", int{date->year}, int{date->month},
                           int{date->day});
    std::string text = value->value_or(std::string());
    return IsDate(text) ? text : "";
  }

  std::string folder_;
  llvm::ArrayRef<PolicyTable> tables_;
  Policy policy_;
  std::vector<std::pair<uint32_t, std::string>> errors_;  // with line numbers
};

}  // namespace

const char* FindingSeverityName(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::kError:
      return "error";
    case FindingSeverity::kWarning:
      return "warning";
    case FindingSeverity::kNote:
      return "note";
  }
  return "";
}

bool IsDate(llvm::StringRef text) {
  int year = 0, month = 0, day = 0;
  auto [first, rest] = text.split('-');
  auto [second, third] = rest.split('-');
  if (first.size() != 4 || second.size() != 2 || third.size() != 2) return false;
  if (first.getAsInteger(10, year) || second.getAsInteger(10, month) || third.getAsInteger(10, day))
    return false;
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month),
                                     std::chrono::day(day))
      .ok();
}

const std::vector<Glob>* PolicyRule::FindGlobs(const std::string& key) const {
  return FindIn(globs, key);
}
const std::vector<DeviceSpec>* PolicyRule::FindDevices(const std::string& key) const {
  return FindIn(devices, key);
}
const std::vector<DataType>* PolicyRule::FindTypes(const std::string& key) const {
  return FindIn(types, key);
}
double PolicyRule::Number(const std::string& key, double otherwise) const {
  const double* number = FindIn(numbers, key);
  return number ? *number : otherwise;
}

const double* PolicyRule::FindGrowth(const std::string& key) const { return FindIn(growths, key); }
const FindingSeverity* PolicyRule::FindSeverity(const std::string& key) const {
  return FindIn(severities, key);
}

Expected<Policy> Policy::Parse(llvm::StringRef toml, llvm::StringRef path,
                               llvm::ArrayRef<PolicyTable> tables) {
  return PolicyReader(path, tables).Read(toml);
}

}  // namespace grapnel
