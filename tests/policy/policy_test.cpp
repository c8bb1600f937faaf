// The parsing of policies, and the findings that waivers cover.
#include "lib/policy/policy.h"

#include "gtest/gtest.h"
#include "lib/policy/policy_finding.h"

namespace grapnel {
namespace {

const std::vector<PolicyTable>& Tables() {
  static const std::vector<PolicyTable> tables = {
      {"ops", FindingSeverity::kError, {{"forbidden", SettingKind::kGlobs, ""}}},
      {"dtypes", FindingSeverity::kError, {{"forbidden", SettingKind::kTypes, ""}}},
      {"devices", FindingSeverity::kError, {{"allowed", SettingKind::kDevices, ""}}},
      {"outputs", FindingSeverity::kError, {{"cases", SettingKind::kPaths, ""}}},
      {"nodes", FindingSeverity::kWarning, {{"most", SettingKind::kNumber, "nodes", true}}},
      {"file_size", FindingSeverity::kError, {{"most", SettingKind::kBytes, "", true}}}};
  return tables;
}

Policy Parse(const char* toml) {
  return llvm::cantFail(Policy::Parse(toml, "models/policy.toml", Tables()));
}

std::string ErrorOf(const char* toml) {
  auto policy = Policy::Parse(toml, "p.toml", Tables());
  return policy ? "" : TextOf(policy.takeError());
}

TEST(Policy, ReadsEachKindOfSetting) {
  Policy policy = Parse(R"(
[ops]
forbidden = ["PyFunc", "*Dataset"]
severity = "note"
[dtypes]
forbidden = "float64"
[devices]
allowed = ["CPU", "/job:worker"]
[outputs]
cases = ["a", "/b"]
[nodes]
most = 1_000
)");
  ASSERT_EQ(policy.rules.size(), 5u);
  EXPECT_EQ(policy.rules[0].check, "ops");
  EXPECT_EQ(policy.rules[0].line, 2);
  EXPECT_EQ(policy.rules[0].severity, FindingSeverity::kNote);
  EXPECT_TRUE(FitsAny(*policy.rules[0].FindGlobs("forbidden"), "MapDataset"));
  EXPECT_EQ(policy.rules[1].FindTypes("forbidden")->front(), proto::DT_DOUBLE);
  EXPECT_EQ(policy.rules[2].FindDevices("allowed")->size(), 2u);
  EXPECT_EQ(policy.rules[3].paths["cases"], (std::vector<std::string>{"models/a", "/b"}));
  EXPECT_EQ(policy.rules[4].Number("most", 0), 1000);
  EXPECT_EQ(policy.rules[4].severity, FindingSeverity::kWarning);
  EXPECT_EQ(policy.rules[4].FindGlobs("forbidden"), nullptr);
}

TEST(Policy, ReadsPatternsOfNodesInTheOrderOfTheFile) {
  const std::vector<PolicyTable> tables = {{"placement",
                                            FindingSeverity::kError,
                                            {{"devices", SettingKind::kDevices, "", true}},
                                            SettingInfo{"PATTERN", SettingKind::kDevice, ""}}};
  Policy policy = llvm::cantFail(Policy::Parse(
      "[placement]\ndevices = ['CPU', 'GPU']\n'tail/*' = 'GPU:1'\n'*' = 'CPU'\nseverity = 'note'\n",
      "p.toml", tables));
  const PolicyRule& rule = policy.rules[0];
  ASSERT_EQ(rule.placed.size(), 2u);
  EXPECT_EQ(rule.placed[0].nodes.text(), "tail/*");
  EXPECT_EQ(rule.placed[0].device.ToString(), "/device:GPU:1");
  EXPECT_EQ(rule.placed[0].line, 3);
  EXPECT_EQ(rule.placed[1].nodes.text(), "*");
  EXPECT_EQ(rule.severity, FindingSeverity::kNote);
  auto error_of = [&](const std::string& rest) {
    auto parsed = Policy::Parse("[placement]\ndevices = 'CPU'\n" + rest, "p.toml", tables);
    return parsed ? "" : TextOf(parsed.takeError());
  };
  EXPECT_EQ(error_of("x = 3\n"), "p.toml:3: 'x': expected a device, such as \"GPU:0\"");
  EXPECT_EQ(error_of("'[' = 'CPU'\n").substr(0, 9), "p.toml:3:");
  EXPECT_EQ(error_of("devces = ['CPU']\n"),
            "p.toml:3: key 'devces' not found in [placement]; did you mean 'devices'?");
  EXPECT_EQ(error_of(""),
            "p.toml:1: [placement] needs a pattern of nodes and their device, such as \"head/*\" = "
            "\"GPU:0\"");
}

TEST(Policy, BudgetsMayGrow) {
  const std::vector<PolicyTable> tables = {
      {"nodes", FindingSeverity::kError, {{"most", SettingKind::kBudget, "", true}}},
      {"file_size", FindingSeverity::kError, {{"most", SettingKind::kByteBudget, "", true}}}};
  auto rule_of = [&](const std::string& toml) {
    return llvm::cantFail(Policy::Parse(toml, "p.toml", tables)).rules[0];
  };
  auto error_of = [&](const std::string& toml) {
    auto parsed = Policy::Parse(toml, "p.toml", tables);
    return parsed ? "" : TextOf(parsed.takeError());
  };
  PolicyRule rule = rule_of("[nodes]\nmost = '+12.5%'\n");
  ASSERT_NE(rule.FindGrowth("most"), nullptr);
  EXPECT_EQ(*rule.FindGrowth("most"), 0.125);
  EXPECT_EQ(*rule_of("[file_size]\nmost = '+ 5 %'\n").FindGrowth("most"), 0.05);
  EXPECT_EQ(rule_of("[file_size]\nmost = '2 kB'\n").FindGrowth("most"), nullptr);
  EXPECT_EQ(rule_of("[file_size]\nmost = '2 kB'\n").Number("most", 0), 2000);
  EXPECT_EQ(rule_of("[nodes]\nmost = 7\n").Number("most", 0), 7);
  for (const char* wrong : {"'5%'", "'+5'", "'+-5%'", "'+x%'", "'2 kB'", "'+nan%'"}) {
    EXPECT_EQ(error_of(std::string("[nodes]\nmost = ") + wrong),
              "p.toml:2: 'most': expected a number, not negative, or growth from BASE such as "
              "\"+5%\"")
        << wrong;
  }
}

TEST(Policy, RecordsInterfacesOfSignatures) {
  const std::vector<PolicyTable> tables = {{"signatures",
                                            FindingSeverity::kError,
                                            {{"except", SettingKind::kGlobs, ""}},
                                            SettingInfo{"SIGNATURE", SettingKind::kInterface, ""}}};
  Policy policy = llvm::cantFail(Policy::Parse(R"(
[signatures]
severity = "warning"
[signatures.serve]
inputs.x = "float32[?,3]"
inputs."odd key" = "string?"
outputs.y = "?"
outputs.z = "int64[]"
[signatures.except]
method = "tensorflow/serving/classify"
)",
                                               "p.toml", tables));
  ASSERT_EQ(policy.rules.size(), 1u);
  const PolicyRule& rule = policy.rules[0];
  EXPECT_EQ(rule.severity, FindingSeverity::kWarning);
  EXPECT_EQ(rule.FindGlobs("except"), nullptr) << "a signature may have the name of a key";
  ASSERT_EQ(rule.signatures.size(), 2u);
  EXPECT_EQ(rule.signatures[0].method, "tensorflow/serving/classify");
  const Signature& serve = rule.signatures[1];
  EXPECT_EQ(serve.name, "serve");
  ASSERT_EQ(serve.inputs.size(), 2u);
  EXPECT_EQ(serve.inputs[0].key, "odd key");
  EXPECT_EQ(serve.inputs[0].dtype, proto::DT_STRING);
  EXPECT_FALSE(serve.inputs[0].shape.known_rank());
  EXPECT_EQ(serve.inputs[1].dtype, proto::DT_FLOAT);
  EXPECT_EQ(serve.inputs[1].shape, Shape({kUnknownDim, 3}));
  EXPECT_EQ(serve.outputs[0].dtype, proto::DT_INVALID);
  EXPECT_EQ(serve.outputs[1].shape, Shape::Scalar());
}

TEST(Policy, BytesHaveUnits) {
  auto most = [](const std::string& value) {
    return Parse(("[file_size]\nmost = " + value).c_str()).rules[0].Number("most", -1);
  };
  EXPECT_EQ(most("300"), 300);
  EXPECT_EQ(most("9223372036854775807"), 9223372036854775807.0);  // not exact as a double
  EXPECT_EQ(most("2.5"), 2.5);
  EXPECT_EQ(most("\"25 MB\""), 25e6);
  EXPECT_EQ(most("\"1.5GiB\""), 1.5 * 1024 * 1024 * 1024);
  EXPECT_EQ(most("\"2 kB\""), 2000);
  EXPECT_EQ(ErrorOf("[file_size]\nmost = \"-1 MB\""),
            "p.toml:2: 'most': expected bytes: a number, or a string such as \"25 MB\"");
}

TEST(Policy, ErrorsHaveLineAndWhatIsNear) {
  EXPECT_EQ(ErrorOf("\n[opps]"), "p.toml:2: check 'opps' not found; did you mean 'ops'?");
  EXPECT_EQ(ErrorOf("[[waivers]]\ncheck = 'ops'"),
            "p.toml:1: check 'waivers' not found; did you mean 'waiver'?");
  EXPECT_EQ(ErrorOf("ops = 3"), "p.toml:1: 'ops' is a check: a table was expected, [ops]");
  EXPECT_EQ(ErrorOf("[nodes]\nmost = 'few'"), "p.toml:2: 'most': expected a number, not negative");
  EXPECT_EQ(ErrorOf("[ops]\nforbidden = [1]"),
            "p.toml:2: 'forbidden': expected a list of names or patterns");
  EXPECT_EQ(ErrorOf("waiver = 3"), "p.toml:1: 'waiver' must be a list of tables, each [[waiver]]");
  EXPECT_EQ(ErrorOf("[[waiver]]\ncheck='ops'\nnode='*'\nreason=''\nuntil=2026-01-01"),
            "p.toml:1: 'reason' is empty: explain why this is acceptable");
}

TEST(Policy, TellsAllThatIsWrongInTheOrderOfLines) {
  EXPECT_EQ(ErrorOf("[ops]\nforbiden = ['Add']\n[nodes]\nmots = 3\n[dtypes]\nforbidden = 'flaot'\n"
                    "[[waiver]]\nchek = 'ops'\n[[waiver]]\ncheck = 'ops'\nnode = '*'\n"),
            "p.toml:2: key 'forbiden' not found in [ops]; did you mean 'forbidden'?\n"
            "p.toml:4: key 'mots' not found in [nodes]; did you mean 'most'?\n"
            "p.toml:6: 'forbidden': dtype 'flaot' not found; did you mean 'float'?\n"
            "p.toml:8: key 'chek' not found in [[waiver]]; did you mean 'check'?\n"
            "p.toml:9: [[waiver]] needs 'reason', a string");
}

TEST(Policy, KnowsDaysOfTheCalendar) {
  EXPECT_TRUE(IsDate("2028-02-29"));
  for (const char* text : {"2027-02-29", "2027-13-01", "2027-1-1", "", "tomorrow"})
    EXPECT_FALSE(IsDate(text)) << text;
}

PolicyFinding Found(const char* check, const char* node) {
  PolicyFinding finding;
  finding.check = check;
  finding.node = node;
  return finding;
}

TEST(Waivers, TakeFindingsUpToTheirDay) {
  Policy policy = Parse(R"(
[ops]
[[waiver]]
check = "ops"
node = "head/*"
reason = "so"
until = 2026-12-31
)");
  std::vector<PolicyFinding> findings = {Found("ops", "head/py"), Found("ops", "tail/py"),
                                         Found("dtypes", "head/py")};
  std::vector<PolicyFinding> late = findings;
  ApplyWaivers(policy, "2026-12-31", {"ops", "dtypes"}, &findings);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].waiver, &policy.waivers[0]);
  EXPECT_EQ(findings[1].waiver, nullptr);
  EXPECT_EQ(findings[2].waiver, nullptr);
  ApplyWaivers(policy, "2027-01-01", {"ops", "dtypes"}, &late);
  ASSERT_EQ(late.size(), 4u);
  EXPECT_EQ(late[0].waiver, nullptr);
  EXPECT_EQ(late[3].check, "waiver");
  EXPECT_EQ(late[3].severity, FindingSeverity::kNote);
  EXPECT_EQ(late[3].what, "the waiver of ops for 'head/*' expired on 2026-12-31");
}

