// Datasets and iterators without functions; pipelines with functions are cases from TensorFlow in
// testdata.
#include <fstream>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using I = std::vector<int64_t>;

Tensor Number(int64_t value) { return Scalar<int64_t>(value); }

Tensor Range(int64_t stop) {
  return OpRun("RangeDataset")
      .Attr("output_types", attr::Types({proto::DT_INT64}))
      .In(Number(0))
      .In(Number(stop))
      .In(Number(1))
      .Out({proto::DT_VARIANT})
      .One();
}
OpRun Of(const char* op, Tensor dataset, std::vector<Tensor> more) {
  OpRun run(op);
  run.In(std::move(dataset));
  for (Tensor& input : more) run.In(std::move(input));
  return run.Out({proto::DT_VARIANT});
}
Tensor Iterator(Tensor dataset) {
  Tensor iterator = OpRun("AnonymousIteratorV3").Out({proto::DT_RESOURCE}).One();
  EXPECT_EQ(OpRun("MakeIterator").In(std::move(dataset)).In(iterator).Out({}).ErrorText(),
            "no error");
  return iterator;
}
OpRun Next(const Tensor& iterator) {
  return OpRun("IteratorGetNext").In(iterator).Out({proto::DT_INT64});
}
I All(Tensor dataset) {
  Tensor iterator = Iterator(std::move(dataset));
  I values;
  for (;;) {
    auto element = Next(iterator).Try();
    if (!element) {
      EXPECT_EQ(TextOf(element.takeError()),
                "end of sequence: iterator 'node' has no more elements");
      return values;
    }
    I part = Values<int64_t>((*element)[0]);
    values.insert(values.end(), part.begin(), part.end());
  }
}
int64_t Cardinality(Tensor dataset) {
  return Values<int64_t>(
      OpRun("DatasetCardinality").In(std::move(dataset)).Out({proto::DT_INT64}).One())[0];
}

TEST(KernelDataset, RepeatsCutsAndDealsOut) {
  EXPECT_EQ(All(Range(3)), (I{0, 1, 2}));
  EXPECT_EQ(All(Range(0)), I());
  EXPECT_EQ(All(Of("RepeatDataset", Range(2), {Number(2)}).One()), (I{0, 1, 0, 1}));
  EXPECT_EQ(All(Of("TakeDataset", Range(5), {Number(2)}).One()), (I{0, 1}));
  EXPECT_EQ(All(Of("SkipDataset", Range(5), {Number(3)}).One()), (I{3, 4}));
  EXPECT_EQ(All(Of("ShardDataset", Range(5), {Number(2), Number(1)}).One()), (I{1, 3}));
  EXPECT_EQ(Of("ShardDataset", Range(5), {Number(2), Number(2)}).ErrorText(),
            "shard 2 of 2: a number from 0 to one less was expected");
  // For ever nothing ends.
  EXPECT_EQ(All(Of("RepeatDataset", Range(0), {Number(-1)}).One()), I());
  EXPECT_EQ(Cardinality(Of("RepeatDataset", Range(1), {Number(-1)}).One()), -1);
  EXPECT_EQ(Cardinality(Of("UniqueDataset", Range(1), {}).One()), -2);
}

TEST(KernelDataset, BatchesOfOneShape) {
  Tensor batches = Of("BatchDatasetV2", Range(5), {Number(2), Scalar(false)}).One();
  EXPECT_EQ(Cardinality(batches), 3);
  EXPECT_EQ(All(batches), (I{0, 1, 2, 3, 4}));
  EXPECT_EQ(All(Of("BatchDatasetV2", Range(5), {Number(2), Scalar(true)}).One()), (I{0, 1, 2, 3}));
  EXPECT_EQ(Of("BatchDatasetV2", Range(5), {Number(0), Scalar(true)}).ErrorText(),
            "a batch of 0 elements: 1 or more were expected");
  Tensor uneven = Of("BatchDatasetV2", batches, {Number(3), Scalar(false)}).One();
  EXPECT_EQ(Next(Iterator(uneven)).ErrorText(),
            "component 0 of elements 0 and 2 of a batch is of different shapes, [2] and [1]");
}

