// Graphs to files.
#ifndef GRAPNEL_LIB_IO_WRITE_H_
#define GRAPNEL_LIB_IO_WRITE_H_

#include <string>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes a GraphDef: as protobuf's text when `path` ends in .pbtxt, as lib/ir/text.h has it when in
// .gtxt (exactly, in the order of ids), else binary; compressed when .gz follows;
// "-" is standard output, binary. The file appears when it is complete (AtomicFile). `order` as
// ExportGraphDef's. Needs memory for one node and one function at a time. Errors name the path; a
// name that promises another kind of file (.json, .svg, .onnx, ...) is one.
GRAPNEL_PUBLIC Error WriteGraph(const Module& module, llvm::StringRef path,
                                llvm::ArrayRef<NodeId> order = {});

// Whether `path` ends in .pb, .pbtxt or .gtxt, each also .gz, or is "-".
GRAPNEL_PUBLIC bool NamesGraphFile(llvm::StringRef path);

// What `write` puts out becomes the file `path`, compressed when that ends in .gz, as above.
GRAPNEL_PUBLIC Error WriteCompressible(llvm::StringRef path,
                                       llvm::function_ref<Error(llvm::raw_ostream&)> write);

// The text that protobuf prints for the whole GraphDef, written node by node. A node that is
// damaged is written as far as it can be read. Errors only for a node of more than 2 GiB, which has
// no text form.
GRAPNEL_PUBLIC Error WriteGraphText(const Module& module, llvm::raw_ostream& os,
                                    llvm::ArrayRef<NodeId> order = {});
GRAPNEL_PUBLIC std::string GraphText(const Module& module, llvm::ArrayRef<NodeId> order = {});

// A graph's or a stage's name as a part of a dump's file name: TensorFlow replaces / [ ] * ? by _.
GRAPNEL_PUBLIC std::string FileNamePart(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_WRITE_H_
