// Datasets that read files. dataset.gtxt has the others without functions; pipelines with functions
// are recorded TensorFlow cases in testdata.
#include <fstream>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

Tensor Number(int64_t value) { return Scalar<int64_t>(value); }

Tensor Iterator(Tensor dataset) {
  Tensor iterator = OpRun("AnonymousIteratorV3").Out({proto::DT_RESOURCE}).One();
  EXPECT_EQ(OpRun("MakeIterator").In(std::move(dataset)).In(iterator).Out({}).ErrorText(),
            "no error");
  return iterator;
}

TEST(KernelDataset, ReadsLinesAndRecordsOfOneLength) {
  std::string path = testing::TempDir() + "/grapnel_dataset_lines";
  std::ofstream(path) << "one\r\n\nlast";
  auto texts = [](Tensor dataset) {
    Tensor iterator = Iterator(std::move(dataset));
    std::string all;
    for (;;) {
      auto next = OpRun("IteratorGetNext").In(iterator).Out({proto::DT_STRING}).Try();
      if (!next) return all + TextOf(next.takeError());
      all += *(*next)[0].data<std::string>() + "|";
    }
  };
  auto lines = [&] {
    return OpRun("TextLineDataset")
        .In(Vec<std::string>({path}))
        .In(Scalar<std::string>(""))
        .In(Number(0))
        .Out({proto::DT_VARIANT})
        .One();
  };
  std::string end = "end of sequence: iterator 'node' has no more elements";
  EXPECT_EQ(texts(lines()), "one||last|" + end);
  auto fixed = [&](int64_t record) {
    OpRun run("FixedLengthRecordDataset");
    run.In(Vec<std::string>({path}));
    for (int64_t number : {int64_t{3}, record, int64_t{0}, int64_t{0}}) run.In(Number(number));
    return run.Out({proto::DT_VARIANT}).One();
  };
  EXPECT_EQ(texts(fixed(7)), "\r\n\nlast|" + end);
  EXPECT_EQ(texts(fixed(4)), path +
                                 ": the file has 10 bytes, which are not a header of 3, records of "
                                 "4 and a footer of 0 bytes");
}

}  // namespace
}  // namespace grapnel
