// A failed queue op changes nothing. Not a text test because a graph's run ends with the first
// error (queue.gtxt has the rest).
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

TEST(KernelQueue, WhatIsRefusedChangesNothing) {
  Tensor queue = OpRun("FIFOQueueV2")
                     .Attr("component_types", attr::Types({proto::DT_FLOAT}))
                     .Attr("shapes", attr::Shapes({Shape::Scalar()}))
                     .Attr("capacity", attr::Int(3))
                     .Out({proto::DT_RESOURCE})
                     .One();
  auto put = [&](Tensor values) {
    return OpRun("QueueEnqueueManyV2").In(queue).In(std::move(values)).Out({}).ErrorText();
  };
  auto take = [&](int n) {
    return OpRun("QueueDequeueManyV2").In(queue).In(Ints({}, {n})).Out({proto::DT_FLOAT});
  };
  EXPECT_EQ(put(Floats({2}, {1, 2})), "no error");
  EXPECT_NE(put(Floats({2}, {3, 4})), "no error");
  EXPECT_NE(take(3).ErrorText(), "no error");
  EXPECT_EQ(OpRun("QueueCloseV2").In(queue).Out({}).ErrorText(), "no error");
  EXPECT_NE(put(Floats({1}, {5})), "no error");
  EXPECT_EQ(Values<float>(take(2).One()), (std::vector<float>{1, 2}));
}

// Together, padded to the larger size in each dimension, the two elements would be too large.
TEST(KernelQueue, ElementsThatCannotBeJoinedStay) {
  constexpr int64_t kMany = int64_t{1} << 40;
  Tensor queue = OpRun("PaddingFIFOQueueV2")
                     .Attr("component_types", attr::Types({proto::DT_FLOAT}))
                     .Attr("shapes", attr::Shapes({Shape::UnknownOfRank(2)}))
                     .Out({proto::DT_RESOURCE})
                     .One();
  for (std::vector<int64_t> dims : {std::vector<int64_t>{kMany, 0}, {0, kMany}}) {
    EXPECT_EQ(OpRun("QueueEnqueueV2").In(queue).In(Floats(dims, {})).Out({}).ErrorText(),
              "no error");
  }
  OpRun take = OpRun("QueueDequeueManyV2").In(queue).In(Ints({}, {2})).Out({proto::DT_FLOAT});
  EXPECT_NE(take.ErrorText(), "no error");
  EXPECT_EQ(Values<int32_t>(OpRun("QueueSizeV2").In(queue).Out({proto::DT_INT32}).One()),
            (std::vector<int32_t>{2}));
}

}  // namespace
}  // namespace grapnel
