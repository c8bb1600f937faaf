// Files, patterns, tables and maps: errors for bad input.
#include "lib/support/file.h"

#include <cmath>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using S = std::vector<std::string>;

Tensor Text(std::string text) { return Scalar<std::string>(std::move(text)); }

std::string Folder() { return JoinPath(testing::TempDir(), "kernel_file_test"); }

void Write(const std::string& path, const char* text) {
  EXPECT_EQ(OpRun("WriteFile").In(Text(path)).In(Text(text)).Out({}).ErrorText(), "no error");
}

TEST(KernelFile, WritesReadsAndFinds) {
  std::string one = JoinPath(Folder(), "a/one.txt"), two = JoinPath(Folder(), "b/two.txt");
  Write(one, "x\ny\nz\n");
  Write(two, "z\nw\nx");
  EXPECT_EQ(Values<std::string>(OpRun("ReadFile").In(Text(two)).One()), (S{"z\nw\nx"}));
  auto matching = [](S patterns) {
    return Values<std::string>(
        OpRun("MatchingFiles").In(Vec<std::string>(std::move(patterns))).One());
  };
  EXPECT_EQ(matching({Folder() + "/*/*.txt"}), (S{one, two}));
  EXPECT_EQ(matching({Folder() + "/[b]/t?o.txt", one}), (S{one, two}));
  EXPECT_EQ(matching({Folder() + "/none/*", "", "/"}), S());
  auto out = OpRun("GenerateVocabRemapping")
                 .In(Text(one))
                 .In(Text(two))
                 .Attr("num_new_vocab", attr::Int(2))
                 .Attr("new_vocab_offset", attr::Int(1))
                 .Out({proto::DT_INT64, proto::DT_INT32})
                 .All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{-1, 0}));
  EXPECT_EQ(Values<int32_t>(out[1]), (std::vector<int32_t>{1}));
}

TEST(KernelFile, Errors) {
  std::string none = JoinPath(Folder(), "none.txt"), one = JoinPath(Folder(), "a/one.txt");
  EXPECT_NE(OpRun("ReadFile").In(Text(none)).ErrorText(), "no error");
  EXPECT_EQ(OpRun("ReadFile").In(Vec<std::string>({"a", "b"})).ErrorText(),
            "filename must have one element, got shape [2]");
  auto files = [](std::string pattern) {
    Tensor iterator = OpRun("AnonymousIteratorV3").Out({proto::DT_RESOURCE}).One();
    OpRun make("MatchingFilesDataset");
    Tensor dataset = make.In(Text(std::move(pattern))).Out({proto::DT_VARIANT}).One();
    llvm::cantFail(OpRun("MakeIterator").In(dataset).In(iterator).Out({}).Try());
    return OpRun("IteratorGetNext").In(iterator).Out({proto::DT_STRING}).ErrorText();
  };
  EXPECT_EQ(files(none + "/*"), none + ": no such folder");
  EXPECT_EQ(files(Folder() + "/nothing*"), "end of sequence: iterator 'node' has no more elements");
  Write(one, "x\n");
  EXPECT_EQ(OpRun("GenerateVocabRemapping")
                .In(Text(one))
                .In(Text(one))
                .Attr("num_new_vocab", attr::Int(INT64_MAX))
                .Attr("new_vocab_offset", attr::Int(1))
                .Out({proto::DT_INT64, proto::DT_INT32})
                .ErrorText(),
            one +
                ": the vocabulary has 1 words (lines), but 9223372036854775807 words from word 1 "
                "on were expected");
}

