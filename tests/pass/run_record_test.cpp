#include "lib/pass/run_record.h"

#include <gtest/gtest.h>

#include "lib/support/file.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

constexpr const char* kIndex = R"({"stages": [
  {"pass": "model_pruner", "iteration": 0, "changed": true, "rewrites": 1, "after": "g.0002.pbtxt"},
  {"pass": "layout", "iteration": 0, "changed": false, "rewrites": 0},
  {"pass": "remapper", "function": "f", "iteration": 1, "changed": true, "rewrites": 2, "after": "g.0004.pbtxt"}]})";
constexpr const char* kTimes = R"([{"pass": "model_pruner", "iteration": 0, "ms": 1.5},
  {"pass": "layout", "iteration": 0, "ms": 0.25},
  {"pass": "remapper", "function": "f", "iteration": 1, "ms": 2}])";
constexpr const char* kLedger =
    R"({"rewrite":1,"iteration":0,"pass":"model_pruner","rule":"drop_unreachable","node":"Min","used":["Min"],"made":[],"changed":[],"removed":["Min"]}
{"rewrite":2,"iteration":1,"pass":"remapper","rule":"fuse_bias","function":"f","node":"b","used":["b","c"],"made":["b"],"changed":[],"removed":["c"]}
{"rewrite":3,"iteration":1,"pass":"remapper","rule":"fuse_bias","function":"f","node":"d","used":[],"made":["d"],"changed":[],"removed":[]}
)";

class RunRecordTest : public testing::Test {
 protected:
  void SetUp() override {
    llvm::SmallString<64> folder;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("run_record", folder));
    folder_ = folder.str().str();
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder_); }
  void Write(const char* name, llvm::StringRef text) {
    Error error = WriteFile(JoinPath(folder_, name), text);
    ASSERT_FALSE(static_cast<bool>(error));
  }
  std::string folder_;
};

TEST_F(RunRecordTest, LedgerIsCutIntoStages) {
  Write("index.json", kIndex);
  Write("timings.json", kTimes);
  Write("ledger.jsonl", kLedger);
  RunRecord record = ReadRunRecord(folder_);
  EXPECT_TRUE(record.problems.empty());
  EXPECT_TRUE(record.has_rewrites && record.has_times);
  const StageRecord* fused = record.StageOf("g.0004.pbtxt");
  ASSERT_TRUE(fused);
  ASSERT_EQ(fused->rewrites.size(), 2u);
  EXPECT_EQ(fused->rewrites[0].removed, std::vector<std::string>{"c"});
  EXPECT_EQ(fused->stage.time, std::chrono::milliseconds(2));
  EXPECT_EQ(record.StageOf("g.0002.pbtxt")->rewrites[0].node, "Min");
  EXPECT_EQ(record.StageOf("g.0003.pbtxt"), nullptr);
  EXPECT_EQ(record.StageOf(""), nullptr) << "not the stage that changed nothing";
}

TEST_F(RunRecordTest, WithoutIndexNothingIsKnown) {
  Write("ledger.jsonl", kLedger);
  RunRecord record = ReadRunRecord(folder_);
  EXPECT_TRUE(record.stages.empty() && record.problems.empty());
  EXPECT_FALSE(record.has_rewrites);
}

TEST_F(RunRecordTest, FilesOfAnotherRunAreNotBelieved) {
  Write("index.json", kIndex);
  std::string one_more = std::string(kLedger) + R"({"rewrite":4,"pass":"layout","rule":"x"})";
  std::string other_pass = kLedger;
  other_pass.replace(other_pass.find("model_pruner"), 12, "loop_optimiz");
  for (const std::string& ledger : {one_more, other_pass, std::string("{"), std::string("")}) {
    Write("ledger.jsonl", ledger);
    Write("timings.json", "[]");
    RunRecord record = ReadRunRecord(folder_);
    EXPECT_EQ(record.problems.size(), 2u) << ledger;
    EXPECT_FALSE(record.has_rewrites || record.has_times);
    for (const StageRecord& stage : record.stages) EXPECT_TRUE(stage.rewrites.empty());
  }
}

TEST_F(RunRecordTest, WhatIsNoIndexIsAProblem) {
  for (const char* text : {"{", "[]", "{\"stages\": 3}"}) {
    Write("index.json", text);
    RunRecord record = ReadRunRecord(folder_);
    ASSERT_EQ(record.problems.size(), 1u) << text;
    EXPECT_EQ(record.problems[0].rfind("index.json: ", 0), 0u);
  }
}

// An entry that is not written as grapnel writes it gives the same rewrite.
TEST(ParseLedger, ReadsAnyJson) {
  for (
      const char* entry :
      {R"({"rewrite":7,"iteration":-1,"pass":"p","rule":"r","used":["a","b"],"made":[],"note":"n"})",
       R"({ "rewrite": 7, "iteration": -1, "pass": "p", "rule": "r", "used": ["a", "b"], "note": "n" })",
       R"({"rewrite":7.0,"iteration":-1,"pass":"\u0070","rule":"r","used":["a",1,"b"],"note":"n"})",
       R"({"note":"x","rewrite":7,"iteration":-1,"pass":"p","rule":"r","used":["a","b"],"note":"n"})",
       R"({"rewrite":7,"iteration":-1,"pass":"p","rule":"r","used":["a","b"],"note":"n","made":null})"}) {
    auto parsed = ParseLedger(entry);
    ASSERT_TRUE(static_cast<bool>(parsed)) << entry;
    ASSERT_EQ(parsed->size(), 1u);
    const Rewrite& rewrite = parsed->front();
    EXPECT_EQ(rewrite.number, 7) << entry;
    EXPECT_EQ(rewrite.iteration, -1) << entry;
    EXPECT_EQ(rewrite.pass, "p") << entry;
    EXPECT_EQ(rewrite.used, (std::vector<std::string>{"a", "b"})) << entry;
    EXPECT_EQ(rewrite.note, "n") << entry;
    EXPECT_TRUE(rewrite.made.empty()) << entry;
  }
  for (const char* entry : {R"({"rule":"r",})", R"({"rule":"r"}})", R"({"rule":"r","used":["a",]})",
                            R"({"rule":"r","used":["a""b"]})", R"({"rule":5})"}) {
    auto parsed = ParseLedger(entry);
    EXPECT_FALSE(static_cast<bool>(parsed)) << entry;
    if (!parsed) llvm::consumeError(parsed.takeError());
  }
}

TEST(ParseLedger, ErrorsNameTheLine) {
  for (const char* second : {"{}", "{", "[1]"}) {
    auto parsed = ParseLedger(std::string(R"({"rule": "x"})") + "\n" + second);
    ASSERT_FALSE(static_cast<bool>(parsed)) << second;
    EXPECT_NE(llvm::toString(parsed.takeError()).find("line 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace grapnel