TEST(Policy, ThatDemandsNothingIsAnError) {
  for (const char* toml :
       {"", "# [dtypes]\n", "[[waiver]]\ncheck='ops'\nnode='x'\nreason='so'\nuntil='2026-12-31'\n"})
    EXPECT_EQ(ErrorOf(toml),
              "p.toml: the policy has no check: add a table, such as [unused_inputs] (`grapnel "
              "check --list` shows them, `grapnel check MODEL --init` prints a policy)");
}

TEST(Policy, NeedsWhatIsAllowedOrForbidden) {
  const std::vector<PolicyTable> tables = {
      {"dtypes",
       FindingSeverity::kError,
       {{"allowed", SettingKind::kTypes, ""}, {"forbidden", SettingKind::kTypes, ""}}}};
  auto policy = Policy::Parse("[dtypes]\nseverity = 'note'\n", "p.toml", tables);
  ASSERT_FALSE(static_cast<bool>(policy));
  EXPECT_EQ(TextOf(policy.takeError()), "p.toml:1: [dtypes] needs 'allowed' or 'forbidden'");
  EXPECT_TRUE(static_cast<bool>(Policy::Parse("[dtypes]\nforbidden = []\n", "p.toml", tables)));
}

TEST(Policy, ReadsTheSeverityOfWhatIsNew) {
  const std::vector<PolicyTable> tables = {{"ops",
                                            FindingSeverity::kError,
                                            {{"allowed", SettingKind::kGlobs, ""},
                                             {"forbidden", SettingKind::kGlobs, ""},
                                             {"new", SettingKind::kSeverity, ""}}}};
  Policy policy = llvm::cantFail(Policy::Parse("[ops]\nnew = 'note'\n", "p.toml", tables));
  ASSERT_NE(policy.rules[0].FindSeverity("new"), nullptr);
  EXPECT_EQ(*policy.rules[0].FindSeverity("new"), FindingSeverity::kNote);
  auto error_of = [&](const char* toml) {
    auto parsed = Policy::Parse(toml, "p.toml", tables);
    return parsed ? "" : TextOf(parsed.takeError());
  };
  EXPECT_EQ(error_of("[ops]\nnew = 'bad'\n"),
            "p.toml:2: 'new': expected \"error\", \"warning\" or \"note\"");
  EXPECT_EQ(error_of("[ops]\nnew = true\n"),
            "p.toml:2: 'new': expected \"error\", \"warning\" or \"note\"");
  EXPECT_EQ(error_of("[ops]\n"), "p.toml:1: [ops] needs 'allowed' or 'forbidden' or 'new'");
}

