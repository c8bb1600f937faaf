// The layers of models: those that the object graph states, and those of name scopes.
#include "lib/io/layers/layer_names.h"
#include "lib/proto/saved_model.pb.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "tests/io/model_files.h"

namespace grapnel {
namespace {

// A SavedModel whose signature is the main graph.
class Saved {
 public:
  Saved() {
    meta_->mutable_meta_info_def()->add_tags("serve");
    Object("_generic_user_object");
    auto& signature = (*meta_->mutable_signature_def())["serving_default"];
    signature.set_method_name("tensorflow/serving/predict");
    (*signature.mutable_inputs())["x"].set_name("x:0");
    Node("x", "Placeholder", {}, "dtype");
  }

  // Adds an object; returns its index. The first one is the root.
  int Object(const std::string& kind, const std::string& metadata = "") {
    auto* object = objects().add_nodes()->mutable_user_object();
    object->set_identifier(kind);
    if (!metadata.empty()) {  // deprecated, so that the compiler would warn of the setter
      const auto* field = proto::SavedUserObject::descriptor()->FindFieldByName("metadata");
      object->GetReflection()->SetString(object, field, metadata);
    }
    return objects().nodes_size() - 1;
  }
  int Child(int parent, const std::string& name, const std::string& kind,
            const std::string& metadata = "") {
    int child = Object(kind, metadata);
    Hold(parent, name, child);
    return child;
  }
  void Hold(int parent, const std::string& name, int child) {
    auto* reference = objects().mutable_nodes(parent)->add_children();
    reference->set_node_id(child);
    reference->set_local_name(name);
  }
  // Adds a variable of 4 numbers, and its node with the same name.
  int Variable(int parent, const std::string& attribute, const std::string& name) {
    auto* variable = objects().add_nodes()->mutable_variable();
    variable->set_name(name);
    variable->set_trainable(true);
    variable->set_dtype(proto::DT_FLOAT);
    variable->mutable_shape()->add_dim()->set_size(4);
    Hold(parent, attribute, objects().nodes_size() - 1);
    auto* node = Node(name, "VarHandleOp", {}, "dtype");
    (*node->mutable_attr())["shape"].mutable_shape()->add_dim()->set_size(4);
    (*node->mutable_attr())["shared_name"].set_s(name);
    return objects().nodes_size() - 1;
  }

  proto::NodeDef* Node(const std::string& name, const std::string& op,
                       const std::vector<std::string>& inputs, const char* type = "T") {
    auto* node = meta_->mutable_graph_def()->add_node();
    node->set_name(name);
    node->set_op(op);
    for (const std::string& input : inputs) node->add_input(input);
    (*node->mutable_attr())[type].set_type(proto::DT_FLOAT);
    return node;
  }
  // Adds a node that reads a variable and one that multiplies it with `input`.
  std::string Multiply(const std::string& name, const std::string& input,
                       const std::string& variable) {
    Node(name + "/ReadVariableOp", "ReadVariableOp", {variable}, "dtype");
    Node(name, "Mul", {input, name + "/ReadVariableOp"});
    return name;
  }

  LayerTable Layers(const std::string& output) {
    auto& signature = (*meta_->mutable_signature_def())["serving_default"];
    (*signature.mutable_outputs())["y"].set_name(output + ":0");
    model_ = Get(OpenModelBytes(FileBytes::FromString(saved_.SerializeAsString(), "x.pb")));
    return LayersOf(model_.graphs[0]);
  }
  proto::SavedObjectGraph& objects() { return *meta_->mutable_object_graph_def(); }

