// Hashes of strings.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

TEST(KernelStringHash, IsTensorFlows) {
  auto hash = [](const char* op, std::string text) {
    return *OpRun(op)
                .In(Vec<std::string>({std::move(text)}))
                .Attr("num_buckets", attr::Int(int64_t{1} << 62))
                .Attr("key", attr::Ints({1, 2}))
                .Out({proto::DT_INT64})
                .One()
                .data<int64_t>();
  };
  EXPECT_EQ(hash("StringToHashBucketFast", ""), 1936946117179621455);
  EXPECT_EQ(hash("StringToHashBucketFast", "abc"), 2640714258260161385);
  EXPECT_EQ(hash("StringToHashBucketFast", "hello world"), 1769834696496558107);
  EXPECT_EQ(hash("StringToHashBucketFast", std::string(20, 'x')), 3621402210320469444);
  EXPECT_EQ(hash("StringToHashBucketFast", std::string(40, 'y')), 276292113409495006);
  EXPECT_EQ(hash("StringToHashBucketFast", std::string(200, 'w')), 526236191678461824);
  auto of_number = [](auto number) {
    return *OpRun("_TensorToHashBucketFast")
                .In(Vec<decltype(number)>({number}))
                .Attr("num_buckets", attr::Int(int64_t{1} << 62))
                .Out({proto::DT_INT64})
                .One()
                .template data<int64_t>();
  };
  EXPECT_EQ(of_number(int8_t{-128}), hash("StringToHashBucketFast", "-128"));
  EXPECT_EQ(of_number(int64_t{-7}), hash("StringToHashBucketFast", "-7"));
  EXPECT_EQ(of_number(~uint64_t{0}), hash("StringToHashBucketFast", "18446744073709551615"));
  EXPECT_EQ(hash("StringToHashBucketStrong", "abc"), 1250540936487842205);
  EXPECT_EQ(OpRun("StringToHashBucketStrong")
                .In(Vec<std::string>({"a"}))
                .Attr("num_buckets", attr::Int(2))
                .Attr("key", attr::Ints({1}))
                .Out({proto::DT_INT64})
                .ErrorText(),
            "key must have 2 numbers, not 1");
  EXPECT_EQ(OpRun("StringToHashBucketFast")
                .In(Vec<std::string>({"a"}))
                .Out({proto::DT_INT64})
                .ErrorText(),
            "num_buckets must be at least 1, got 0");
}

}  // namespace
}  // namespace grapnel
