// A policy: what a team demands of its models, as a TOML file says it.
#ifndef GRAPNEL_LIB_CHECK_POLICY_POLICY_H_
#define GRAPNEL_LIB_CHECK_POLICY_POLICY_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/device_name.h"
#include "lib/ir/types.h"
#include "lib/support/error.h"
#include "lib/support/glob.h"
#include "lib/support/onednn.h"

namespace grapnel {

// An error makes a check fail, a warning and a note do not.
enum class FindingSeverity : uint8_t { kError, kWarning, kNote };
const char* FindingSeverityName(FindingSeverity severity);  // "error", "warning", "note"

// What a key of a check's table holds.
enum class SettingKind : uint8_t {
  kGlobs,    // patterns of names
  kPaths,    // files and folders, from the policy's folder on
  kDevices,  // "CPU", "/job:worker", "/device:GPU:1"
  kTypes,    // "float64" and "double" are one
  kNumber,   // not negative
  kBytes,    // the same, or "25 MB"
};

struct SettingInfo {
  const char* name;
  SettingKind kind;
  const char* help;
  bool is_required = false;
};

// The table of a check, as a policy may have it.
struct PolicyTable {
  const char* name;
  FindingSeverity severity;  // unless the policy says another
  std::vector<SettingInfo> settings;
};

// A check's table as a policy has it. Of a key that it leaves out there is nothing.
struct PolicyRule {
  std::string check;
  int line = 0;
  FindingSeverity severity = FindingSeverity::kError;
  std::map<std::string, std::vector<Glob>> globs;
  std::map<std::string, std::vector<std::string>> paths;
  std::map<std::string, std::vector<DeviceSpec>> devices;
  std::map<std::string, std::vector<DataType>> types;
  std::map<std::string, double> numbers;

  const std::vector<Glob>* FindGlobs(const std::string& key) const;
  const std::vector<DeviceSpec>* FindDevices(const std::string& key) const;
  const std::vector<DataType>* FindTypes(const std::string& key) const;
  double Number(const std::string& key, double otherwise) const;
};

// Findings of one check that count for nothing until a day.
struct Waiver {
  std::string check;
  Glob node;  // of findings' nodes, else of their scopes; one of the whole model is at ""
  std::string reason;
  std::string until;  // "2027-01-31", the last day
  int line = 0;
};

struct Policy {
  std::string path;
  // Which TensorFlow the passes of a check imitate, the same on every machine.
  OneDnn onednn = OneDnn::kOn;
  std::vector<PolicyRule> rules;  // in the file's order
  std::vector<Waiver> waivers;

  // `tables` are those that there are. Errors name the file and the line: what is no TOML, a table
  // or key that is not there (with the nearest), a value of another kind.
  static Expected<Policy> Parse(llvm::StringRef toml, llvm::StringRef path,
                                llvm::ArrayRef<PolicyTable> tables);
};

// Whether it is a day of the calendar, as "2027-01-31".
bool IsDate(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_POLICY_POLICY_H_
