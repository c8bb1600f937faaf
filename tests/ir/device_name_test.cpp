#include "lib/ir/device_name.h"

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
  // The message shows the job as already merged, as in TensorFlow.
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

TEST(DeviceSpec, AsAPersonTypesIt) {
  auto typed = [](llvm::StringRef text) {
    return llvm::cantFail(DeviceSpec::ParseTyped(text)).ToString();
  };
  EXPECT_EQ(typed("GPU"), "/device:GPU:*");
  EXPECT_EQ(typed("gpu:1"), "/device:GPU:1");
  EXPECT_EQ(typed("TPU:3"), "/device:TPU:3");
  EXPECT_EQ(typed("/job:a/gpu:1"), "/job:a/device:GPU:1");
  EXPECT_EQ(typed(""), "");
  for (const char* text : {"gpu:", "gpu:x", "1", ":0", "/gpu", "gpu:1/job:a"}) {
    auto spec = DeviceSpec::ParseTyped(text);
    ASSERT_FALSE(static_cast<bool>(spec)) << text;
    EXPECT_NE(TextOf(spec.takeError()).find("'" + std::string(text) + "'"), std::string::npos);
  }
  EXPECT_EQ(llvm::cantFail(DeviceSpec::OfJob("worker")).ToString(), "/job:worker");
  EXPECT_NE(ErrorOf(DeviceSpec::OfJob("1st").takeError()), "");
  EXPECT_NE(ErrorOf(DeviceSpec::OfJob("a/task:1").takeError()), "");
  EXPECT_EQ(LocalDeviceName("GPU", 2), "/device:GPU:2");
  auto written = [](llvm::StringRef text) { return llvm::cantFail(DeviceNameFromTyped(text)); };
  EXPECT_EQ(written("gpu"), "/device:GPU:0");
  EXPECT_EQ(written("cpu:3"), "/device:CPU:3");
  EXPECT_EQ(written("/task:1/cpu:0"), "/task:1/cpu:0");
  EXPECT_NE(ErrorOf(DeviceNameFromTyped("/cpu").takeError()), "");
  for (const char* text : {"*", "*:1"}) {
    auto name = DeviceNameFromTyped(text);
    ASSERT_FALSE(static_cast<bool>(name)) << *name;
    EXPECT_NE(TextOf(name.takeError()).find("malformed device name '" + std::string(text) + "'"),
              std::string::npos);
  }
  EXPECT_TRUE(Parse(kLocalCpu).IsFull());
}

TEST(DeviceName, IsOfATypeWhenItHasANumber) {
  EXPECT_TRUE(IsOn("/job:a/replica:0/task:0/device:CPU:0", "CPU"));
  EXPECT_TRUE(IsOn("/cpu:0", "CPU"));
  EXPECT_TRUE(IsOn("/device:gpu:1", "GPU"));
  for (const char* other : {"", "/", "/device:CPU:*", "/device:CPU", "/device:GPU:0", "CPU:0",
                            "/device:XLA_CPU:0", "/device:CPU:0x", "/job:CPU"})
    EXPECT_FALSE(IsOn(other, "CPU")) << other;
}

TEST(DeviceName, SaysTypeAndTask) {
  EXPECT_EQ(DeviceTypeOf("/job:a/device:GPU:*"), "GPU");
  EXPECT_EQ(DeviceTypeOf("/gpu:0"), "GPU");
  EXPECT_EQ(DeviceTypeOf("/job:a/task:1"), "");
  EXPECT_EQ(DeviceTypeOf("nonsense"), "");
  EXPECT_EQ(TaskOf("/task:1/job:a/device:CPU:0"), "/job:a/task:1");
  EXPECT_EQ(TaskOf("/cpu:0"), "");
  EXPECT_EQ(TaskOf("/job:a"), std::nullopt);
  EXPECT_EQ(TaskOf("/job:a/device:CPU:*"), std::nullopt);
  EXPECT_EQ(TaskOf("nonsense"), std::nullopt);
  EXPECT_EQ(Parse("/job:a/replica:1/task:2/device:CPU:3").TaskToString(),
            "/job:a/replica:1/task:2");
}

TEST(DeviceName, OneSpellingForAllThatMeanTheSame) {
  EXPECT_EQ(CanonicalDevice("/job:w/replica:0/task:1/device:CPU:0"),
            CanonicalDevice("/job:w/task:1/replica:0/cpu:0"));
  EXPECT_EQ(CanonicalDevice("/device:gpu:1"), CanonicalDevice("/GPU:1"));
  EXPECT_NE(CanonicalDevice("/device:CPU:0"), CanonicalDevice("/device:CPU:1"));
  EXPECT_NE(CanonicalDevice("/job:a/device:CPU:0"), CanonicalDevice("/job:b/device:CPU:0"));
  EXPECT_EQ(CanonicalDevice("my device"), "my device");
}

TEST(DeviceName, Short) {
  EXPECT_EQ(ShortDevice(kLocalCpu), "cpu:0");
  EXPECT_EQ(ShortDevice("/device:GPU:1"), "gpu:1");
  EXPECT_EQ(ShortDevice("/job:worker/replica:0/task:0/device:GPU:1"),
            "/job:worker/replica:0/task:0/device:GPU:1");
  EXPECT_EQ(ShortDevice("/gpu:1"), "/gpu:1");
  EXPECT_EQ(ShortDevice(""), "");
}

TEST(DeviceName, WhatGrapplerAsksOfTheText) {
  EXPECT_TRUE(DevicePartMentions("/job:a/device:XLA_GPU:0", "gpu"));
  EXPECT_FALSE(DevicePartMentions("/job:gpu/device:CPU:0", "gpu"));
  EXPECT_FALSE(DevicePartMentions("gpu:0", "gpu"));
  EXPECT_TRUE(MentionsGpu("/job:gpu/device:CPU:0"));
  EXPECT_FALSE(MentionsGpu("/cpu:0"));
  EXPECT_TRUE(MentionsCpu("/device:XLA_CPU:0"));
  EXPECT_FALSE(MentionsCpu("/cpu:0"));
  EXPECT_EQ(HostOfGpu("/job:w/device:GPU:1"), "/job:w/device:CPU:0");
  EXPECT_EQ(HostOfGpu("/device:XLA_GPU:0"), "/device:XLA_CPU:0");
  EXPECT_EQ(HostOfGpu("/gpu:0"), "");
}

}  // namespace
}  // namespace grapnel
