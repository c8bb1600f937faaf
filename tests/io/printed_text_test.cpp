// Text that is converted without protobuf's parser gives the same bytes as with it.
#include "lib/io/printed_text.h"

#include <random>

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "lib/ir/serialize.h"
#include "lib/proto/graph.pb.h"

namespace grapnel {
namespace {

using google::protobuf::TextFormat;

class Silent : public google::protobuf::io::ErrorCollector {
  void AddError(int, int, const std::string&) override {}
};

// The bytes that protobuf makes of the text; nullopt if it does not parse.
std::optional<std::string> ByProtobuf(const std::string& text) {
  proto::GraphDef graph;
  TextFormat::Parser parser;
  Silent silent;
  parser.RecordErrorsTo(&silent);
  if (!parser.ParseFromString(text, &graph)) return std::nullopt;
  return SerializeInOrder(graph);
}

std::optional<std::string> Converted(const std::string& text) {
  return PrintedTextToWire(text, *proto::GraphDef::descriptor());
}

const char* const kGraph = R"(node {
  name: "a/b_1"
  op: "Const"
  attr {
    key: "dtype"
    value {
      type: DT_FLOAT
    }
  }
  attr {
    key: "value"
    value {
      tensor {
        dtype: DT_FLOAT
        tensor_shape {
          dim {
            size: 2
          }
          dim {
            size: -1
            name: "batch"
          }
        }
        tensor_content: "\000\001\"\\\n\377 a'\303\251"
        float_val: 1.5
        float_val: -0
        float_val: 1e-40
        float_val: 1e+300
        float_val: inf
        float_val: -inf
        float_val: nan
        float_val: 3
        double_val: 0.1
        int_val: -7
        int_val: 0
        string_val: ""
        string_val: "x"
        int64_val: -9223372036854775808
        bool_val: true
        bool_val: false
        half_val: 15360
        uint64_val: 18446744073709551615
      }
    }
  }
}
node {
  name: "empty"
  op: ""
  input: "a/b_1"
  input: "^a/b_1"
  input: ""
  device: "/gpu:0"
  attr {
    key: "f"
    value {
      f: 0
    }
  }
  attr {
    key: "func"
    value {
      func {
        name: "g"
        attr {
          key: "T"
          value {
            list {
              s: "p"
              i: 3
              i: -4
              f: 0.25
              b: true
              type: DT_INT32
              type: DT_STRING
              shape {
                unknown_rank: true
              }
              func {
              }
            }
          }
        }
      }
    }
  }
  attr {
    key: "none"
    value {
    }
  }
  attr {
    key: "s"
    value {
      s: ""
    }
  }
  experimental_debug_info {
    original_node_names: "x"
  }
}
library {
  function {
    signature {
      name: "g"
      input_arg {
        name: "x"
        type: DT_FLOAT
      }
      is_stateful: false
    }
    node_def {
      name: "y"
      op: "Neg"
      input: "x"
    }
    ret {
      key: "y"
      value: "y:y:0"
    }
    arg_attr {
      key: 2
      value {
      }
    }
    arg_attr {
      key: 10
      value {
        attr {
          key: "_user_specified_name"
          value {
            s: "x"
          }
        }
      }
    }
  }
}
versions {
  producer: 1882
}
)";

TEST(PrintedText, GivesTheBytesOfProtobuf) {
  for (const std::string& text :
       {std::string(kGraph), std::string(), std::string(" \n"), std::string("node{}node { }"),
        std::string("node {\n  name: \"" + std::string(70000, 'n') + "\"\n}\n"),
        std::string("node { attr { key: \"\" value { s: \"\\0011\\7z\" } } } version: 3")}) {
    auto expected = ByProtobuf(text), wire = Converted(text);
    ASSERT_TRUE(expected) << text;
    ASSERT_TRUE(wire) << text;
    EXPECT_EQ(*wire, *expected) << text;
  }
}

TEST(PrintedText, LeavesOthersToProtobuf) {
  for (const char* text : {"node { name: \"a\" } # comment",
                           "node { op: \"a\" name: \"b\" }",
                           "node { name: \"a\" name: \"b\" }",
                           "node { name: \"a\" \"b\" }",
                           "node { name: 'a' }",
                           "node { name: \"\xC3\xA9\" }",
                           "node { name: \"\\303\\251\" }",
                           "node { name: \"\\x41\" }",
                           "node { name: \"a\tb\" }",
                           "node { name: \"a }",
                           "node { name: a }",
                           "node: { name: \"a\" }",
                           "node < name: \"a\" >",
                           "node { name: \"a\"; op: \"b\" }",
                           "node { color: 1 }",
                           "node { 1: \"a\" }",
                           "node { name: \"a\"",
                           "node { } }",
                           "}",
                           "node",
                           "node { name }",
                           "versions { producer: 010 }",
                           "versions { producer: 0x10 }",
                           "versions { producer: - }",
                           "versions { producer: 1.5 }",
                           "versions { producer: 3000000000 }",
                           "versions { bad_consumers: [1, 2] }",
                           "versions { } node { }",
                           "node { attr { key: \"b\" value { } } attr { key: \"a\" value { } } }",
                           "node { attr { key: \"a\" value { } } attr { key: \"a\" value { } } }",
                           "node { attr { key: \"a\" } }",
                           "node { attr { value { } key: \"a\" } }",
                           "node { attr { key: \"a\" value { i: 1 f: 1 } } }",
                           "node { attr { key: \"a\" value { type: DT_NO } } }",
                           "node { attr { key: \"a\" value { type: 1 } } }",
                           "node { attr { key: \"a\" value { b: t } } }",
                           "node { attr { key: \"a\" value { b: 1 } } }",
                           "node { attr { key: \"a\" value { f: 1.5f } } }",
                           "node { attr { key: \"a\" value { f: -nan } } }",
                           "node { attr { key: \"a\" value { f: .5 } } }"}) {
    EXPECT_FALSE(Converted(text)) << text;
  }
  std::string deep = "node { attr { key: \"a\" value { ", end;
  for (int i = 0; i < 40; ++i) deep += "func { attr { key: \"a\" value { ", end += "} } }";
  EXPECT_FALSE(Converted(deep + end + "} } }"));
}

// Protobuf accepts every text that the conversion accepts, with the same result.
TEST(PrintedText, AgreesWithProtobufAboutDamagedText) {
  std::mt19937 random(7);
  constexpr llvm::StringLiteral kBytes = "\"\\{}:-.#'<>[]09eEnx \n\tT_/;,\xC3";
  const std::string graph = kGraph;
  size_t accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = graph;
    for (int changes = 1 + static_cast<int>(random() % 2); changes > 0; --changes) {
      size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 4);
      else if (random() % 2 == 0)
        text.insert(at, 1, kBytes[random() % kBytes.size()]);
      else
        text[at] = kBytes[random() % kBytes.size()];
    }
    auto wire = Converted(text);
    if (!wire) continue;
    ++accepted;
    auto expected = ByProtobuf(text);
    ASSERT_TRUE(expected) << text;
    ASSERT_EQ(*wire, *expected) << text;
  }
  EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace grapnel
