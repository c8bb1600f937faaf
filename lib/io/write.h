// Writes graphs to files.
#ifndef GRAPNEL_LIB_IO_WRITE_H_
#define GRAPNEL_LIB_IO_WRITE_H_

#include <string>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes a GraphDef to the file `path`: in protobuf's text format if the name ends in .pbtxt, in
// the format of lib/ir/text.h if it ends in .gtxt (exact, nodes in the order of ids), otherwise
// binary. An additional .gz compresses it; "-" is standard output, binary. The file appears when it
// is complete (AtomicFile). `order` is as in ExportGraphDef. Besides the module, needs memory for
// one node or function at a time (.pbtxt), for one node and the serialized function library
// (binary), or in proportion to the number of nodes (.gtxt, which ignores `order`). Errors name the
// path; an extension of another file type (.json, .svg, .onnx, ...) is an error.
GRAPNEL_PUBLIC Error WriteGraph(const Module& module, llvm::StringRef path,
                                llvm::ArrayRef<NodeId> order = {});

// True if `path` is "-" or ends in .pb, .pbtxt or .gtxt, optionally with .gz.
GRAPNEL_PUBLIC bool NamesGraphFile(llvm::StringRef path);

// Writes what the function `write` prints to the file `path`, compressed if `path` ends in .gz.
GRAPNEL_PUBLIC Error WriteCompressible(llvm::StringRef path,
                                       llvm::function_ref<Error(llvm::raw_ostream&)> write);

// Writes the graph node by node, as the text that protobuf would print for the whole GraphDef. Of a
// damaged node, writes as much as can be read. Fails only for a node, function or other part of
// more than 2 GiB, which the text format cannot represent.
GRAPNEL_PUBLIC Error WriteGraphText(const Module& module, llvm::raw_ostream& os,
                                    llvm::ArrayRef<NodeId> order = {});
GRAPNEL_PUBLIC std::string GraphText(const Module& module, llvm::ArrayRef<NodeId> order = {});

// Turns the name of a graph or a stage into a component of a dump's file names: replaces each / [ ]
// * ? by _, as TensorFlow does.
GRAPNEL_PUBLIC std::string FileNamePart(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_WRITE_H_
