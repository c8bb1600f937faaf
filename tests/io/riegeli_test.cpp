// Riegeli record files: valid, damaged, truncated, and invalid on purpose.
#include "lib/io/riegeli.h"

#include "lib/io/riegeli_transposed.h"
#include "tests/io/riegeli_files.h"
#include "tests/io/testing.h"

namespace grapnel {
namespace {

RiegeliFile Open(const std::string& bytes) {
  return Get(RiegeliFile::Open(FileBytes::FromString(bytes, "x.cpb")));
}

std::string ReadError(const std::string& bytes, uint64_t position) {
  return ErrorOf(Open(bytes).Read(position));
}

std::string Noise(size_t size) {
  std::string bytes;
  uint32_t state = 7;
  for (size_t i = 0; i < size; ++i) {
    state = state * 1664525 + 1013904223;
    bytes.push_back(static_cast<char>(state >> 24));
  }
  return bytes;
}

TEST(Riegeli, ReadsRecordsAsTheyWereWritten) {
  std::vector<std::string> few = {"a", "", std::string(300, 'b'), "ccc"},
                           large = {Noise(200000), std::string(100000, 'x'), "end"};
  for (Compression compression :
       {Compression::kNone, Compression::kBrotli, Compression::kZstd, Compression::kSnappy}) {
    RiegeliWriter writer;
    uint64_t first = writer.Add(few, compression), second = writer.Add(large, compression);
    RiegeliFile file = Open(writer.bytes());
    EXPECT_TRUE(file.problems().empty());
    EXPECT_EQ(file.FirstPosition(), first);
    EXPECT_EQ(file.LastPosition(), second + 2);
    for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(Get(file.Read(first + i)), few[i]);
    for (size_t i = 0; i < large.size(); ++i) EXPECT_EQ(Get(file.Read(second + i)), large[i]);
    EXPECT_EQ(ErrorOf(file.Read(first + few.size())), "no record begins at 68");
  }
}

// The first group ends at every position around the end of a block: within, at and after its
// header.
TEST(Riegeli, GroupsEndAroundBlocks) {
  for (size_t size = 65536 - 200; size < 65536 + 60; ++size) {
    RiegeliWriter writer;
    uint64_t first = writer.Add({Noise(size)}), second = writer.Add({"next"});
    RiegeliFile file = Open(writer.bytes());
    ASSERT_TRUE(file.problems().empty()) << size << ": " << file.problems()[0];
    ASSERT_EQ(Get(file.Read(first)), Noise(size));
    ASSERT_EQ(Get(file.Read(second)), "next") << size;
  }
}

TEST(Riegeli, WhatIsDamagedIsLeftOut) {
  RiegeliWriter writer;
  uint64_t first = writer.Add({"first"}), second = writer.Add({Noise(100000)}),
           third = writer.Add({"third"});
  std::string bytes = writer.bytes();
  bytes[second + 1000] ^= 1;
  RiegeliFile file = Open(bytes);
  EXPECT_TRUE(file.problems().empty());
  EXPECT_EQ(Get(file.Read(first)), "first");
  EXPECT_EQ(ErrorOf(file.Read(second)), "the records at " + std::to_string(second) +
                                            ": the data is damaged (its hash differs)");
  EXPECT_EQ(Get(file.Read(third)), "third");

  // After a damaged header, block headers lead to the next group.
  bytes[second + 9] ^= 1;
  file = Open(bytes);
  ASSERT_EQ(file.problems().size(), 1u);
  EXPECT_EQ(file.problems()[0], "the header of the records at " + std::to_string(second) +
                                    " is damaged (its hash differs); the next records are at " +
                                    std::to_string(third));
  EXPECT_EQ(ErrorOf(file.Read(second)), "no record begins at " + std::to_string(second));
  EXPECT_EQ(Get(file.Read(third)), "third");
}

TEST(Riegeli, CutOffAnywhereTheRestIsRead) {
  RiegeliWriter writer;
  uint64_t first = writer.Add({"first"});
  size_t whole = writer.bytes().size();
  writer.Add({Noise(300)});
  for (size_t size = 0; size < writer.bytes().size(); ++size) {
    auto file = RiegeliFile::Open(FileBytes::FromString(writer.bytes().substr(0, size), "x"));
    if (size < 64) {
      EXPECT_EQ(ErrorOf(std::move(file)), "no group of its records can be read");
      continue;
    }
    ASSERT_EQ(file->HasRecords(), size >= whole);
    EXPECT_EQ(file->problems().empty(), size == 64 || size == whole) << size;
    if (file->HasRecords()) EXPECT_EQ(Get(file->Read(first)), "first");
  }
}

// A group's claimed sizes cost nothing until the data confirms them.
TEST(Riegeli, ClaimsAreHeldAgainstTheData) {
  auto error = [](char type, const std::string& data, uint64_t records, uint64_t size) {
    RiegeliWriter writer;
    return ReadError(writer.bytes(), writer.AddGroup(type, data, records, size)) +
           ReadError(writer.bytes(), 64);
  };
  uint64_t huge = uint64_t{1} << 60;
  std::string plain = std::string("\0\x01\x03", 3) + "abc";
  EXPECT_NE(error('r', plain, 1, huge).find("the records claim to take 1.2 EB"), std::string::npos)
      << error('r', plain, 1, huge);
  EXPECT_NE(error('r', plain, 1, 2)
                .find("the sizes of the records do not add up to the size in the header"),
            std::string::npos)
      << error('r', plain, 1, 2);
  EXPECT_NE(error('r', plain, 2, 3).find("record 1 lies outside of the data"), std::string::npos);
  EXPECT_NE(error('r', std::string("\0\x01\x02", 3) + "abc", 1, 3)
                .find("the sizes of the records do not add up"),
            std::string::npos);
  EXPECT_NE(error('r', "q" + plain.substr(1), 1, 3).find("unknown compression (113)"),
            std::string::npos);
  EXPECT_NE(error('r', "", 1, 3).find("ends before the sizes"), std::string::npos);
  EXPECT_NE(error('t', "", 1, 3).find("ends before its header"), std::string::npos);
  // As many records as the file has bytes, and more.
  RiegeliWriter writer;
  writer.AddGroup('r', plain, huge >> 8, 3);
  EXPECT_EQ(Open(writer.bytes()).HasRecords(), false);
}

TEST(Riegeli, BombsEndWhereTheyShouldHave) {
  std::string zeros(50 << 20, '\0');
  for (Compression compression : {Compression::kBrotli, Compression::kZstd, Compression::kSnappy}) {
    std::string bomb = Compressed(compression, zeros);
    EXPECT_NE(ErrorOf(Decompress(compression, bomb, 1000)).find("does not expand to 1,000 bytes"),
              std::string::npos);
    EXPECT_NE(ErrorOf(Decompress(compression, bomb, uint64_t{1} << 60)).find("does not expand"),
              std::string::npos);
    EXPECT_EQ(Get(Decompress(compression, bomb, zeros.size())), zeros);
    std::string cut = bomb.substr(0, bomb.size() / 2), longer = bomb + "x";
    EXPECT_NE(ErrorOf(Decompress(compression, cut, zeros.size())).find("damaged"),
              std::string::npos);
    EXPECT_NE(ErrorOf(Decompress(compression, longer, zeros.size())).find("damaged"),
              std::string::npos);
  }
}

// Two states that follow each other without a transition.
TEST(Riegeli, StatesThatGoRoundAreAnError) {
  std::vector<size_t> ends;
  std::string header("\0\0\x02\0\0\x03\x02\0", 8);  // no buckets, no buffers, 2 x kNoOp
  std::string data(1, '\0');
  AppendVarint(&data, header.size());
  EXPECT_EQ(ErrorOf(ReadTransposed(data + header, 1, 1, 100, &ends)),
            "the header has no valid way out of a loop of states");
  // Transitions lead from a state to itself forever.
  header = std::string("\0\0\x01\0\0\0", 6);
  data.resize(1);
  AppendVarint(&data, header.size());
  EXPECT_EQ(ErrorOf(ReadTransposed(data + header + std::string(100, '\x03'), 1, 1, 100, &ends)),
            "the number or the sizes of the records differ from those in the header, or a message "
            "has no beginning");
}

}  // namespace
}  // namespace grapnel
