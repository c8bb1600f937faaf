#include "lib/tfdbg/autograph_source.h"

#include "gtest/gtest.h"
#include "lib/ir/wire.h"

namespace grapnel {
namespace {

// A run with a user's file, Python's and AutoGraph's, and a frame in the last.
struct Example {
  std::vector<std::string> records;
  DebugRun run;

  void Add(const char* path, llvm::ArrayRef<const char*> lines, bool is_framework) {
    std::string record;
    for (const char* line : lines) AppendBytesField(&record, 3, line);
    records.push_back(record);
    DebugSource source;
    source.path = path;
    source.is_framework = is_framework;
    run.sources.push_back(source);
  }
  int Map(llvm::StringRef function, int line) {
    for (size_t i = 0; i < records.size(); ++i) run.sources[i].record = records[i];
    DebugFrame frame;
    frame.source = 1;
    frame.line = line;
    frame.function = function;
    run.frames.push_back(frame);
    MapAutographFrames(&run);
    return run.frames.back().source == 0 ? run.frames.back().line : -1;
  }
};

constexpr const char* kMade = "/tmp/__autograph_generated_filex.py";
const std::vector<const char*> kUser = {"import tensorflow as tf",
                                        "def step():",
                                        "    def rep(v):",
                                        "        a = tf.square(v)",
                                        "",
                                        "        b = tf.math.log(a - 1.)",
                                        "        return b",
                                        "    return rep"};
const std::vector<const char*> kGenerated = {
    "def inner_factory(ag__):", "    def rep(v):",
    "        a = ag__.converted_call(ag__.ld(tf).square, (ag__.ld(v),), None, fscope)",
    "        b = ag__.converted_call(ag__.ld(tf).math.log, (ag__.ld(a) - 1.0,), None, fscope)"};

TEST(AutographSource, PointsToTheLineThatItWasMadeOf) {
  Example example;
  example.Add("/home/me/train.py", kUser, false);
  example.Add(kMade, kGenerated, true);
  EXPECT_EQ(example.Map("rep", 3), 4);
  EXPECT_EQ(example.Map("tf__rep", 4), 6);
}

TEST(AutographSource, StaysWhereTheFunctionIsNotFoundOrTwice) {
  Example example;
  example.Add("/home/me/train.py", kUser, false);
  example.Add(kMade, kGenerated, true);
  EXPECT_EQ(example.Map("other", 3), -1);
  EXPECT_EQ(example.Map("rep", 99), -1);
  example.Add("/home/me/more.py", {"def rep(x):", "  return x"}, false);
  EXPECT_EQ(example.Map("rep", 3), -1);
}

}  // namespace
}  // namespace grapnel
