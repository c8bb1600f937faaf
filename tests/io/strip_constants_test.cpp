#include "lib/io/strip_constants.h"

#include "google/protobuf/text_format.h"
#include "lib/ir/import.h"
#include "lib/ir/literal.h"
#include "lib/shape/module_shapes.h"
#include "tests/io/testing.h"

namespace grapnel {
namespace {

constexpr const char* kGraph = R"(
  node {
    name: "w" op: "Const"
    attr { key: "dtype" value { type: DT_INT32 } }
    attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 name: "rows" } } int_val: 3 int_val: 2 } } }
  }
  node {
    name: "x" op: "Placeholder"
    attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape { dim { size: 6 } } } }
  }
  node {
    name: "r" op: "Reshape" input: "x" input: "w"
    attr { key: "T" value { type: DT_FLOAT } } attr { key: "Tshape" value { type: DT_INT32 } }
  }
  node {
    name: "conv" op: "Conv2D" input: "x" input: "x"
    attr { key: "T" value { type: DT_FLOAT } }
    attr { key: "padding" value { s: "SAME" } }
    attr { key: "strides" value { list { i: 1 i: 2 i: 2 i: 1 } } }
    attr { key: "_note" value { s: "/home/me/x" } }
    attr { key: "_class" value { list { s: "loc:@x" } } }
  }
  node { name: "a" op: "HashTableV2" attr { key: "shared_name" value { s: "/home/me/v" } } }
  node { name: "b" op: "HashTableV2" attr { key: "shared_name" value { s: "/home/me/v" } } }
  node { name: "c" op: "HashTableV2" attr { key: "shared_name" value { s: "/home/me/w" } } }
  node { name: "d" op: "HashTableV2" attr { key: "shared_name" value { s: "d" } } }
  node { name: "odd" op: "Odd" attr { key: "limits" value { list { f: 0.5 f: 1.5 } } } }
  library {
    function {
      signature { name: "f" description: "mine" attr { name: "t" type: "tensor"
        default_value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 77 } } } }
      attr { key: "path" value { s: "/home/me/f" } }
    }
    gradient { function_name: "f" gradient_func: "g" }
  }
  versions { producer: 9 }
  debug_info { files: "/home/me/x.py" }
)";

proto::GraphDef Parsed(const std::string& text) {
  proto::GraphDef graph;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &graph));
  return graph;
}

struct LeftOut {
  LeftOut() {
    auto file = FileBytes::FromString(Parsed(kGraph).SerializeAsString(), "x.pb");
    module = Get(ImportGraphDef(file, file->bytes()));
    StripConstants(module.get());
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    ExportGraphDef(*module, os);
    EXPECT_TRUE(graph.ParseFromString(os.str()));
  }

  const proto::AttrValue& Attr(llvm::StringRef node, const std::string& key) const {
    for (const proto::NodeDef& def : graph.node())
      if (node == def.name() && def.attr().count(key)) return def.attr().at(key);
    ADD_FAILURE() << node.str() << " has no " << key;
    return proto::AttrValue::default_instance();
  }

  std::unique_ptr<Module> module;
  proto::GraphDef graph;
};

TEST(StripConstants, ATensorKeepsDtypeAndShape) {
  LeftOut left;
  const proto::TensorProto& tensor = left.Attr("w", "value").tensor();
  EXPECT_EQ(tensor.dtype(), proto::DT_INT32);
  ASSERT_EQ(tensor.tensor_shape().dim_size(), 1);
  EXPECT_EQ(tensor.tensor_shape().dim(0).size(), 2);
  EXPECT_EQ(tensor.tensor_shape().dim(0).name(), "");
  EXPECT_EQ(tensor.int_val_size(), 0);
  EXPECT_GT(left.Attr("w", kValuesLeftOut).i(), 0);
  EXPECT_EQ(left.Attr("odd", "limits").list().f_size(), 0);
  EXPECT_NE(left.Attr("odd", kValuesLeftOut).i(), left.Attr("w", kValuesLeftOut).i());
  EXPECT_EQ(left.graph.node(3).attr().count(kValuesLeftOut), 0u);  // it lost no value
}

TEST(StripConstants, ShapesThatFollowedFromValuesStay) {
  LeftOut left;
  ModuleShapes shapes(*left.module);
  const Graph& main = left.module->main;
  EXPECT_EQ(shapes.Of(main).OfPort({main.Find("r").id(), 0}).ToString(), "[3,2]");
}

TEST(StripConstants, TextsStayThatDefinitionsListOrThatNameNodes) {
  LeftOut left;
  EXPECT_EQ(left.Attr("conv", "padding").s(), "SAME");
  EXPECT_EQ(left.Attr("conv", "strides").list().i_size(), 4);
  EXPECT_EQ(left.Attr("conv", "_class").list().s(0), "loc:@x");
  EXPECT_EQ(left.Attr("conv", "_note").s(), "");
}

TEST(StripConstants, SharedNamesTellTheSameFromOthers) {
  LeftOut left;
  EXPECT_EQ(left.Attr("a", "shared_name").s(), "shared_1");
  EXPECT_EQ(left.Attr("b", "shared_name").s(), "shared_1");
  EXPECT_EQ(left.Attr("c", "shared_name").s(), "shared_2");
  EXPECT_EQ(left.Attr("d", "shared_name").s(), "d");
}

TEST(StripConstants, FunctionsAndTheProgramsText) {
  LeftOut left;
  const proto::FunctionDef& function = left.graph.library().function(0);
  EXPECT_EQ(function.signature().description(), "");
  const proto::AttrValue& value = function.signature().attr(0).default_value();
  EXPECT_EQ(value.tensor().dtype(), proto::DT_INT32);
  EXPECT_EQ(value.tensor().int_val_size(), 0);
  EXPECT_EQ(function.attr().at("path").s(), "");
  EXPECT_EQ(left.graph.library().gradient_size(), 1);
  EXPECT_EQ(left.graph.versions().producer(), 9);
  EXPECT_FALSE(left.graph.has_debug_info());
}

}  // namespace
}  // namespace grapnel
