// The variables of a model, and which of them are its own.
#include "lib/io/saved_variables.h"

#include "lib/proto/saved_model.pb.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "tests/io/model_files.h"

namespace grapnel {
namespace {

struct Variable {
  const char* name;
  bool trainable = true;
};

// A SavedModel of vectors of 4.
class Saved {
 public:
  Saved() {
    meta_->mutable_meta_info_def()->add_tags("serve");
    meta_->mutable_object_graph_def()->add_nodes()->mutable_user_object();
  }

  void Handle(const std::string& name) {
    auto* node = meta_->mutable_graph_def()->add_node();
    node->set_name(name);
    node->set_op("VarHandleOp");
    auto& attr = *node->mutable_attr();
    attr["shared_name"].set_s(name);
    attr["dtype"].set_type(proto::DT_FLOAT);
    attr["shape"].mutable_shape()->add_dim()->set_size(4);
  }

  // Adds an object that `parent` holds; returns its index.
  int Object(const Variable& variable, int parent = 0) {
    auto* objects = meta_->mutable_object_graph_def();
    int id = objects->nodes_size();
    auto* object = objects->add_nodes()->mutable_variable();
    object->set_name(variable.name);
    object->set_trainable(variable.trainable);
    object->set_dtype(proto::DT_FLOAT);
    object->mutable_shape()->add_dim()->set_size(4);
    Hold(parent, id, std::to_string(id));
    return id;
  }

  int List(const char* name) {
    auto* objects = meta_->mutable_object_graph_def();
    objects->add_nodes()->mutable_user_object();
    Hold(0, objects->nodes_size() - 1, name);
    return objects->nodes_size() - 1;
  }

  // Adds a call of a function that captures `object`, whose node is `handle`.
  void Call(const std::string& handle, int object) {
    auto& function = (*meta_->mutable_object_graph_def()->mutable_concrete_functions())["f"];
    function.add_bound_inputs(object);
    if (!call_) {
      call_ = meta_->mutable_graph_def()->add_node();
      call_->set_name("call");
      call_->set_op("StatefulPartitionedCall");
      (*call_->mutable_attr())["f"].mutable_func()->set_name("f");
    }
    call_->add_input(handle);
    (*call_->mutable_attr())["Tin"].mutable_list()->add_type(proto::DT_RESOURCE);
  }

  void Collect(const std::string& collection, const char* tensor) {
    proto::VariableDef variable;
    variable.set_variable_name(tensor);
    (*meta_->mutable_collection_def())[collection].mutable_bytes_list()->add_value(
        variable.SerializeAsString());
  }

  // Returns "w trained, b", with variables that are not the model's own in brackets.
  std::string Variables() const {
    Model model = Get(OpenModelBytes(FileBytes::FromString(saved_.SerializeAsString(), "x.pb")));
    std::vector<std::string> names;
    for (const SavedVariable& variable : VariablesOf(model.graphs[0])) {
      std::string name = variable.name + (variable.trainable.value_or(false) ? " trained" : "");
      names.push_back(variable.is_own ? name : "(" + name + ")");
    }
    return llvm::join(names, ", ");
  }

 private:
  void Hold(int parent, int child, const std::string& name) {
    auto* reference = meta_->mutable_object_graph_def()->mutable_nodes(parent)->add_children();
    reference->set_node_id(child);
    reference->set_local_name(name);
  }

  proto::SavedModel saved_;
  proto::MetaGraphDef* meta_ = saved_.add_meta_graphs();
  proto::NodeDef* call_ = nullptr;
};

// An unnamed tf.Variable is called "Variable", and the graph numbers the nodes; TensorFlow writes
// those of objects in reverse order.
TEST(SavedVariables, ThoseWithoutANameAreAllThere) {
  Saved saved;
  saved.Object({"Variable"});
  int counter = saved.Object({"Variable", false});
  saved.Object({"Variable"});
  for (const char* name : {"Variable", "Variable_1", "Variable_2"}) saved.Handle(name);
  EXPECT_EQ(saved.Variables(), "Variable trained, Variable_1, Variable_2 trained");
  saved.Call("Variable_2", counter);
  EXPECT_EQ(saved.Variables(), "Variable trained, Variable_1 trained, Variable_2");
}

TEST(SavedVariables, CopiesOfASaverAreNotTheModels) {
  Saved saved;
  saved.Object({"dense/kernel"});
  for (const char* name : {"dense/kernel", "Variable", "Variable_1"}) saved.Handle(name);
  EXPECT_EQ(saved.Variables(), "dense/kernel trained, (Variable), (Variable_1)");
}

TEST(SavedVariables, WhatKerasListsOnceMoreCountsOnce) {
  Saved saved;
  int kernel = saved.Object({"dense/kernel"}, saved.List("variables"));
  saved.Object({"dense/kernel"}, saved.List("_all_variables"));
  for (const char* name : {"dense/kernel", "dense/kernel_1"}) saved.Handle(name);
  saved.Call("dense/kernel_1", kernel);
  EXPECT_EQ(saved.Variables(), "(dense/kernel trained), dense/kernel_1 trained");
}

// Layers of a model give their variables the same names.
TEST(SavedVariables, OneOfANameThatNoFunctionReadsIsTheModels) {
  Saved saved;
  saved.Object({"w"});
  int read = saved.Object({"w", false});
  for (const char* name : {"w", "w_1"}) saved.Handle(name);
  saved.Call("w", read);
  EXPECT_EQ(saved.Variables(), "w, w_1 trained");
}

TEST(SavedVariables, WithoutObjectsAllAreTheModels) {
  Saved saved;
  for (const char* name : {"w", "w_1"}) saved.Handle(name);
  EXPECT_EQ(saved.Variables(), "w, w_1");
}

TEST(SavedVariables, LocalOnesOfTensorFlow1AreNot) {
  Saved saved;
  for (const char* name : {"w", "accuracy/total"}) saved.Handle(name);
  saved.Collect("variables", "w:0");
  EXPECT_EQ(saved.Variables(), "w, (accuracy/total)");
  saved.Collect("trainable_variables", "w:0");
  EXPECT_EQ(saved.Variables(), "w trained, (accuracy/total)");
}

}  // namespace
}  // namespace grapnel
