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

// One tensor of a signature's inputs or outputs. A sparse or composite tensor has an entry for each
// of its components, with keys such as "ids:values" or "ids:0".
struct GRAPNEL_PUBLIC SignatureTensor {
  std::string key;     // the name of the argument or result
  std::string tensor;  // "serving_default_x:0"
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  bool has_default = false;  // an input that callers may leave out: the signature has its value
};

struct GRAPNEL_PUBLIC Signature {
  std::string name;                              // "serving_default", "__saved_model_init_op"
  std::string method;                            // "tensorflow/serving/predict"
  std::vector<SignatureTensor> inputs, outputs;  // sorted by key
};

// A collection of a MetaGraph. A value is the name of a node or tensor (as in train_op), or for a
// variable the name of its tensor; other bytes and numbers are written as text, an asset as its
// file name, and other messages as their type.
struct GRAPNEL_PUBLIC Collection {
  std::string name;
  std::vector<std::string> values;
};

// The nodes that save and restore variables. A run feeds the checkpoint's path prefix to
// `filename_tensor`; to save, it fetches `save_tensor`, and to restore, it runs `restore_op`.
struct GRAPNEL_PUBLIC Saver {
  std::string filename_tensor, save_tensor, restore_op;
};

struct GRAPNEL_PUBLIC AssetFile {
  std::string tensor;  // the tensor to which the path is fed
  std::string file;    // the path of the file
};

// The value of a variable before the first run, for a graph that does not come from a file.
struct GRAPNEL_PUBLIC InitialValue {
  std::string node;  // the variable's node in the main graph
  Literal value;
};

struct GRAPNEL_PUBLIC GraphInFile {
  // The tags ("serve", "train,serve"), the title in a graph's text, a name such as "graph" or
  // "step_1/partition_0" in an event file, the file's name in a dump folder, or "".
  std::string title;
  std::string path;                         // the path of the file that has the graph
  std::unique_ptr<Module> module;           // null in a dump folder: see OpenGraph
  std::vector<std::string> feeds, fetches;  // tensors that a graph's text declares as such
  // Except for initial_values, the other data of the MetaGraph that the graph comes from, alone or
  // in a SavedModel.
  std::vector<std::string> tags;
  std::vector<Signature> signatures;    // sorted by name
  std::vector<Collection> collections;  // sorted by name
  std::vector<AssetFile> assets;
  std::optional<Saver> saver;
  std::vector<InitialValue> initial_values;
  std::string tensorflow_version;
  // Slices of files that the module keeps open. `object_graph`: a serialized
  // proto::SavedObjectGraph, empty if there is none. `meta_graph`: the MetaGraphDef that contains
  // this graph, empty if there is none.
  llvm::StringRef object_graph, meta_graph;
  // For a part of a file's graph, such as the network of a signature: the graph that it is a part
  // of, which restores and saves the variables and has the initializer; it outlives this one. Null
  // for a graph that a file holds.
  const GraphInFile* whole = nullptr;
  std::string function;  // the function of `whole` whose body this graph was; empty: main graph
};

// An opened file or folder. Move-only. Owns its graphs, which keep the mapped files open.
struct GRAPNEL_PUBLIC Model {
  FileKind kind = FileKind::kGraphDef;
  std::string path;
  std::vector<GraphInFile> graphs;       // at least one graph
  std::optional<Case> case_info;         // only for a case folder
  std::vector<std::string> asset_files;  // paths of a SavedModel's assets
  std::string variables_prefix;          // for Bundle::Open; empty: no variables were found
  // Problems of the file as a whole; the problems of a graph are in its module.
  std::vector<Problem> problems;
};

// Opens `path`: a GraphDef, binary or text; a graph's text (lib/ir/text.h); a SavedModel (folder or
// file); a MetaGraph; an event file. Each may be gzipped, and messages may be in chunks (.cpb).
// Also opens a case (a folder or a zip archive), a dump folder (several graph files, listed in
// natural order; OpenGraph opens one of them), or a folder with one of the files above; "-" is
// standard input. Opens the readable parts of a damaged file and lists the problems. Errors are one
// line and name the path or a file in it. Linear in nodes and edges of all graphs; constants of any
// size stay in the mapped file. Expands text, chunks and compressed files in memory.
GRAPNEL_PUBLIC Expected<Model> OpenModel(llvm::StringRef path);
// Like OpenModel, for a file in memory; errors use the file's name. Opens no other files:
// variables_prefix is empty, and the names of assets have no folder.
GRAPNEL_PUBLIC Expected<Model> OpenModelBytes(std::shared_ptr<const FileBytes> file);

// Opens a file that contains exactly one graph; adds the problems of the file to those of the
// module.
GRAPNEL_PUBLIC Expected<std::unique_ptr<Module>> OpenGraph(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_OPEN_H_
