#include "lib/place/device_name.h"

#include <gtest/gtest.h>

namespace grapnel {
namespace {

DeviceSpec Parse(llvm::StringRef text) { return llvm::cantFail(DeviceSpec::Parse(text)); }

std::string ErrorOf(Error error) { return error ? TextOf(std::move(error)) : ""; }

TEST(DeviceSpec, ReadsEverySpelling) {
  EXPECT_EQ(Parse("/job:worker/replica:0/task:3/device:GPU:1").ToString(),
            "/job:worker/replica:0/task:3/device:GPU:1");
  EXPECT_EQ(Parse("/task:3/job:worker").ToString(), "/job:worker/task:3");
  EXPECT_EQ(Parse("/gpu:2").ToString(), "/device:GPU:2");
  EXPECT_EQ(Parse("/CPU:0").ToString(), "/device:CPU:0");
  EXPECT_EQ(Parse("/device:gpu:2").ToString(), "/device:GPU:2");
  EXPECT_EQ(Parse("/device:CPU").ToString(), "/device:CPU:*");
  EXPECT_EQ(Parse("/device:CPU:*").ToString(), "/device:CPU:*");
  EXPECT_EQ(Parse("/job:*/device:*").ToString(), "");
  EXPECT_TRUE(Parse("").IsOpen());
  EXPECT_TRUE(Parse("/").IsOpen());
  EXPECT_TRUE(Parse("/job:a/replica:0/task:0/device:XLA_CPU:0").IsFull());
}

TEST(DeviceSpec, RefusesWhatIsMalformed) {
  for (const char* text :
       {"cpu", "/cpu", "/cpu:", "/cpu:x", "/job:", "/job:1", "/task:-1",
        "/device:GPU:", "/device:GPU:1x", "/gadget:0", "//cpu:0", "/task:99999999999999999999"}) {
    auto spec = DeviceSpec::Parse(text);
    ASSERT_FALSE(static_cast<bool>(spec)) << text;
    EXPECT_NE(TextOf(spec.takeError()).find(text), std::string::npos);
  }
}

TEST(DeviceSpec, MergesWhatFits) {
  DeviceSpec spec = Parse("/job:a");
  EXPECT_EQ(ErrorOf(spec.Merge(Parse("/task:1/device:GPU:*"), false)), "");
  EXPECT_EQ(ErrorOf(spec.Merge(Parse("/device:GPU:3"), false)), "");
  EXPECT_EQ(spec.ToString(), "/job:a/task:1/device:GPU:3");
}

TEST(DeviceSpec, HardMergeNamesWhatDiffersAndChangesNothing) {
  DeviceSpec spec = Parse("/job:a/device:CPU:1");
  EXPECT_EQ(
      ErrorOf(spec.Merge(Parse("/device:CPU:2"), false)),
      "Cannot merge devices with incompatible ids: '/job:a/device:CPU:1' and '/device:CPU:2'");
  EXPECT_NE(ErrorOf(spec.Merge(Parse("/device:GPU:1"), false)).find("types"), std::string::npos);
  EXPECT_NE(ErrorOf(spec.Merge(Parse("/job:b/task:2"), false)).find("jobs"), std::string::npos);
  EXPECT_EQ(spec, Parse("/job:a/device:CPU:1"));
  // The message shows the job as taken over already: TensorFlow's does.
  DeviceSpec without_job = Parse("/device:CPU:1");
  EXPECT_EQ(ErrorOf(without_job.Merge(Parse("/job:a/device:CPU:2"), false)),
            "Cannot merge devices with incompatible ids: '/job:a/device:CPU:1' and "
            "'/job:a/device:CPU:2'");
  EXPECT_EQ(without_job, Parse("/device:CPU:1"));
}

TEST(DeviceSpec, SoftMergeOpensWhatDiffers) {
  DeviceSpec ids = Parse("/device:CPU:1");
  EXPECT_EQ(ErrorOf(ids.Merge(Parse("/job:a/device:CPU:2"), true)), "");
  EXPECT_EQ(ids.ToString(), "/job:a/device:CPU:*");
  DeviceSpec types = Parse("/device:CPU:1");
  EXPECT_EQ(ErrorOf(types.Merge(Parse("/device:GPU:1"), true)), "");
  EXPECT_TRUE(types.IsOpen());
  DeviceSpec tasks = Parse("/task:1");
  EXPECT_NE(ErrorOf(tasks.Merge(Parse("/task:2"), true)).find("tasks"), std::string::npos);
}

TEST(DeviceSpec, MatchesAndFits) {
  DeviceSpec full = Parse("/job:a/replica:0/task:0/device:GPU:1");
  EXPECT_TRUE(Parse("/device:GPU:*").Matches(full));
  EXPECT_FALSE(Parse("/device:GPU:0").Matches(full));
  EXPECT_TRUE(Parse("/job:a").IsCompatibleWith(Parse("/device:GPU:0")));
  EXPECT_FALSE(Parse("/device:CPU:*").IsCompatibleWith(Parse("/device:GPU:0")));
}

}  // namespace
}  // namespace grapnel
