// A policy: a team's requirements for its models, written as a TOML file.
#ifndef GRAPNEL_LIB_POLICY_POLICY_H_
#define GRAPNEL_LIB_POLICY_POLICY_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/ir/device_name.h"
#include "lib/ir/types.h"
#include "lib/support/error.h"
#include "lib/support/glob.h"
#include "lib/support/onednn.h"

namespace grapnel {

// The severity of a finding. Errors make `grapnel check` fail; warnings and notes do not.
enum class FindingSeverity : uint8_t { kError, kWarning, kNote };
const char* FindingSeverityName(FindingSeverity severity);  // "error", "warning", "note"

// The type of a key in a check's table.
enum class SettingKind : uint8_t {
  kGlobs,       // names, or patterns that match names
  kPaths,       // files and folders, relative to the policy's folder
  kDevices,     // "CPU", "/job:worker", "/device:GPU:1"
  kDevice,      // one device
  kTypes,       // dtypes; "float64" is the same as "double"
  kNumber,      // a number that is not negative
  kBytes,       // a number of bytes, or a string such as "25 MB"
  kBudget,      // a number, or growth from BASE: "+5%"
  kByteBudget,  // a number of bytes, or growth from BASE
  kSeverity,    // "error", "warning" or "note"
  // A table: the inputs and outputs of the signature of that name.
  kInterface,
};

struct SettingInfo {
  const char* name;
  SettingKind kind;
  const char* help;
  bool is_required = false;
};

// The schema of a check's table in a policy.
struct PolicyTable {
  const char* name;
  FindingSeverity severity;  // of findings, unless the policy sets another
  std::vector<SettingInfo> settings;
  // The meaning of a key of any other name. Lists show `name` for such a key: "SIGNATURE".
  std::optional<SettingInfo> other = std::nullopt;
};

// A demand of the policy: nodes that fit are on this device.
struct PlacedNodes {
  Glob nodes;
  DeviceSpec device;
  int line = 0;
};

// A check's table in a policy. The maps have entries only for keys that are in the table.
struct PolicyRule {
  std::string check;
  int line = 0;
  FindingSeverity severity = FindingSeverity::kError;
  std::map<std::string, std::vector<Glob>> globs;
  std::map<std::string, std::vector<std::string>> paths;
  std::map<std::string, std::vector<DeviceSpec>> devices;
  std::map<std::string, std::vector<DataType>> types;
  std::map<std::string, double> numbers;
  std::map<std::string, double> growths;  // "+5%" is 0.05
  std::map<std::string, FindingSeverity> severities;
  std::vector<PlacedNodes> placed;  // in the order of the file
  // The recorded interfaces, sorted by name. The tensors have no names, and one whose type is not
  // recorded has the dtype DT_INVALID.
  std::vector<Signature> signatures;

  const std::vector<Glob>* FindGlobs(const std::string& key) const;
  const std::vector<DeviceSpec>* FindDevices(const std::string& key) const;
  const std::vector<DataType>* FindTypes(const std::string& key) const;
  double Number(const std::string& key, double otherwise) const;
  const double* FindGrowth(const std::string& key) const;
  const FindingSeverity* FindSeverity(const std::string& key) const;
};

// A waiver: until a date, findings of one check for some nodes do not count.
struct Waiver {
  std::string check;
  Glob node;  // matches a finding's node, or its scope if it has no node; "": whole model
  std::string reason;
  std::string until;  // "2027-01-31", the last day on which the waiver applies
  int line = 0;
};

struct Policy {
  std::string path;
  // Whether the passes that checks run imitate TensorFlow with or without oneDNN, independent of
  // the machine.
  OneDnn onednn = OneDnn::kOn;
  std::vector<PolicyRule> rules;  // in the order of the file
  std::vector<Waiver> waivers;

  // `tables` are the schemas of all checks. Errors, which name the file and the line: invalid TOML,
  // an unknown table or key (with the nearest known name), a missing key, a bad value. A policy
  // without checks is an error too.
  static Expected<Policy> Parse(llvm::StringRef toml, llvm::StringRef path,
                                llvm::ArrayRef<PolicyTable> tables);
};

// True if `text` is a calendar date such as "2027-01-31".
bool IsDate(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_POLICY_H_
