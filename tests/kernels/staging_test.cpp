// A failed staging op changes nothing. Not a text test because a graph's run ends with the first
// error (staging.gtxt has the rest).
#include "lib/exec/session.h"
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

constexpr DataType kFloat = proto::DT_FLOAT, kInt = proto::DT_INT32;

OpRun On(Session& session, const char* op) {
  return OpRun(op)
      .InSession(session)
      .Attr("shared_name", attr::String("area"))
      .Attr("dtypes", attr::Types({kFloat, kFloat}));
}

TEST(KernelStaging, WhatIsRefusedChangesNothing) {
  Session session;
  EXPECT_EQ(On(session, "Stage").In(Floats({1}, {1})).In(Floats({1}, {2})).Out({}).ErrorText(),
            "no error");
  EXPECT_NE(On(session, "Unstage").Out({kFloat}).ErrorText(), "no error");
  EXPECT_NE(On(session, "Unstage").Out({kFloat, kInt}).ErrorText(), "no error");
  EXPECT_EQ(Values<float>(On(session, "Unstage").Out({kFloat, kFloat}).All()[1]),
            (std::vector<float>{2}));
}

TEST(KernelStaging, WhatIsRefusedChangesNothingInAMap) {
  Session session;
  Tensor key = Scalar<int64_t>(5);
  EXPECT_EQ(On(session, "MapStage")
                .In(key)
                .In(Ints({2}, {0, 1}))
                .In(Floats({1}, {1}))
                .In(Floats({1}, {2}))
                .Out({})
                .ErrorText(),
            "no error");
  auto take = [&](std::vector<int> indices) {
    return On(session, "MapUnstage").In(key).In(Vec<int32_t>(std::move(indices)));
  };
  auto take_any = [&](std::vector<int> indices) {
    return On(session, "MapUnstageNoKey").In(Vec<int32_t>(std::move(indices)));
  };
  EXPECT_NE(take({0}).Out({kInt}).ErrorText(), "no error");
  EXPECT_NE(take_any({0}).Out({proto::DT_INT64, kInt}).ErrorText(), "no error");
  EXPECT_EQ(Values<float>(take({1}).Out({kFloat}).One()), (std::vector<float>{2}));
  EXPECT_NE(take({0, 1}).Out({kFloat, kFloat}).ErrorText(), "no error");
  EXPECT_EQ(Values<float>(take_any({0}).Out({proto::DT_INT64, kFloat}).All()[1]),
            (std::vector<float>{1}));
  EXPECT_EQ(Values<int32_t>(On(session, "MapSize").Out({kInt}).One()), (std::vector<int32_t>{0}));
}

}  // namespace
}  // namespace grapnel
