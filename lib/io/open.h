// Opens any file or folder that contains TensorFlow graphs, recognized by its contents.
#ifndef GRAPNEL_LIB_IO_OPEN_H_
#define GRAPNEL_LIB_IO_OPEN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/io/case.h"
#include "lib/ir/literal.h"
#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

enum class FileKind {
  kGraphDef,
  kGraphText,
  kText,  // lib/ir/text.h
  kSavedModel,
  kMetaGraph,
  kEventFile,
  kCaseFolder,
  kDumpFolder,
  kProgram  // a traced function of a program: lib/job/traced_graphs.h
};
GRAPNEL_PUBLIC llvm::StringRef FileKindName(
    FileKind kind);  // "GraphDef", "GraphDef (text)", "SavedModel", ...

// An argument or result of a signature. A sparse or composite tensor has an entry for each
// component: "ids:values", "ids:0".
struct GRAPNEL_PUBLIC SignatureTensor {
  std::string key;     // the name of the argument or result
  std::string tensor;  // "serving_default_x:0"
  DataType dtype = proto::DT_INVALID;
  Shape shape;
};

struct GRAPNEL_PUBLIC Signature {
  std::string name;                              // "serving_default", "__saved_model_init_op"
  std::string method;                            // "tensorflow/serving/predict"
  std::vector<SignatureTensor> inputs, outputs;  // sorted by key
};

// A collection of a MetaGraph. Values are names: of nodes and tensors (train_op), or for variables
// of the tensors of their initial values; other bytes and numbers are written as text.
struct GRAPNEL_PUBLIC Collection {
  std::string name;
  std::vector<std::string> values;
};

// The nodes that save and restore variables: a run feeds the path prefix to `filename_tensor`, and
// fetches or runs one of the others.
struct GRAPNEL_PUBLIC Saver {
  std::string filename_tensor, save_tensor, restore_op;
};

struct GRAPNEL_PUBLIC AssetFile {
  std::string tensor;  // the tensor to which the path is fed
  std::string file;    // path
};

// The value of a variable before the first run, for a graph that does not come from a file.
struct GRAPNEL_PUBLIC InitialValue {
  std::string node;  // the variable's node in the main graph
  Literal value;
};

struct GRAPNEL_PUBLIC GraphInFile {
  std::string title;  // "serve", "train,serve" (tags), "graph_run_1", the file's name in a dump
                      // folder, or ""
  std::string path;   // of its file
  std::unique_ptr<Module> module;           // null in a dump folder: see OpenGraph
  std::vector<std::string> feeds, fetches;  // tensors that a graph's text declares as such
  // The other data of a MetaGraph, also of one in a SavedModel.
  std::vector<std::string> tags;
  std::vector<Signature> signatures;    // sorted by name
  std::vector<Collection> collections;  // sorted by name
  std::vector<AssetFile> assets;
  std::optional<Saver> saver;
  std::vector<InitialValue> initial_values;
  std::string tensorflow_version;
  // Slices of the module's file: a serialized proto::SavedObjectGraph (empty in TF1), and the
  // MetaGraphDef that contains this graph (empty if there is none).
  llvm::StringRef object_graph, meta_graph;
};

// An opened file or folder. Move-only; owns its graphs, which keep the mapped files.
struct GRAPNEL_PUBLIC Model {
  FileKind kind = FileKind::kGraphDef;
  std::string path;
  std::vector<GraphInFile> graphs;       // at least one graph
  std::optional<Case> case_info;         // only for a case folder
  std::vector<std::string> asset_files;  // paths of a SavedModel's assets
  std::string variables_prefix;  // for Bundle::Open; empty if the SavedModel has no variables
  // Problems of the file; each graph's module has its own list.
  std::vector<Problem> problems;
};

// Opens `path`: a GraphDef, binary or text, a graph's text (lib/ir/text.h), SavedModel (folder or
// file), MetaGraph or event file, each optionally gzipped, messages optionally in chunks (.cpb); a
// case folder, a dump folder (several GraphDefs, listed in natural order, which OpenGraph opens),
// or a folder with one of the files above; "-" is standard input. Opens the readable parts of a
// damaged file and lists the problems. Errors are one line and name the path: missing, empty, not
// recognized, or nothing in it is readable. Linear in nodes and edges of all graphs; constants of
// any size stay in the mapped file. Expands text, chunks and compressed files in memory.
GRAPNEL_PUBLIC Expected<Model> OpenModel(llvm::StringRef path);
// Like OpenModel, for bytes in memory; errors use the file's name. Looks for no other files:
// variables_prefix is empty, and assets have names without a folder.
GRAPNEL_PUBLIC Expected<Model> OpenModelBytes(std::shared_ptr<const FileBytes> file);

// Opens a file that contains exactly one graph; adds the problems of the file to those of the
// module.
GRAPNEL_PUBLIC Expected<std::unique_ptr<Module>> OpenGraph(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_OPEN_H_
