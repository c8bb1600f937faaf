#include "lib/render/columns.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "lib/render/engine/engine.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

// Returns what the page reads from a table, {column: values}.
llvm::json::Object Read(const std::string& table) {
  auto text = CallScript("for_tests.js", "tableColumns", {llvm::encodeBase64(table)});
  if (!text) {
    ADD_FAILURE() << llvm::toString(text.takeError());
    return {};
  }
  return *llvm::cantFail(llvm::json::parse(*text)).getAsObject();
}

std::vector<int32_t> Numbers(const llvm::json::Object& columns, llvm::StringRef name) {
  std::vector<int32_t> numbers;
  const llvm::json::Array* array = columns.getArray(name);
  if (!array) return numbers;
  for (const llvm::json::Value& value : *array)
    numbers.push_back(static_cast<int32_t>(*value.getAsInteger()));
  return numbers;
}

std::vector<std::string> Texts(const llvm::json::Object& columns, llvm::StringRef name) {
  std::vector<std::string> texts;
  const llvm::json::Array* array = columns.getArray(name);
  if (!array) return texts;
  for (const llvm::json::Value& value : *array) texts.push_back(value.getAsString()->str());
  return texts;
}

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
constexpr int32_t kMost = std::numeric_limits<int32_t>::max();

TEST(Columns, NumbersAndStepsAreReadBack) {
  std::vector<int32_t> numbers = {0, 1, -1, 63, -64, 64, 127, 128, 16384, -16385, kLeast, kMost, 0};
  ColumnWriter writer;
  writer.Numbers("numbers", numbers);
  writer.Steps("steps", numbers);
  llvm::json::Object columns = Read(std::move(writer).Finish());
  EXPECT_EQ(Numbers(columns, "numbers"), numbers);
  EXPECT_EQ(Numbers(columns, "steps"), numbers);
}

TEST(Columns, RandomNumbersAreReadBack) {
  std::mt19937 random(1);
  std::vector<int32_t> numbers(20000);
  for (int32_t& number : numbers) number = static_cast<int32_t>(random()) >> random() % 32;
  ColumnWriter writer;
  writer.Numbers("numbers", numbers);
  writer.Steps("steps", numbers);
  llvm::json::Object columns = Read(std::move(writer).Finish());
  EXPECT_EQ(Numbers(columns, "numbers"), numbers);
  EXPECT_EQ(Numbers(columns, "steps"), numbers);
}

// Letters of one to four bytes, whose first bytes are equal or not.
TEST(Columns, TextsAreReadBack) {
  std::vector<llvm::StringRef> texts = {"",
                                        "model/layer_1/kernel",
                                        "model/layer_1/bias",
                                        "model",
                                        "model",
                                        "",
                                        "\xc3\xa9t\xc3\xa9",
                                        "\xc3\xa8re",
                                        "\xe2\x82\xac\xe2\x82\xac",
                                        "\xe2\x82\xad",
                                        "\xf0\x9f\x98\x80 x",
                                        "\xf0\x9f\x98\x81 x",
                                        "\xf0\x9f\x98\x81 y",
                                        "\"quoted\"\\\x01"};
  ColumnWriter writer;
  writer.Texts("texts", texts);
  llvm::json::Object columns = Read(std::move(writer).Finish());
  std::vector<std::string> expected(texts.begin(), texts.end());
  EXPECT_EQ(Texts(columns, "texts"), expected);
}

TEST(Columns, LongTextsAreReadBack) {
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i)
    texts.push_back(std::string(i * 100, static_cast<char>('a' + i % 26)) + "\xf0\x9f\x98\x80");
  ColumnWriter writer;
  writer.Texts("texts", std::vector<llvm::StringRef>(texts.begin(), texts.end()));
  EXPECT_EQ(Texts(Read(std::move(writer).Finish()), "texts"), texts);
}

// Each size of the last group of base64.
TEST(Columns, AColumnOfZerosIsLeftOut) {
  for (int size : {1, 2, 3, 4}) {
    ColumnWriter writer;
    writer.Numbers("zeros", {0, 0, 0});
    writer.Texts("empty", {"", ""});
    writer.Steps("no rows", {});
    writer.Numbers("there", std::vector<int32_t>(size, 7));
    llvm::json::Object columns = Read(std::move(writer).Finish());
    EXPECT_EQ(columns.size(), 1u);
    EXPECT_EQ(Numbers(columns, "there"), std::vector<int32_t>(size, 7));
  }
}

TEST(Columns, NamesThatBeginAlikeTakeLittleRoom) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("model/stage_1/block_10/op_" + std::to_string(i));
  ColumnWriter writer;
  writer.Texts("name", std::vector<llvm::StringRef>(names.begin(), names.end()));
  EXPECT_LT(std::move(writer).Finish().size(), names.size() * 5);
}

}  // namespace
}  // namespace grapnel
