// Queues: their orders, batches, and errors where TensorFlow would wait.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using F = std::vector<float>;

OpRun Queue(const char* op) {
  return OpRun(op)
      .Attr("component_types", attr::Types({proto::DT_FLOAT}))
      .Attr("shapes", attr::Shapes({Shape::Scalar()}))
      .Attr("capacity", attr::Int(3))
      .Attr("shared_name", attr::String("q"))
      .Out({proto::DT_RESOURCE});
}
std::string Put(const Tensor& queue, Tensor value, const char* op = "QueueEnqueueV2") {
  return OpRun(op).In(queue).In(std::move(value)).Out({}).ErrorText();
}
OpRun Take(const Tensor& queue) { return OpRun("QueueDequeueV2").In(queue).Out({proto::DT_FLOAT}); }
OpRun TakeMany(const Tensor& queue, int n, const char* op = "QueueDequeueManyV2") {
  return OpRun(op).In(queue).In(Ints({}, {n})).Out({proto::DT_FLOAT});
}
std::string Close(const Tensor& queue) {
  return OpRun("QueueCloseV2").In(queue).Out({}).ErrorText();
}

TEST(KernelQueue, FirstInFirstOut) {
  Tensor queue = Queue("FIFOQueueV2").One();
  EXPECT_EQ(Put(queue, Floats({3}, {1, 2, 3}), "QueueEnqueueManyV2"), "no error");
  EXPECT_EQ(Values<float>(Take(queue).One()), (F{1}));
  EXPECT_EQ(Values<float>(TakeMany(queue, 2).One()), (F{2, 3}));
  EXPECT_EQ(Values<int32_t>(OpRun("QueueSizeV2").In(queue).Out({proto::DT_INT32}).One())[0], 0);
}

// No kernel waits: what another run would have to do is an error, and changes nothing.
TEST(KernelQueue, NeverWaits) {
  Tensor queue = Queue("FIFOQueueV2").One();
  EXPECT_EQ(Take(queue).ErrorText(),
            "queue 'q' has 0 elements, 1 were asked for: nothing in this run could add more");
  EXPECT_EQ(Put(queue, Scalar(1.f)), "no error");
  EXPECT_EQ(TakeMany(queue, 2).ErrorText(),
            "queue 'q' has 1 elements, 2 were asked for: nothing in this run could add more");
  EXPECT_EQ(Put(queue, Floats({3}, {1, 2, 3}), "QueueEnqueueManyV2"),
            "3 elements for queue 'q', which has 1 of at most 3: nothing in this run could make "
            "room");
  EXPECT_EQ(Close(queue), "no error");
  EXPECT_EQ(Put(queue, Scalar(1.f)), "queue 'q' is closed");
  EXPECT_EQ(TakeMany(queue, 2).ErrorText(),
            "queue 'q' is closed and has 1 elements, 2 were asked for");
  EXPECT_EQ(Values<float>(TakeMany(queue, 2, "QueueDequeueUpToV2").One()), (F{1}));
  EXPECT_EQ(Close(queue), "queue 'q' is closed already");
}

TEST(KernelQueue, PadsToTheLongest) {
  Tensor queue =
      Queue("PaddingFIFOQueueV2").Attr("shapes", attr::Shapes({Shape::UnknownOfRank(1)})).One();
  EXPECT_EQ(Put(queue, Floats({1}, {1})), "no error");
  EXPECT_EQ(Put(queue, Floats({2}, {2, 3})), "no error");
  EXPECT_EQ(Put(queue, Floats({1, 1}, {2})),
            "component 0 is of shape [1,1], queue 'q' expects [?]");
  EXPECT_EQ(Values<float>(TakeMany(queue, 2).One()), (F{1, 0, 2, 3}));
}

TEST(KernelQueue, KeepsSomeBackWhenItShuffles) {
  Tensor queue = Queue("RandomShuffleQueueV2")
                     .Attr("min_after_dequeue", attr::Int(2))
                     .Attr("seed", attr::Int(1))
                     .One();
  EXPECT_EQ(Put(queue, Floats({3}, {1, 2, 3}), "QueueEnqueueManyV2"), "no error");
  float first = Values<float>(Take(queue).One())[0];
  EXPECT_EQ(Take(queue).ErrorText(),
            "queue 'q' has 2 elements (it keeps 2 back), 1 were asked for: nothing in this run "
            "could add more");
  EXPECT_EQ(Close(queue), "no error");
  F rest = Values<float>(TakeMany(queue, 2).One());
  EXPECT_EQ(first + rest[0] + rest[1], 6);
  EXPECT_EQ(Queue("RandomShuffleQueueV2").Attr("min_after_dequeue", attr::Int(3)).ErrorText(),
            "min_after_dequeue 3 for a capacity of 3");
}

TEST(KernelQueue, OrdersByPriority) {
  Tensor queue = Queue("PriorityQueueV2").One();
  for (int64_t priority : {5, 1, 3}) {
    std::string error = OpRun("QueueEnqueueV2")
                            .In(queue)
                            .In(Scalar(priority))
                            .In(Scalar(static_cast<float>(priority)))
                            .Out({})
                            .ErrorText();
    EXPECT_EQ(error, "no error");
  }
  auto lowest = OpRun("QueueDequeueV2").In(queue).Out({proto::DT_INT64, proto::DT_FLOAT}).All();
  EXPECT_EQ(Values<int64_t>(lowest[0])[0], 1);
  EXPECT_EQ(Values<float>(lowest[1]), (F{1}));
}

TEST(KernelQueue, SaysWhatIsNone) {
  EXPECT_EQ(Take(Scalar(1.f)).ErrorText(), "input 0 is float[] 1, a queue was expected");
}

}  // namespace
}  // namespace grapnel
