// Names as text output prints them.
#include "lib/ir/short_names.h"

#include <gtest/gtest.h>

namespace grapnel {
namespace {

const std::string kCell =
    "model/encoder/bidirectional/forward_lstm/while/lstm_cell/";  // 57 letters

TEST(ShortNamesTest, ShortNamesStay) {
  std::vector<std::string> known = {"model/dense/MatMul", "model/dense/BiasAdd"};
  ShortNames names(known, known);
  EXPECT_EQ(names.Of("model/dense/MatMul"), "model/dense/MatMul");
  EXPECT_EQ(names.Note(), "");
}

TEST(ShortNamesTest, TheScopeThatAllShareIsLeftOut) {
  std::vector<std::string> known = {"x", kCell + "MatMul_1", "model/encoder/Add"};
  ShortNames names(known, known);
  EXPECT_EQ(names.Note(), "names are without model/encoder/");
  EXPECT_EQ(names.Of(known[1]), "bidirectional/forward_lstm/while/lstm_cell/MatMul_1");
  EXPECT_EQ(names.Of("model/encoder/Add"), "Add");
  EXPECT_EQ(names.Of("x"), "x");
  EXPECT_EQ(names.InText("'^" + known[1] + ":1' is read 2 times"),
            "'^bidirectional/forward_lstm/while/lstm_cell/MatMul_1:1' is read 2 times");
}

TEST(ShortNamesTest, ANameThatWouldMeanAnotherNodeStays) {
  std::vector<std::string> known = {"Add", kCell + "MatMul_1", "model/encoder/Add"};
  ShortNames names(known, known);
  EXPECT_EQ(names.Of("model/encoder/Add"), "model/encoder/Add");
}

TEST(ShortNamesTest, TheEndOfALongName) {
  std::vector<std::string> known = {"other/x", kCell + "MatMul_1"};
  EXPECT_EQ(ShortNames(known, known).Of(known[1]),
            "encoder/bidirectional/forward_lstm/while/lstm_cell/MatMul_1");
}

TEST(ShortNamesTest, APatternIfTheEndIsNotOfOneNode) {
  std::string inner = "bidirectional/recurrent_layer/while/body/lstm_cell/MatMul_1";
  std::vector<std::string> known = {"first/" + inner, "second/" + inner, "x/y"};
  ShortNames names = ShortNames::WithScopes(known);
  EXPECT_EQ(names.Of(known[0]), "first/*/recurrent_layer/while/body/lstm_cell/MatMul_1");
  EXPECT_EQ(names.Of(known[1]), "second/*/recurrent_layer/while/body/lstm_cell/MatMul_1");
  // A name without parts.
  std::string argument = "sequential_bidirectional_backward_lstm_lstm_cell_biasadd_readvariableop";
  known = {argument, "x"};
  EXPECT_EQ(ShortNames::WithScopes(known).Of(argument),
            "*backward_lstm_lstm_cell_biasadd_readvariableop");
}

TEST(ShortNamesTest, AnEndThatOnlyOneNameHas) {
  ShortNames names = ShortNames::WithScopes({"call/a/x", "other/a/x", "call/y", "z"});
  EXPECT_EQ(names.EndOf("call/y", "y"), "y");
  EXPECT_EQ(names.EndOf("call/a/x", "a/x"), "call/a/x");
  EXPECT_EQ(names.EndOf("z", "z"), "z");
}

TEST(ShortNamesTest, UnknownNamesInATextStay) {
  std::vector<std::string> known = {kCell + "MatMul_1", "other/x"};
  std::string text = "see https://example.org/" + kCell + "MatMul_1/and/more";
  EXPECT_EQ(ShortNames::WithScopes(known).InText(text), text);
}

}  // namespace
}  // namespace grapnel