TEST(KernelDenseTable, KeysThatMarkBuckets) {
  auto make = [](Tensor empty, Tensor deleted) {
    OpRun run("AnonymousMutableDenseHashTable");
    run.In(std::move(empty)).In(std::move(deleted));
    run.Attr("key_dtype", attr::Type(proto::DT_INT64));
    run.Attr("value_dtype", attr::Type(proto::DT_INT64));
    return run.Out({proto::DT_RESOURCE});
  };
  EXPECT_EQ(make(Scalar<int64_t>(1), Scalar<int64_t>(1)).ErrorText(),
            "empty and deleted keys must differ and be of one shape");
  Tensor table = make(Scalar<int64_t>(0), Scalar<int64_t>(-1)).One();
  auto insert = [&](const Tensor& keys) {
    Tensor values = Vec<int64_t>(D(keys.num_elements(), 5));
    return OpRun("LookupTableInsertV2").In(table).In(keys).In(values).Out({}).ErrorText();
  };
  EXPECT_EQ(insert(Vec<int64_t>({3, 4})), "no error");
  EXPECT_EQ(insert(Vec<int64_t>({3, 0})), "using the empty_key as a table key is not allowed");
  EXPECT_EQ(insert(Vec<int64_t>({3, -1})), "using the deleted_key as a table key is not allowed");
  Tensor wide = make(Vec<int64_t>({0, 0}), Vec<int64_t>({1, 1})).One();
  EXPECT_EQ(OpRun("LookupTableFindV2")
                .In(wide)
                .In(Make<int64_t>({1, 3}, {1, 2, 3}))
                .In(Scalar<int64_t>(9))
                .Out({proto::DT_INT64})
                .ErrorText(),
            "a tensor of shape [1,3] does not consist of keys of shape [2]");
}

TEST(KernelTensorMap, Errors) {
  Tensor map = OpRun("EmptyTensorMap").Out({proto::DT_VARIANT}).One();
  Tensor key = Scalar<int64_t>(1);
  EXPECT_EQ(OpRun("TensorMapLookup").In(map).In(key).Out({proto::DT_FLOAT}).ErrorText(),
            "trying to lookup non-existent key int64[] 1");
  EXPECT_EQ(OpRun("TensorMapErase").In(map).In(key).Out({proto::DT_VARIANT}).ErrorText(),
            "trying to erase non-existent item int64[] 1");
  EXPECT_EQ(OpRun("TensorMapStackKeys").In(map).Out({proto::DT_INT64}).ErrorText(),
            "the map has no keys to stack");
}

// Returns all records as "text/number|", followed by the final error.
std::string Records(const std::string& path, const char* delimiter, Tensor otherwise,
                    D excluded = {}) {
  OpRun run("CSVDatasetV2");
  run.In(Text(path)).In(Text("")).In(Scalar<int64_t>(0)).In(Scalar(true)).In(Text(delimiter));
  run.In(Scalar(true)).In(Text("NA")).In(Vec<int64_t>({})).In(Vec<std::string>({"none"}));
  run.In(std::move(otherwise)).In(Vec<int64_t>(std::move(excluded)));
  run.Attr("output_types", attr::Types({proto::DT_STRING, proto::DT_INT32}));
  auto dataset = run.Out({proto::DT_VARIANT}).Try();
  if (!dataset) return TextOf(dataset.takeError());
  Tensor iterator = OpRun("AnonymousIteratorV3").Out({proto::DT_RESOURCE}).One();
  llvm::cantFail(OpRun("MakeIterator").In((*dataset)[0]).In(iterator).Out({}).Try());
  std::string all;
  for (;;) {
    auto next =
        OpRun("IteratorGetNext").In(iterator).Out({proto::DT_STRING, proto::DT_INT32}).Try();
    if (!next) return all + TextOf(next.takeError());
    all += *(*next)[0].data<std::string>() + "/" + std::to_string((*next)[1].IntAt(0)) + "|";
  }
}

TEST(KernelCsvDataset, RecordsOfFiles) {
  std::string path = JoinPath(Folder(), "table.csv");
  std::string end = "end of sequence: iterator 'node' has no more elements";
  Write(path, "name,number\n\"two\nlines\",1\r\nNA,\nlast,3");
  EXPECT_EQ(Records(path, ",", Vec<int32_t>({7})), "two\nlines/1|none/7|last/3|" + end);
  EXPECT_EQ(Records(path, ",", Vec<int32_t>({})),
            "two\nlines/1|" + path + ": field 1 is required but missing in record");
  EXPECT_EQ(Records(path, ";", Vec<int32_t>({})),
            path + ": quote inside a string has to be escaped by another quote");
  EXPECT_EQ(Records(path, ",,", Vec<int32_t>({})), "field_delim should be only 1 char, not ',,'");
  Write(path, "h\na,x,5\nb,y\n");
  EXPECT_EQ(Records(path, ",", Vec<int32_t>({7}), {1}),
            "a/5|" + path + ": expect 2 fields but have 1 in record");
  EXPECT_EQ(
      Records(path, ",", Vec<int32_t>({7}), {1, 1}),
      "select_cols and exclude_cols must be strictly ascending and not negative, got 1 at index "
      "1");
}

}  // namespace
}  // namespace grapnel