 private:
  proto::SavedModel saved_;
  proto::MetaGraphDef* meta_ = saved_.add_meta_graphs();
  Model model_;
};

// Returns "dense1 8, block 4 (inner 4)": the layers with their parameters.
std::string Text(const LayerTable& table, int parent = -1) {
  std::vector<std::string> texts;
  for (int layer : table.LayersIn(parent)) {
    std::string text = table.LabelOf(layer) + " " + std::to_string(table.ParametersOf(layer).all);
    std::string inside = Text(table, layer);
    texts.push_back(inside.empty() ? text : text + " (" + inside + ")");
  }
  return llvm::join(texts, ", ");
}

std::string LayerOf(const LayerTable& table, llvm::StringRef node) {
  int layer = table.LayerOf("", node);
  return layer < 0 ? "none" : table.PathOf(layer);
}

// Scopes say nothing: the variables that nodes read do, and nodes after them belong to the layer.
TEST(Layers, AttributesOfAModule) {
  Saved saved;
  int dense = saved.Child(0, "dense1", "_generic_user_object");
  saved.Variable(dense, "kernel", "k");
  saved.Variable(dense, "bias", "b");
  int blocks = saved.Child(0, "blocks", "trackable_list_wrapper");
  int block = saved.Child(blocks, "0", "_generic_user_object");
  saved.Variable(saved.Child(block, "inner", "_generic_user_object"), "w", "w");
  saved.Child(0, "empty", "_generic_user_object");
  saved.Multiply("Mul", "x", "k");
  saved.Multiply("Mul_1", "Mul", "b");
  saved.Node("Relu", "Relu", {"Mul_1"});
  saved.Multiply("Mul_2", "Relu", "w");
  saved.Node("add", "AddV2", {"Mul_2", "Relu"});
  LayerTable table = saved.Layers("add");
  EXPECT_EQ(Text(table), "dense1 8, blocks/0 4 (inner 4)");
  EXPECT_EQ(LayerOf(table, "Mul"), "dense1");
  EXPECT_EQ(LayerOf(table, "Mul_1/ReadVariableOp"), "dense1");
  EXPECT_EQ(LayerOf(table, "Relu"), "dense1");
  EXPECT_EQ(LayerOf(table, "Mul_2"), "blocks/0/inner");
  EXPECT_EQ(LayerOf(table, "add"), "none") << "it joins two layers";
  std::vector<std::string> names;
  for (const LayerVariable& variable : table.variables()) names.push_back(variable.name);
  EXPECT_EQ(llvm::join(names, " "), "dense1/kernel dense1/bias blocks/0/inner/w");
  EXPECT_EQ(table.Find("blocks/0/inner"), 2);
  EXPECT_EQ(table.Find("inner"), -1);
  EXPECT_TRUE(table.IsIn(2, 1));
  EXPECT_FALSE(table.IsIn(1, 2));
  ASSERT_EQ(table.layers()[0].outputs.size(), 1u);
  EXPECT_EQ(table.layers()[0].outputs[0].node, "Relu");
}

TEST(Layers, ObjectsThatHoldEachOther) {
  Saved saved;
  int dense = saved.Child(0, "dense", "_generic_user_object");
  saved.Hold(dense, "owner", 0);
  saved.Hold(dense, "itself", dense);
  saved.Hold(0, "again", dense);
  saved.Hold(0, "itself", 0);
  saved.Variable(dense, "kernel", "k");
  EXPECT_EQ(Text(saved.Layers(saved.Multiply("Mul", "x", "k"))), "dense 4");
}

TEST(Layers, KerasModelsThatHoldEachOther) {
  Saved saved;
  saved.objects().mutable_nodes(0)->mutable_user_object()->set_identifier("_tf_keras_model");
  int inner = saved.Child(0, "inner", "_tf_keras_model", R"({"name": "inner"})");
  saved.Hold(inner, "outer", 0);
  saved.Variable(saved.Child(inner, "layer", "_tf_keras_layer", R"({"name": "dense"})"), "kernel",
                 "k");
  LayerTable table = saved.Layers(saved.Multiply("model/inner/dense/Mul", "x", "k"));
  EXPECT_EQ(Text(table), "inner 4 (dense 4)");
}

TEST(Layers, DamagedObjects) {
  Saved saved;
  int dense = saved.Child(0, "dense", "_generic_user_object", "{not JSON");
  saved.Hold(dense, "missing", 1000000);
  saved.Hold(dense, "below", -1);
  saved.Hold(0, "", 0);
  saved.Variable(dense, "kernel", "k");
  int deep = dense;
  for (int i = 0; i < 100000; ++i) deep = saved.Child(deep, "next", "_generic_user_object");
  saved.Variable(deep, "too_deep", "d");
  EXPECT_EQ(Text(saved.Layers(saved.Multiply("Mul", "x", "k"))), "dense 4");
}

// Keras lets layers of a subclassed model have one name. The variables that they read tell them
// apart, and the labels.
TEST(Layers, LayersWithOneName) {
  Saved saved;
  saved.objects().mutable_nodes(0)->mutable_user_object()->set_identifier("_tf_keras_model");
  const char* metadata = R"({"name": "conv", "class_name": "mine>Conv"})";
  for (const char* which : {"a", "b"})
    saved.Variable(saved.Child(0, which, "_tf_keras_layer", metadata), "kernel", which);
  saved.Multiply("net/conv/Mul", "x", "b");
  LayerTable table = saved.Layers(saved.Multiply("net/conv_1/Mul", "net/conv/Mul", "a"));
  EXPECT_EQ(Text(table), "conv 4, conv#2 4");
  EXPECT_EQ(LayerOf(table, "net/conv/Mul"), "conv#2");
  EXPECT_EQ(LayerOf(table, "net/conv_1/Mul"), "conv");
  EXPECT_EQ(table.layers()[1].class_name, "Conv");
  EXPECT_EQ(table.Find("conv#2"), 1);
}

// A layer that is called twice has two scopes, and one name in the program.
TEST(Layers, SharedLayersOfKeras2) {
  Saved saved;
  auto* root = saved.objects().mutable_nodes(0)->mutable_user_object();
  root->set_identifier("_tf_keras_model");
  for (const char* name : {"dense", "dense_1", "unused"}) {
    std::string metadata = std::string(R"({"name": ")") + name + "\"}";
    int layer = saved.Child(0, name, "_tf_keras_layer", metadata);
    if (name != std::string("unused")) saved.Variable(layer, "kernel", name);
  }
  saved.Multiply("net/dense/Mul", "x", "dense");
  saved.Multiply("net/dense_1/Mul", "net/dense/Mul", "dense");
  LayerTable table =
      saved.Layers(saved.Multiply("net/dense_1_1/Mul", "net/dense_1/Mul", "dense_1"));
  EXPECT_EQ(Text(table), "dense 4, dense_1 4") << "a layer that left nothing is not listed";
  EXPECT_EQ(LayerOf(table, "net/dense_1/Mul"), "dense");
  EXPECT_EQ(LayerOf(table, "net/dense_1_1/Mul"), "dense_1");
  EXPECT_EQ(LayerOf(table, "net/dense_1_1/Mul_made_by_a_pass"), "dense_1");
  EXPECT_EQ(LayerOf(table, "net/other/Mul"), "none");
}

// Names for reports: those of variables too, of nodes that inlining made, and of scopes where a
// graph has no layers.
TEST(Layers, Names) {
  Saved saved;
  saved.objects().mutable_nodes(0)->mutable_user_object()->set_identifier("_tf_keras_model");
  const char* metadata = R"({"name": "conv", "class_name": "mine>Conv"})";
  for (const char* which : {"a", "b"})
    saved.Variable(saved.Child(0, which, "_tf_keras_layer", metadata), "kernel", which);
  saved.Multiply("net/conv/Mul", "x", "b");
  LayerNames names(saved.Layers(saved.Multiply("net/conv_1/Mul", "net/conv/Mul", "a")));
  EXPECT_EQ(names.Of("", "net/conv/Mul"), "conv#2");
  EXPECT_EQ(names.Of("", "net/other"), "");
  EXPECT_EQ(names.Of("", "b"), "conv#2") << "the node of its variable";
  EXPECT_EQ(names.OfVariable("b"), "conv#2");
  EXPECT_EQ(names.OfVariable("nothing"), "");
  EXPECT_EQ(names.PathOf(1), "conv#2");
  EXPECT_EQ(names.PathOf(-1), "");

  LayerNames none;
  EXPECT_EQ(none.Of("", "dense/MatMul"), "dense");
  EXPECT_EQ(none.Of("", "x"), "");
  EXPECT_EQ(none.OfVariable("dense/kernel"), "dense");
  EXPECT_EQ(ScopeAsLayer("net/dense/MatMul/ReadVariableOp"), "net/dense");
  EXPECT_EQ(ScopeAsLayer("StatefulPartitionedCall/PartitionedCall_1/net/dense/MatMul"),
            "net/dense");
  EXPECT_EQ(ScopeAsLayer("MatMul/a/b"), "");
  EXPECT_EQ(ScopeAsLayer("a//b"), "a");
  EXPECT_EQ(ScopeAsLayer(""), "");
}

std::string TextOfNodes(const std::vector<std::pair<std::string, std::string>>& nodes) {
  Saved saved;
  std::string last = "x";
  for (const auto& [node, variable] : nodes) {
    if (variable.empty()) {
      saved.Node(node, "Relu", {last});
    } else {
      saved.Variable(0, variable, variable);
      saved.Multiply(node, last, variable);
    }
    last = node;
  }
  return Text(saved.Layers(last));
}

// Keras 3 enters the scope of a layer twice, so that the first call of "conv" is "conv_1" and that
// of "conv_1" is "conv_1_2".
TEST(Layers, ScopesOfKeras3) {
  EXPECT_EQ(TextOfNodes({{"net_1/conv_1/mul", "conv/kernel"},
                         {"net_1/re_lu_1/Relu", ""},
                         {"net_1/conv_1_2/mul", "conv_1/kernel"},
                         {"net_1/re_lu_1_2/Relu", ""},
                         {"net_1/re_lu_3/Relu", ""},
                         {"net_1/conv_2_1/mul", "conv_2/kernel"}}),
            "conv 4, re_lu 0, conv_1 4, re_lu_1 0, conv_2 4");
}

// A functional model in another one: its layers are not named after it. A layer with layers in it
// is one row: they are, and it computes something itself.
TEST(Layers, NestedModelsAndLayersWithLayers) {
  EXPECT_EQ(TextOfNodes({{"net_1/block_1/conv_1/mul", "conv/kernel"},
                         {"net_1/block_1/norm_1/mul", "norm/gamma"},
                         {"net_1/attention_1/query_1/mul", "attention/query/kernel"},
                         {"net_1/attention_1/key_1/mul", "attention/key/kernel"},
                         {"net_1/attention_1/Relu", ""}}),
            "block 8 (conv 4, norm 4), attention 8");
}

// A name of many scopes must not take the stack.
TEST(Layers, DeepScopes) {
  std::string deep = "net_1/dense_1";
  for (int i = 0; i < 100000; ++i) deep += "/a";
  EXPECT_EQ(TextOfNodes({{deep + "/mul", "dense/kernel"}, {"net_1/out_1/mul", "out/kernel"}}),
            "dense 4, out 4");
}

}  // namespace
}  // namespace grapnel