TEST(Policy, SaysTheNearestDtype) {
  EXPECT_EQ(ErrorOf("[dtypes]\nforbidden = ['flaot64']\n"),
            "p.toml:2: 'forbidden': dtype 'flaot64' not found; did you mean 'float64'?");
}

TEST(Waivers, FitAllPlacesOfAFinding) {
  Policy policy =
      Parse("[ops]\n[[waiver]]\ncheck='ops'\nnode='serve/*'\nreason='so'\nuntil='2026-12-31'\n");
  std::vector<PolicyFinding> findings = {Found("ops", "serve/x"), Found("ops", "serve/x")};
  findings[0].also = {"serve/y"};
  findings[1].also = {"rank/x"};
  ApplyWaivers(policy, "2026-01-01", {"ops"}, &findings);
  ASSERT_EQ(findings.size(), 2u) << "the waiver is needed";
  EXPECT_EQ(findings[0].waiver, &policy.waivers[0]);
  EXPECT_EQ(findings[1].waiver, nullptr);
}

TEST(Waivers, ThatNothingNeedsAreTold) {
  Policy policy =
      Parse("[ops]\n[[waiver]]\ncheck='ops'\nnode='gone'\nreason='so'\nuntil='2026-12-31'\n");
  std::vector<PolicyFinding> findings;
  ApplyWaivers(policy, "2026-01-01", {"dtypes"}, &findings);
  EXPECT_TRUE(findings.empty()) << "the check of ops did not run";
  ApplyWaivers(policy, "2026-01-01", {"ops"}, &findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].what, "the waiver of ops for 'gone' is not needed");
}

TEST(Waivers, OfChecksThatAreNotDemandedAreTold) {
  Policy policy =
      Parse("[ops]\n[[waiver]]\ncheck='dtypes'\nnode='x'\nreason='so'\nuntil='2026-12-31'\n");
  std::vector<PolicyFinding> findings;
  ApplyWaivers(policy, "2026-01-01", {"ops"}, &findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].what,
            "the waiver of dtypes for 'x' is for a check that the policy does not have");
  EXPECT_EQ(findings[0].expected, "a table [dtypes] in the policy");
}

}  // namespace
}  // namespace grapnel
