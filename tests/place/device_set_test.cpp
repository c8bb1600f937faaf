#include "lib/place/device_set.h"

#include <gtest/gtest.h>

#include "lib/support/file.h"

namespace grapnel {
namespace {

std::vector<std::string> Names(llvm::StringRef text) {
  DeviceSet set = llvm::cantFail(DeviceSet::Parse(text));
  std::vector<std::string> names;
  for (const ListedDevice& device : set.devices()) names.push_back(device.text);
  return names;
}

std::string ErrorOf(Expected<DeviceSet> set) { return set ? "" : TextOf(set.takeError()); }

TEST(DeviceSet, TakesNamesAndCounts) {
  EXPECT_EQ(Names("cpu:2,gpu:1"),
            (std::vector<std::string>{"/job:localhost/replica:0/task:0/device:CPU:0",
                                      "/job:localhost/replica:0/task:0/device:CPU:1",
                                      "/job:localhost/replica:0/task:0/device:GPU:0"}));
  EXPECT_EQ(Names("/gpu:3, /job:w/task:2/device:CPU:0"),
            (std::vector<std::string>{"/job:localhost/replica:0/task:0/device:GPU:3",
                                      "/job:w/replica:0/task:2/device:CPU:0"}));
}

TEST(DeviceSet, SaysWhatIsWrong) {
  EXPECT_NE(ErrorOf(DeviceSet::Parse("")).find("no devices given"), std::string::npos);
  EXPECT_NE(ErrorOf(DeviceSet::Parse("cpu:0")).find("'cpu:0' requests 0 devices"),
            std::string::npos);
  EXPECT_NE(ErrorOf(DeviceSet::Parse("cpu:x")).find("cpu:x"), std::string::npos);
  EXPECT_NE(ErrorOf(DeviceSet::Parse("/job:a")).find("has no type"), std::string::npos);
  EXPECT_NE(ErrorOf(DeviceSet::Parse("cpu:1,/cpu:0")).find("given twice"), std::string::npos);
  EXPECT_NE(ErrorOf(DeviceSet::Parse("no_such.json")).find("no such file"), std::string::npos);
}

TEST(DeviceSet, PrefersGpusThenTheFirstTask) {
  DeviceSet set = llvm::cantFail(DeviceSet::Parse("cpu:1,/job:w/task:1/device:GPU:0,gpu:1"));
  EXPECT_TRUE(set.IsPreferred(1, 0));  // a GPU elsewhere before a CPU here
  EXPECT_TRUE(set.IsPreferred(2, 1));  // the GPU of the first device's task
  EXPECT_EQ(set.types()[0].text(), "GPU");
}

class ClusterFile : public testing::Test {
 protected:
  std::string Write(llvm::StringRef text) {
    std::string path = testing::TempDir() + "cluster.json";
    llvm::cantFail(WriteFile(path, text));
    return path;
  }
  std::string ErrorOfFile(llvm::StringRef text) { return ErrorOf(DeviceSet::Parse(Write(text))); }
  static constexpr const char* kJobs =
      R"("jobs": [{"name": "w", "tasks": 2, "devices": [{"type": "GPU", "count": 2,
                                                         "memory": "16 GB"}]}])";
};

TEST_F(ClusterFile, IsRead) {
  DeviceSet set = llvm::cantFail(DeviceSet::Parse(Write(
      std::string("{") + kJobs + R"(, "links": [{"between": ["/job:w/task:0", "/job:w/task:1"],
                                    "gigabytes_per_second": 12.5, "microseconds": 10}]})")));
  ASSERT_EQ(set.size(), 4);
  EXPECT_EQ(set.device(3).text, "/job:w/replica:0/task:1/device:GPU:1");
  EXPECT_EQ(set.device(3).memory, 16'000'000'000);
  EXPECT_EQ(set.links().size(), 4u);
  ASSERT_NE(set.FindLink(3, 0), nullptr);
  EXPECT_DOUBLE_EQ(set.FindLink(3, 0)->bytes_per_second, 12.5e9);
  EXPECT_EQ(set.FindLink(0, 1), nullptr);
}

TEST_F(ClusterFile, NamesThePlaceOfAnError) {
  auto with_links = [&](const char* links) {
    return ErrorOfFile(std::string("{") + kJobs + ", \"links\": [" + links + "]}");
  };
  const char* link = R"({"between": ["/task:0", "/task:1"], "gigabytes_per_second": 1})";
  EXPECT_NE(with_links((std::string(link) + "," + link).c_str()).find("links[1]: "),
            std::string::npos);
  EXPECT_NE(with_links(R"({"between": ["/task:0", "/task:7"], "gigabytes_per_second": 1})")
                .find("'/task:7' matches no device"),
            std::string::npos);
  EXPECT_NE(with_links(R"({"between": ["/task:0"]})").find("links[0]: expected"),
            std::string::npos);
  EXPECT_NE(ErrorOfFile("{").find("is not JSON"), std::string::npos);
  EXPECT_NE(ErrorOfFile("[]").find("\"jobs\""), std::string::npos);
  EXPECT_NE(ErrorOfFile(R"({"jobs": []})").find("has no devices"), std::string::npos);
  EXPECT_NE(ErrorOfFile(R"({"jobs": [{"name": "w", "devices": [{"type": "CPU"}]},
                                     {"name": "w", "devices": [{"type": "GPU"}]}]})")
                .find("jobs[1] ('w'): a job of this name exists already"),
            std::string::npos);
  EXPECT_NE(ErrorOfFile(R"({"jobs": [{"name": "w", "devices": [{"type": "GPU", "count": 0}]}]})")
                .find("'count'"),
            std::string::npos);
  EXPECT_NE(ErrorOfFile(R"({"jobs": [{"name": "w", "devices": [{"type": "GPU", "memory": "x"}]}]})")
                .find("'memory'"),
            std::string::npos);
}

}  // namespace
}  // namespace grapnel
