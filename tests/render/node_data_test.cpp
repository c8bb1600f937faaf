#include "lib/render/node_data.h"

#include <gtest/gtest.h>

#include "lib/render/css_color.h"

namespace grapnel {
namespace {

std::vector<NodeData> Read(llvm::StringRef text) {
  auto data = ReadNodeData(text, "data");
  if (data) return std::move(*data);
  ADD_FAILURE() << TextOf(data.takeError());
  return {};
}

// "name: node=value node=value" for each.
std::string Told(llvm::StringRef text) {
  std::string told;
  for (const NodeData& data : Read(text)) {
    told += data.name + ":";
    for (const NodeData::Entry& entry : data.entries)
      told += " " + (entry.graph.empty() ? "" : entry.graph + "|") + entry.node + "=" +
              ValueText(entry.number.value);
    told += data.not_numbers ? " and " + std::to_string(data.not_numbers) + " not;" : ";";
  }
  return told;
}

TEST(NodeData, ColumnsOfATableAreEachASet) {
  EXPECT_EQ(Told("node,ms,op,MB\r\na,1.5,Conv,2\r\n\r\nb,,Relu,3\r\n"), "ms: a=1.5;MB: a=2 b=3;");
  EXPECT_EQ(Told("\xef\xbb\xbfnode\tms\na b\t1e3\n"), "ms: a b=1,000;");
  EXPECT_EQ(Told("node,ms\na,1\nb,inf\nc,slow"), "ms: a=1 and 2 not;");
  EXPECT_EQ(Told(",\na,1\n"), "data: a=1;") << "called after the file";
}

TEST(NodeData, QuotesHoldWhatWouldEndAField) {
  EXPECT_EQ(Told("node,\"ms, total\"\n\"a,\"\"b\"\"\",1\n"), "ms, total: a,\"b\"=1;");
  auto twice = ReadNodeData("node,ms\n\"a\nb\",1\nc,2\nc,3\n", "t.csv");
  EXPECT_EQ(TextOf(twice.takeError()), "t.csv: line 5: node 'c' is already on line 4");
}

TEST(NodeData, GraphsOfOneNameAreOneSet) {
  EXPECT_EQ(Told(R"({"g": {"results": {"y": {"value": 2}, "x": {"value": 1}}},
                     "f": {"results": {"z": {"value": 3}}}})"),
            "data: f|z=3 g|x=1 g|y=2;");
  EXPECT_EQ(Told(R"({"results": {"x": {"value": 1}, "y": {"value": 1e999}, "z": {"value": "a"}}})"),
            "data: x=1 and 2 not;");
}

TEST(NodeData, AScaleIsSortedAndItsColorsAreRead) {
  std::vector<NodeData> data = Read(
      R"({"results": {"x": {"value": 1}}, "gradient": [{"stop": 1, "bgColor": "Blue"},
          {"stop": 0, "bgColor": "#FFF"}, {"stop": 0.5, "textColor": "red"}]})");
  ASSERT_EQ(data.size(), 1u);
  const NumberScale& scale = data[0].scale;
  ASSERT_EQ(scale.gradient.size(), 2u);
  EXPECT_EQ(FillOf(scale, 0, 0, 10), "#ffffff");
  EXPECT_EQ(FillOf(scale, 5, 0, 10), "#8080ff");
  EXPECT_EQ(FillOf(scale, 12, 0, 10), "#0000ff") << "beyond the range as at its end";
  EXPECT_EQ(FillOf(scale, 5, 5, 5), "#0000ff") << "one number is the largest";
}

TEST(NodeData, AThresholdIsTheMostThatHasItsColor) {
  NumberScale scale = {{}, {{2, "#aaaaaa"}, {4, "#bbbbbb"}}};
  EXPECT_EQ(FillOf(scale, 2, 0, 9), "#aaaaaa");
  EXPECT_EQ(FillOf(scale, 2.5, 0, 9), "#bbbbbb");
  EXPECT_EQ(FillOf(scale, 5, 0, 9), "");
}

TEST(NodeData, ColorsAreThoseOfStyleSheets) {
  EXPECT_EQ(CssColor("rebeccapurple"), "#663399");
  EXPECT_EQ(CssColor("aliceblue"), "#f0f8ff");
  EXPECT_EQ(CssColor("gray"), "#808080");
  EXPECT_EQ(CssColor("grey"), "#808080");
  EXPECT_EQ(CssColor("YellowGreen"), "#9acd32");
  EXPECT_EQ(CssColor("#aB3"), "#aabb33");
  for (const char* none : {"", "#12345", "#ggg", "reddish", "url(x)", "#1234567"})
    EXPECT_EQ(CssColor(none), std::nullopt) << none;
}

TEST(NodeData, NumbersReadWell) {
  EXPECT_EQ(ValueText(0), "0");
  EXPECT_EQ(ValueText(-1234567), "-1,234,567");
  EXPECT_EQ(ValueText(4406.8), "4,407");
  EXPECT_EQ(ValueText(0.035123), "0.03512");
  EXPECT_EQ(ValueText(2e20), "2e+20");
}

TEST(NodeData, SummariesAddUp) {
  NumberSummary a, b;
  for (double value : {4.0, -1.0}) a.Add(value);
  b.Add(9);
  a.Add(b);
  a.Add(NumberSummary());
  EXPECT_EQ(a.Get(Aggregate::kMax), 9);
  EXPECT_EQ(a.Get(Aggregate::kMin), -1);
  EXPECT_EQ(a.Get(Aggregate::kMean), 4);
  EXPECT_EQ(a.Get(Aggregate::kSum), 12);
  EXPECT_EQ(a.Get(Aggregate::kCount), 3);
}

}  // namespace
}  // namespace grapnel