// The numbers are TensorFlow's (see testdata/ops/ShuffleDataset); what is tested here is that each
// walk of one dataset goes on with the seeds.
TEST(KernelDataset, ShufflesAnewInEachWalk) {
  Tensor shuffled = Of("ShuffleDataset", Range(12), {Number(5), Number(5), Number(7)}).One();
  EXPECT_EQ(All(shuffled), (I{2, 1, 0, 5, 6, 9, 8, 11, 10, 4, 7, 3}));
  EXPECT_EQ(All(shuffled), (I{3, 2, 6, 1, 7, 4, 5, 9, 8, 0, 11, 10}));
}

TEST(KernelDataset, RemembersInMemoryOnly) {
  EXPECT_EQ(All(Of("CacheDataset", Range(2), {Scalar<std::string>("")}).One()), (I{0, 1}));
  EXPECT_EQ(Of("CacheDataset", Range(2), {Scalar<std::string>("/tmp/x")}).ErrorText(),
            "a dataset is cached in memory only: an empty filename was expected");
}

TEST(KernelDataset, SaysHowManyThereWere) {
  Tensor asserted = Of("AssertCardinalityDataset", Range(1), {Number(2)}).One();
  EXPECT_EQ(Cardinality(asserted), 2);
  Tensor iterator = Iterator(asserted);
  EXPECT_EQ(Next(iterator).ErrorText(), "no error");
  EXPECT_EQ(Next(iterator).ErrorText(), "the dataset has 1 elements, 2 were asserted");
  auto single = OpRun("DatasetToSingleElement").In(Range(2)).Out({proto::DT_INT64});
  EXPECT_EQ(single.ErrorText(), "the dataset has more than one element");
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
  auto lines = [&](const char* compression) {
    return OpRun("TextLineDataset")
        .In(Vec<std::string>({path}))
        .In(Scalar<std::string>(compression))
        .In(Number(0))
        .Out({proto::DT_VARIANT});
  };
  std::string end = "end of sequence: iterator 'node' has no more elements";
  EXPECT_EQ(texts(lines("").One()), "one||last|" + end);
  EXPECT_EQ(lines("LZ").ErrorText(), "compression_type 'LZ': '', 'GZIP' and 'ZLIB' are supported");
  auto fixed = [&](int64_t record) {
    OpRun run("FixedLengthRecordDataset");
    run.In(Vec<std::string>({path}));
    for (int64_t number : {int64_t{3}, record, int64_t{0}, int64_t{0}}) run.In(Number(number));
    return run.Out({proto::DT_VARIANT}).One();
  };
  EXPECT_EQ(texts(fixed(7)), "\r\n\nlast|" + end);
  EXPECT_EQ(texts(fixed(4)),
            path + ": 10 bytes: a header of 3, records of 4 and a footer of 0 were expected");
}

TEST(KernelDataset, SaysWhatIsNone) {
  EXPECT_EQ(Of("TakeDataset", Scalar(1.f), {Number(1)}).ErrorText(),
            "input 0: float[] 1: a dataset was expected");
  Tensor iterator = OpRun("AnonymousIteratorV3").Out({proto::DT_RESOURCE}).One();
  EXPECT_EQ(Next(iterator).ErrorText(),
            "iterator 'node' has no dataset yet: nothing has initialised it (MakeIterator)");
  Tensor none = OpRun("OptionalNone").Out({proto::DT_VARIANT}).One();
  EXPECT_EQ(OpRun("OptionalGetValue").In(none).Out({proto::DT_INT64}).ErrorText(),
            "the optional has no value");
}

}  // namespace
}  // namespace grapnel
