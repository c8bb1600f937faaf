#include "lib/exec/rendezvous.h"

#include <gtest/gtest.h>

#include <thread>

namespace grapnel {
namespace {

Tensor Number(int32_t value) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(proto::DT_INT32, {}));
  *tensor.data<int32_t>() = value;
  return tensor;
}

// The number that comes, or the error.
std::string Received(Rendezvous& rendezvous, const char* key) {
  auto value = rendezvous.Receive(key);
  return value ? std::to_string(*value->data<int32_t>()) : TextOf(value.takeError());
}

TEST(RendezvousTest, AValueWaitsForItsReceiver) {
  Rendezvous rendezvous;
  rendezvous.Begin(1);
  rendezvous.Send("a", Number(1));
  rendezvous.Send("b", Number(2));
  EXPECT_EQ(Received(rendezvous, "b"), "2");
  EXPECT_EQ(Received(rendezvous, "a"), "1");
}

TEST(RendezvousTest, AReceiverWaitsForItsValue) {
  Rendezvous rendezvous;
  rendezvous.Begin(2);
  std::string got;
  std::thread receiver([&] {
    got = Received(rendezvous, "a");
    rendezvous.End();
  });
  rendezvous.Send("a", Number(7));
  rendezvous.End();
  receiver.join();
  EXPECT_EQ(got, "7");
  EXPECT_EQ(rendezvous.failure(), "");
}

TEST(RendezvousTest, AloneNobodyIsWaitedFor) {
  Rendezvous rendezvous;
  EXPECT_EQ(Received(rendezvous, "a"), "nobody is left to send it");
}

TEST(RendezvousTest, PartsThatWaitForEachOtherStop) {
  Rendezvous rendezvous;
  for (int round = 0; round < 50; ++round) {
    rendezvous.Begin(2);
    std::string first, second;
    std::thread other([&] { first = Received(rendezvous, "a"); });
    second = Received(rendezvous, "b");
    other.join();
    EXPECT_EQ(first, "nobody is left to send it");
    EXPECT_EQ(second, "nobody is left to send it");
  }
}

TEST(RendezvousTest, AFailureWakesThoseThatWait) {
  Rendezvous rendezvous;
  rendezvous.Begin(2);
  std::string got;
  std::thread receiver([&] {
    got = Received(rendezvous, "a");
    rendezvous.End(got);
  });
  rendezvous.End("node 'x': failed");
  receiver.join();
  EXPECT_EQ(got, "stopped, because another device failed");
  EXPECT_EQ(rendezvous.failure(), "node 'x': failed");
  rendezvous.Begin(1);
  EXPECT_EQ(rendezvous.failure(), "");
}

}  // namespace
}  // namespace grapnel
