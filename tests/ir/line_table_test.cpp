#include "lib/ir/line_table.h"

#include "gtest/gtest.h"
#include "lib/ir/debug_info_writer.h"
#include "lib/proto/graph_debug_info.pb.h"

namespace grapnel {
namespace {

using Info = proto::GraphDebugInfo;

Info::FileLineCol Line(int file, int line, const char* function) {
  Info::FileLineCol frame;
  frame.set_file_index(file);
  frame.set_line(line);
  frame.set_func(function);
  return frame;
}

std::string TextOf(const LineTable::Stack& stack) {
  std::string text;
  for (const SourceFrame& frame : stack) text += FrameText(frame) + "; ";
  return text;
}

LineTable TableOf(const Info& info) {
  LineTable table;
  table.Add(info.SerializeAsString());
  return table;
}

// The older form: each name has its stack.
TEST(LineTable, ReadsTraces) {
  Info info;
  info.add_files("a.py");
  auto& trace = (*info.mutable_traces())["body/x@f"];
  *trace.add_file_line_cols() = Line(0, 3, "main");
  *trace.add_file_line_cols() = Line(0, 7, "inner");
  LineTable table = TableOf(info);
  EXPECT_EQ(TextOf(table.StackOf(table.Find("f", "body/x"))), "a.py:3 in main; a.py:7 in inner; ");
  EXPECT_EQ(table.Find("", "body/x"), 0u);
  EXPECT_EQ(table.Find("g", "body/x"), 0u);
}

// The newer form, with arbitrary numbers; the main graph's names, with and without "@".
TEST(LineTable, ReadsTracesById) {
  Info info;
  info.add_files("a.py");
  (*info.mutable_frames_by_id())[~uint64_t{0}] = Line(0, 3, "f");
  (*info.mutable_frames_by_id())[~uint64_t{1}] = Line(0, 4, "");
  (*info.mutable_traces_by_id())[~uint64_t{0}].add_frame_id(~uint64_t{0});
  (*info.mutable_traces_by_id())[~uint64_t{0}].add_frame_id(~uint64_t{1});
  (*info.mutable_name_to_trace_id())["x"] = ~uint64_t{0};
  (*info.mutable_name_to_trace_id())["y@"] = ~uint64_t{0};
  LineTable table = TableOf(info);
  for (const char* node : {"x", "y"})
    EXPECT_EQ(TextOf(table.StackOf(table.Find("", node))), "a.py:3 in f; a.py:4; ") << node;
}

// Missing parts are skipped, and the rest is read.
TEST(LineTable, TakesBrokenInfo) {
  Info info;
  info.add_files("a.py");
  (*info.mutable_frames_by_id())[1] = Line(5, 3, "no such file");
  (*info.mutable_frames_by_id())[2] = Line(-1, 3, "negative");
  (*info.mutable_frames_by_id())[3] = Line(0, -3, "no such line");
  auto& trace = (*info.mutable_traces_by_id())[1];
  for (int id : {1, 2, 3, 4}) trace.add_frame_id(id);
  (*info.mutable_name_to_trace_id())["x"] = 1;
  (*info.mutable_name_to_trace_id())["y"] = 2;
  (*info.mutable_name_to_trace_id())[""] = 1;
  LineTable table = TableOf(info);
  EXPECT_EQ(TextOf(table.StackOf(table.Find("", "x"))), "a.py in no such line; ");
  EXPECT_EQ(table.Find("", "y"), 0u);
  std::string bytes = info.SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) {
    LineTable cut;
    cut.Add(bytes.substr(0, size));
    cut.StackOf(cut.Find("", "x"));
    bytes[size] ^= 0x55;
    LineTable other;
    other.Add(bytes);
    other.StackOf(other.Find("", "x"));
    bytes[size] ^= 0x55;
  }
}

// A stack of a million frames that a thousand nodes share is read once, and only its innermost
// frames are kept.
TEST(LineTable, KeepsTheInnermostFrames) {
  Info info;
  info.add_files("a.py");
  for (int i = 0; i < 3; ++i) (*info.mutable_frames_by_id())[i] = Line(0, i + 1, "");
  auto& trace = (*info.mutable_traces_by_id())[7];
  for (int i = 0; i < 1'000'000; ++i) trace.add_frame_id(i % 2);
  trace.add_frame_id(2);
  auto& old = (*info.mutable_traces())["old"];
  for (int i = 0; i < 100; ++i) *old.add_file_line_cols() = Line(0, i + 1, "");
  for (int i = 0; i < 1000; ++i) (*info.mutable_name_to_trace_id())["x" + std::to_string(i)] = 7;
  LineTable table = TableOf(info);
  LineTable::Stack stack = table.StackOf(table.Find("", "x999"));
  ASSERT_EQ(stack.size(), LineTable::kMostFrames);
  EXPECT_EQ(stack.back().line, 3);
  EXPECT_EQ(stack[62].line, 2);
  stack = table.StackOf(table.Find("", "old"));
  ASSERT_EQ(stack.size(), LineTable::kMostFrames);
  EXPECT_EQ(stack.front().line, 37);
  EXPECT_EQ(stack.back().line, 100);
}

// The result is TensorFlow's message, and continues an existing one.
TEST(DebugInfoWriter, GoesOn) {
  DebugInfoWriter first;
  uint64_t frame = first.Frame({"a.py", 3, 0, "f", ""});
  EXPECT_EQ(first.Frame({"a.py", 3, 0, "f", ""}), frame);
  first.Add("x", "", first.Trace({frame}));
  DebugInfoWriter second(first.Take());
  uint64_t inner = second.Frame({"b.py", 4, 2, "g", "y = x"});
  second.Add("y", "body", second.Trace({second.Frame({"a.py", 9, 0, "", ""}), inner}));
  std::string bytes = second.Take();
  Info info;
  ASSERT_TRUE(info.ParseFromString(bytes));
  EXPECT_EQ(info.files_size(), 2);
  EXPECT_EQ(info.frames_by_id_size(), 3);
  LineTable table;
  table.Add(bytes);
  EXPECT_EQ(TextOf(table.StackOf(table.Find("", "x"))), "a.py:3 in f; ");
  EXPECT_EQ(TextOf(table.StackOf(table.Find("body", "y"))), "a.py:9; b.py:4 in g; ");
  EXPECT_EQ(table.StackOf(table.Find("body", "y"))[1].code, "y = x");
}

// The user's line, although the innermost frame is a library's.
TEST(LineTable, PassesOverFrameworks) {
  Info info;
  info.add_files("/home/me/model.py");
  info.add_files("/venv/lib/python3.11/site-packages/keras/src/layer.py");
  auto& trace = (*info.mutable_traces())["x"];
  *trace.add_file_line_cols() = Line(0, 3, "call");
  *trace.add_file_line_cols() = Line(1, 9, "__call__");
  LineTable table = TableOf(info);
  EXPECT_EQ(FrameText(*table.LineOf(table.Find("", "x"))), "/home/me/model.py:3 in call");
}

TEST(SourcePlace, IsTheEndOfAPath) {
  SourceFrame frame{"/home/me/model.py", 12, 0, "", ""};
  for (const char* text : {"model.py:12", "me/model.py:12", "/home/me/model.py:12", "model.py"})
    EXPECT_TRUE(SourcePlace::Parse(text).Has(frame)) << text;
  for (const char* text : {"odel.py:12", "model.py:13", "other/model.py:12", "", ":12"})
    EXPECT_FALSE(SourcePlace::Parse(text).Has(frame)) << text;
}

// An error names nodes, outer ones first.
TEST(StackOfMessage, IsOfTheInnermostNode) {
  Module module;
  module.main.AddNode("while", "While");
  module.AddFunction("body")->body.AddNode("log", "Log");
  DebugInfoWriter writer;
  writer.Add("while", "", writer.Trace({writer.Frame({"a.cpp", 1, 0, "F", ""})}));
  writer.Add("log", "body", writer.Trace({writer.Frame({"a.cpp", 2, 0, "G", ""})}));
  SetDebugInfo(&module, writer.Take());
  LineTable table(module);
  auto stack = [&](const char* text) { return StackOfMessage(text, table, module); };
  EXPECT_EQ(stack("node 'while' (While): function 'body': node 'log' (Log): it's bad"),
            "\n  at a.cpp:2 in G");
  EXPECT_EQ(stack("node 'while' (While): can't"), "\n  at a.cpp:1 in F");
  EXPECT_EQ(stack("node 'body/log': input 2"), "\n  at a.cpp:2 in G");
  EXPECT_EQ(stack("node 'nowhere'"), "");
}

}  // namespace
}  // namespace grapnel
