// Lists of tensors: what TensorList ops make, read, grow and join.
#include "lib/exec/tensor_list.h"

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using F = std::vector<float>;

Tensor AnyShape() { return Ints({}, {-1}); }
const TensorList& ListOf(const Tensor& handle) {
  return static_cast<const TensorList&>(**handle.data<ObjectRef>());
}

OpRun ListOp(const char* op) {
  return OpRun(op).Attr("element_dtype", attr::Type(proto::DT_FLOAT)).Out({proto::DT_FLOAT});
}
Tensor Reserved(Tensor shape, int size) {
  return ListOp("TensorListReserve")
      .In(std::move(shape))
      .In(Ints({}, {size}))
      .Out({proto::DT_VARIANT})
      .One();
}
Tensor FromRows(Tensor rows) {
  return ListOp("TensorListFromTensor")
      .In(std::move(rows))
      .In(AnyShape())
      .Out({proto::DT_VARIANT})
      .One();
}
OpRun Stack(Tensor list, Tensor shape) {
  return ListOp("TensorListStack").In(std::move(list)).In(std::move(shape));
}

TEST(KernelTensorList, RowsOfATensorAndBack) {
  Tensor list = FromRows(Iota<float>({3, 2}));
  EXPECT_EQ(ListOf(list).tensors.size(), 3u);
  EXPECT_EQ(Values<float>(Stack(list, AnyShape()).One()), (F{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(list.ToString(), "variant[] list of 3 float?");
  EXPECT_EQ(DimsOf(Stack(FromRows(Iota<float>({0, 2})), Ints({1}, {2})).One()), (D{0, 2}));
}

TEST(KernelTensorList, WhatWasNeverSetIsZeros) {
  Tensor list = Reserved(Ints({1}, {2}), 2);
  list = ListOp("TensorListSetItem")
             .In(list)
             .In(Ints({}, {1}))
             .In(Iota<float>({2}))
             .Out({proto::DT_VARIANT})
             .One();
  EXPECT_EQ(Values<float>(Stack(list, AnyShape()).One()), (F{0, 0, 0, 1}));
  auto first = ListOp("TensorListGetItem").In(list).In(Ints({}, {0})).In(AnyShape());
  EXPECT_EQ(Values<float>(first.One()), (F{0, 0}));
  auto unknown =
      ListOp("TensorListGetItem").In(Reserved(AnyShape(), 1)).In(Ints({}, {0})).In(AnyShape());
  EXPECT_EQ(unknown.ErrorText(), "an element was never set, and its shape ? is not known in full");
}

// A list that somebody else still holds must not change under him.
TEST(KernelTensorList, WritesToACopyWhenShared) {
  Tensor before = Reserved(Ints({1}, {1}), 1);
  Tensor after = ListOp("TensorListSetItem")
                     .In(before)
                     .In(Ints({}, {0}))
                     .In(Iota<float>({1}))
                     .Out({proto::DT_VARIANT})
                     .One();
  EXPECT_FALSE(ListOf(before).tensors[0]);
  EXPECT_TRUE(ListOf(after).tensors[0]);
}

TEST(KernelTensorList, GrowsAndShrinksAtItsEnd) {
  Tensor list =
      ListOp("EmptyTensorList").In(Ints({1}, {2})).In(Ints({}, {1})).Out({proto::DT_VARIANT}).One();
  auto push = [](Tensor to, Tensor item) {
    return ListOp("TensorListPushBack")
        .In(std::move(to))
        .In(std::move(item))
        .Out({proto::DT_VARIANT});
  };
  EXPECT_EQ(push(list, Iota<float>({3})).ErrorText(),
            "an element of shape [3] for a list of elements of shape [2]");
  list = push(list, Iota<float>({2})).One();
  EXPECT_EQ(push(list, Iota<float>({2})).ErrorText(),
            "the list is full: it holds 1 elements at most");
  auto popped = ListOp("TensorListPopBack")
                    .In(list)
                    .In(AnyShape())
                    .Out({proto::DT_VARIANT, proto::DT_FLOAT})
                    .All();
  EXPECT_EQ(Values<float>(popped[1]), (F{0, 1}));
  auto empty = ListOp("TensorListPopBack")
                   .In(popped[0])
                   .In(AnyShape())
                   .Out({proto::DT_VARIANT, proto::DT_FLOAT});
  EXPECT_EQ(empty.ErrorText(), "the list is empty");
}

TEST(KernelTensorList, GathersScattersAndJoins) {
  Tensor list = ListOp("TensorListScatterV2")
                    .In(Iota<float>({2, 1}))
                    .In(Ints({2}, {2, 0}))
                    .In(Ints({1}, {1}))
                    .In(Ints({}, {-1}))
                    .Out({proto::DT_VARIANT})
                    .One();
  EXPECT_EQ(Values<float>(Stack(list, AnyShape()).One()), (F{1, 0, 0}));
  auto picked = ListOp("TensorListGather").In(list).In(Ints({2}, {0, 2})).In(AnyShape());
  EXPECT_EQ(Values<float>(picked.One()), (F{1, 0}));
  EXPECT_EQ(ListOp("TensorListGather").In(list).In(Ints({1}, {3})).In(AnyShape()).ErrorText(),
            "element 3 of a list of 3");
  Tensor parts = ListOp("TensorListSplit")
                     .In(Iota<float>({3, 2}))
                     .In(AnyShape())
                     .In(Vec<int64_t>({1, 2}))
                     .Out({proto::DT_VARIANT})
                     .One();
  auto joined = ListOp("TensorListConcatV2")
                    .In(parts)
                    .In(AnyShape())
                    .In(Vec<int64_t>({}))
                    .Out({proto::DT_FLOAT, proto::DT_INT64})
                    .All();
  EXPECT_EQ(Values<float>(joined[0]), (F{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Values<int64_t>(joined[1]), (D{1, 2}));
  auto uneven = ListOp("TensorListSplit")
                    .In(Iota<float>({3, 2}))
                    .In(AnyShape())
                    .In(Vec<int64_t>({1, 1}))
                    .Out({proto::DT_VARIANT});
  EXPECT_EQ(uneven.ErrorText(), "parts of 2 rows in all out of a tensor of shape [3,2]");
}

TEST(KernelTensorList, SaysWhatIsNoList) {
  EXPECT_EQ(OpRun("TensorListLength").In(Iota<float>({1})).Out({proto::DT_INT32}).ErrorText(),
            "input 0 is float[1] [0], a list of tensors was expected");
}

}  // namespace
}  // namespace grapnel
