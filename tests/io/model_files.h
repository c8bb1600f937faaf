// Contents of model files, for tests that open them.
#ifndef GRAPNEL_TESTS_IO_MODEL_FILES_H_
#define GRAPNEL_TESTS_IO_MODEL_FILES_H_

#include <initializer_list>
#include <string>

#include "google/protobuf/text_format.h"
#include "lib/io/open.h"
#include "lib/proto/meta_graph.pb.h"
#include "lib/proto/variable.pb.h"
#include "lib/support/gzip.h"
#include "tests/io/testing.h"

namespace grapnel {

inline std::string Text(const google::protobuf::Message& message) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

inline std::string Gzip(llvm::StringRef bytes) {
  std::string out;
  llvm::raw_string_ostream os(out);
  GzipStream gzip(&os);
  gzip << bytes;
  gzip.Finish();
  return os.str();
}

// The small graph with a signature, collections, a saver and an asset.
inline proto::MetaGraphDef SmallMetaGraph(std::initializer_list<const char*> tags) {
  proto::MetaGraphDef meta;
  meta.mutable_meta_info_def()->mutable_stripped_op_list()->add_op()->set_name("Relu");
  meta.mutable_meta_info_def()->set_tensorflow_version("2.21.0");
  for (const char* tag : tags) meta.mutable_meta_info_def()->add_tags(tag);
  *meta.mutable_graph_def() = SmallGraph();
  auto& signature = (*meta.mutable_signature_def())["serving_default"];
  signature.set_method_name("tensorflow/serving/predict");
  auto& input = (*signature.mutable_inputs())["x"];
  input.set_name("x:0");
  input.set_dtype(proto::DT_FLOAT);
  input.mutable_tensor_shape()->add_dim()->set_size(-1);
  (*signature.mutable_outputs())["y"].set_name("call:0");
  auto* sparse = (*signature.mutable_inputs())["ids"].mutable_coo_sparse();
  sparse->set_values_tensor_name("ids/values:0");
  sparse->set_indices_tensor_name("ids/indices:0");
  (*meta.mutable_collection_def())["train_op"].mutable_node_list()->add_value("GradientDescent");
  proto::VariableDef variable;
  variable.set_variable_name("w:0");
  (*meta.mutable_collection_def())["variables"].mutable_bytes_list()->add_value(
      variable.SerializeAsString());
  meta.mutable_saver_def()->set_restore_op_name("save/restore_all");
  meta.mutable_saver_def()->set_filename_tensor_name("save/Const:0");
  auto* asset = meta.add_asset_file_def();
  asset->set_filename("vocabulary.txt");
  asset->mutable_tensor_info()->set_name("asset:0");
  return meta;
}

// Problems of the model and its graphs, one per line.
inline std::string Problems(const Model& model) {
  std::string text;
  for (const Problem& problem : model.problems) text += problem.ToString() + "\n";
  for (const GraphInFile& graph : model.graphs) {
    for (const Problem& problem : graph.module->problems) text += problem.ToString() + "\n";
  }
  return text;
}

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_IO_MODEL_FILES_H_
