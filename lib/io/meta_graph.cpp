#include "lib/io/meta_graph.h"

#include <algorithm>

#include "lib/io/recognize.h"
#include "lib/ir/import.h"
#include "lib/proto/meta_graph.pb.h"
#include "lib/proto/variable.pb.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

enum { kModelMetaGraphs = 2 };
enum {
  kInfo = 1,
  kSaver = 3,
  kCollection = 4,
  kSignatures = 5,
  kAsset = 6,
  kObjectGraph = 7,
};
enum { kInfoTags = 4, kInfoTensorFlowVersion = 5 };

template <typename Message>
bool ParseMessage(llvm::StringRef bytes, Message* message) {
  return bytes.size() <= INT32_MAX &&
         message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void AddTensors(const std::string& key, const proto::TensorInfo& info,
                std::vector<SignatureTensor>* tensors) {
  Shape shape = Shape::FromProto(info.tensor_shape());
  if (info.has_coo_sparse()) {
    const auto& sparse = info.coo_sparse();
    tensors->push_back(
        {key + ":values", sparse.values_tensor_name(), info.dtype(), Shape::UnknownOfRank(1)});
    tensors->push_back(
        {key + ":indices", sparse.indices_tensor_name(), proto::DT_INT64, Shape::UnknownOfRank(2)});
    tensors->push_back({key + ":dense_shape", sparse.dense_shape_tensor_name(), proto::DT_INT64,
                        Shape::UnknownOfRank(1)});
  } else if (info.has_composite_tensor()) {
    int part = 0;
    for (const auto& component : info.composite_tensor().components()) {
      AddTensors(key + ":" + std::to_string(part++), component, tensors);
    }
  } else {
    tensors->push_back({key, info.name(), info.dtype(), shape});
  }
}

template <typename Map>
std::vector<SignatureTensor> Tensors(const Map& map) {
  std::vector<SignatureTensor> tensors;
  for (const auto& [key, info] : map) AddTensors(key, info, &tensors);
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  return tensors;
}

// Reads an AssetFileDef from a TF1 collection, where it is packed as an Any with TensorFlow's own
// type name, not grapnel's.
std::optional<proto::AssetFileDef> AsAsset(const google::protobuf::Any& any) {
  proto::AssetFileDef asset;
  if (!HasSuffix(any.type_url(), "/tensorflow.AssetFileDef") || !asset.ParseFromString(any.value()))
    return std::nullopt;
  return asset;
}

std::vector<std::string> Values(const proto::CollectionDef& collection) {
  std::vector<std::string> values;
  for (const std::string& name : collection.node_list().value()) values.push_back(name);
  for (const std::string& bytes : collection.bytes_list().value()) {
    proto::VariableDef variable;  // from the collections of variables
    bool is_variable = variable.ParseFromString(bytes) && !variable.variable_name().empty();
    values.push_back(is_variable ? variable.variable_name() : bytes);
  }
  for (int64_t number : collection.int64_list().value()) values.push_back(std::to_string(number));
  for (float number : collection.float_list().value())
    values.push_back(llvm::formatv("{0}", number).str());
  for (const auto& any : collection.any_list().value()) {
    std::optional<proto::AssetFileDef> asset = AsAsset(any);
    values.push_back(asset ? asset->filename() : any.type_url());
  }
  return values;
}

class MetaGraphReader {
 public:
  MetaGraphReader(std::shared_ptr<const FileBytes> file, Model* model)
      : file_(std::move(file)), model_(*model) {}

  Error Read(llvm::StringRef meta_graph) {
    result_.meta_graph = meta_graph;
    llvm::SmallVector<llvm::StringRef, 1> graphs;
    CutReader reader(meta_graph);
    while (reader.Next()) {
      if (reader.type() == WireType::kBytes) {
        if (reader.field() == kGraphOfMetaGraph) {
          graphs.push_back(reader.bytes());
        } else {
          ReadField(reader.field(), reader.bytes());
        }
      }
    }
    result_.title = llvm::join(result_.tags, ",");
    result_.path = file_->name();
    std::string where =
        result_.title.empty() ? "the meta graph" : "meta graph '" + result_.title + "'";
    if (reader.failed()) Report(where + " is cut off or damaged");
    if (graphs.empty()) return MakeError("{0} holds no graph", where);
    llvm::StringRef graph_def = graphs[0];
    auto file = file_;
    if (graphs.size() > 1) {  // occurrences of a message field merge by concatenation
      std::string joined;
      for (llvm::StringRef part : graphs) joined += part;
      file = FileBytes::FromString(std::move(joined), file_->name());
      graph_def = file->bytes();
    }
    ASSIGN_OR_RETURN(result_.module, ImportGraphDef(file, graph_def));
    if (file != file_)
      result_.module->sources.push_back(file_);  // object_graph and meta_graph point into it
    std::sort(result_.signatures.begin(), result_.signatures.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    std::sort(result_.collections.begin(), result_.collections.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    model_.graphs.push_back(std::move(result_));
    return Error::success();
  }

 private:
  void Report(std::string text) {
    model_.problems.push_back({Severity::kError, "", std::move(text)});
  }

  void ReadField(uint32_t field, llvm::StringRef bytes) {
    if (field == kInfo) return ReadInfo(bytes);
    if (field == kObjectGraph) {
      result_.object_graph = bytes;
      return;
    }
    // Wraps the field in a message of its own: a map entry alone cannot be parsed.
    std::string wrapped;
    AppendBytesField(&wrapped, field, bytes);
    proto::MetaGraphDef message;
    if (!ParseMessage(wrapped, &message)) {
      return Report(llvm::formatv("field {0} of the meta graph cannot be read", field).str());
    }
    if (field == kSaver) {
      const auto& saver = message.saver_def();
      result_.saver = {saver.filename_tensor_name(), saver.save_tensor_name(),
                       saver.restore_op_name()};
    }
    for (const auto& [name, collection] : message.collection_def()) {
      result_.collections.push_back({name, Values(collection)});
      for (const auto& any : collection.any_list().value()) {
        if (auto asset = AsAsset(any)) AddAsset(*asset);
      }
    }
    for (const auto& [name, signature] : message.signature_def()) {
      result_.signatures.push_back({name, signature.method_name(), Tensors(signature.inputs()),
                                    Tensors(signature.outputs())});
      for (SignatureTensor& input : result_.signatures.back().inputs)
        input.has_default = signature.defaults().count(input.key) > 0;
    }
    for (const auto& asset : message.asset_file_def()) {
      AddAsset(asset);
    }
  }

  void AddAsset(const proto::AssetFileDef& asset) {
    for (const AssetFile& known : result_.assets) {
      if (known.tensor == asset.tensor_info().name() && known.file == asset.filename()) return;
    }
    result_.assets.push_back({asset.tensor_info().name(), asset.filename()});
  }

  // Reads only some fields of the MetaInfoDef: its list of ops may be large and is not needed.
  void ReadInfo(llvm::StringRef info) {
    WireReader reader(info);
    while (reader.Next()) {
      if (reader.Is(kInfoTags, WireType::kBytes)) result_.tags.push_back(reader.bytes().str());
      if (reader.Is(kInfoTensorFlowVersion, WireType::kBytes))
        result_.tensorflow_version = reader.bytes().str();
    }
    if (reader.failed())
      Report("the description (meta_info_def) of the meta graph is cut off or damaged");
  }

  std::shared_ptr<const FileBytes> file_;
  Model& model_;
  GraphInFile result_;
};

}  // namespace

Error ReadMetaGraph(std::shared_ptr<const FileBytes> file, llvm::StringRef meta_graph,
                    Model* model) {
  return MetaGraphReader(std::move(file), model).Read(meta_graph);
}

Error ReadSavedModel(const std::shared_ptr<const FileBytes>& file, Model* model) {
  CutReader reader(file->bytes());
  std::string last;
  while (reader.Next()) {
    if (!reader.Is(kModelMetaGraphs, WireType::kBytes)) continue;
    if (Error error = ReadMetaGraph(file, reader.bytes(), model)) {
      last = TextOf(std::move(error));
      model->problems.push_back({Severity::kError, "", last});
    }
  }
  if (model->graphs.empty())
    return MakeError("{0}", last.empty() ? "the SavedModel holds no graph" : last);
  if (reader.failed())
    model->problems.push_back({Severity::kError, "", "the SavedModel is cut off or damaged"});
  return Error::success();
}

void FindFilesBeside(llvm::StringRef folder, Model* model) {
  std::string prefix = JoinPath(JoinPath(folder, "variables"), "variables");
  if (FileExists(prefix + ".index")) model->variables_prefix = prefix;
  // The model opens without this description too.
  std::shared_ptr<const FileBytes> metadata;
  if (auto file = FileBytes::Open(JoinPath(folder, "keras_metadata.pb")))
    metadata = std::move(*file);
  else
    llvm::consumeError(file.takeError());
  for (GraphInFile& graph : model->graphs) {
    for (AssetFile& asset : graph.assets) {
      asset.file = JoinPath(JoinPath(folder, "assets"), asset.file);
      if (!llvm::is_contained(model->asset_files, asset.file))
        model->asset_files.push_back(asset.file);
    }
    if (!metadata) continue;
    graph.module->sources.push_back(metadata);
    graph.keras_metadata = metadata->bytes();
  }
}

}  // namespace grapnel
