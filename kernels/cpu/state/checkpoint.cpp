// Checkpoint ops: RestoreV2, SaveV2, and the ops that TensorFlow's saver places around them.
#include <map>
#include <vector>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "lib/io/bundle.h"
#include "lib/io/bundle_writer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// A part of a tensor: "4 5 0,2:-" is rows 0 and 1 of a tensor of shape [4,5].
struct Part {
  Dims shape, start, length;
};

Expected<Part> ParsePart(llvm::StringRef spec) {
  Part part;
  llvm::SmallVector<llvm::StringRef, 8> words, extents;
  spec.split(words, ' ');
  words.back().split(extents, ':');
  bool good = extents.size() == words.size() - 1;
  for (size_t d = 0; good && d < extents.size(); ++d) {
    int64_t size, start = 0, length;
    good = !words[d].getAsInteger(10, size) && size >= 0;
    length = size;
    if (good && extents[d] != "-") {
      auto [from, count] = extents[d].split(',');
      good = !from.getAsInteger(10, start) && !count.getAsInteger(10, length) && start >= 0 &&
             length >= 0 && start <= size - length;
    }
    part.shape.push_back(size);
    part.start.push_back(start);
    part.length.push_back(length);
  }
  if (good) return part;
  return MakeError(
      "'{0}': a shape and for each dimension '-' or 'start,length' inside it were expected", spec);
}

// Returns the index of the part's first element in the whole tensor.
int64_t FirstElement(const Part& part) {
  Dims strides = RowMajorStrides(part.shape);
  int64_t first = 0;
  for (size_t d = 0; d < strides.size(); ++d) first += part.start[d] * strides[d];
  return first;
}

Expected<Tensor> Cut(KernelContext& ctx, const Tensor& whole, llvm::StringRef spec) {
  ASSIGN_OR_RETURN(Part part, ParsePart(spec));
  if (whole.dims() != llvm::ArrayRef<int64_t>(part.shape)) {
    return MakeError("the tensor in the checkpoint has shape {0}, but '{1}' expects {2}",
                     DimsText(whole.dims()), spec, DimsText(part.shape));
  }
  ASSIGN_OR_RETURN(Tensor out, ctx.Scratch(whole.dtype(), part.length));
  CopyStrided(ctx, whole.dtype(), part.length, At(whole, FirstElement(part)),
              RowMajorStrides(part.shape), out.raw(), RowMajorStrides(part.length));
  return out;
}

Error CheckNames(const KernelContext& ctx, int64_t tensors) {
  if (ctx.input(0).num_elements() != 1)
    return MakeError("prefix must have one element, got shape {0}", DimsText(ctx.input(0).dims()));
  for (int i : {1, 2}) {
    if (ctx.input(i).num_elements() == tensors) continue;
    return MakeError("input {0} has {1} strings, {2} were expected", i, ctx.input(i).num_elements(),
                     tensors);
  }
  return Error::success();
}

Error Restore(KernelContext& ctx) {
  RETURN_IF_ERROR(CheckNames(ctx, ctx.num_outputs()));
  ASSIGN_OR_RETURN(Bundle bundle, Bundle::Open(*ctx.input(0).data<std::string>()));
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const std::string& name = ctx.input(1).data<std::string>()[i];
    const std::string& spec = ctx.input(2).data<std::string>()[i];
    ASSIGN_OR_RETURN(Literal literal, bundle.Read(name));
    if (literal.dtype() != ctx.output_type(i)) {
      return MakeError("tensor '{0}' has dtype {1} in the checkpoint, {2} was expected", name,
                       DataTypeName(literal.dtype()), DataTypeName(ctx.output_type(i)));
    }
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(literal, ctx.allocator()));
    if (!spec.empty()) {
      auto part = Cut(ctx, tensor, spec);
      if (!part) return Annotate("tensor '" + name + "'", part.takeError());
      tensor = std::move(*part);
    }
    ctx.SetOutput(i, std::move(tensor));
  }
  return Error::success();
}

// A tensor that is saved in parts, such as a partitioned variable. The file gets the whole tensor:
// TensorFlow can also read parts from a whole tensor.
struct InParts {
  Tensor whole;
  std::vector<Part> parts;
};

bool Overlap(const Part& a, const Part& b) {
  for (size_t d = 0; d < a.shape.size(); ++d) {
    if (a.start[d] + a.length[d] <= b.start[d] || b.start[d] + b.length[d] <= a.start[d])
      return false;
  }
  return true;
}

Error AddPart(KernelContext& ctx, const Tensor& value, llvm::StringRef spec, InParts* tensor) {
  ASSIGN_OR_RETURN(Part part, ParsePart(spec));
  if (value.dims() != llvm::ArrayRef<int64_t>(part.length))
    return MakeError("the part '{0}' does not have the value's shape {1}", spec,
                     DimsText(value.dims()));
  if (!tensor->whole) {
    ASSIGN_OR_RETURN(tensor->whole, ctx.Scratch(value.dtype(), part.shape));
  }
  Tensor& whole = tensor->whole;
  if (whole.dtype() != value.dtype() || whole.dims() != llvm::ArrayRef<int64_t>(part.shape))
    return MakeError(
        "'{0}' is a part of a tensor with another dtype or shape than the previous part", spec);
  for (const Part& other : tensor->parts) {
    if (Overlap(part, other)) return MakeError("'{0}' overlaps another part", spec);
  }
  if (value.num_elements() > 0) {
    CopyStrided(ctx, value.dtype(), part.length, value.raw(), RowMajorStrides(part.length),
                At(whole, FirstElement(part)), RowMajorStrides(part.shape));
  }
  tensor->parts.push_back(std::move(part));
  return Error::success();
}

// Fails if an element is in no part; the missing parts would be in another file.
Error CheckWhole(const InParts& tensor) {
  int64_t saved = 0;
  for (const Part& part : tensor.parts) saved += *NumElements(part.length);
  if (saved == tensor.whole.num_elements()) return Error::success();
  return MakeError(
      "its parts have {0} of {1} elements: all parts of a tensor were expected in one "
      "file",
      saved, tensor.whole.num_elements());
}

Error Save(KernelContext& ctx) {
  RETURN_IF_ERROR(CheckNames(ctx, ctx.num_inputs() - 3));
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(*ctx.input(0).data<std::string>()));
  std::map<std::string, InParts> in_parts;
  for (int i = 3; i < ctx.num_inputs(); ++i) {
    const std::string& name = ctx.input(1).data<std::string>()[i - 3];
    const std::string& spec = ctx.input(2).data<std::string>()[i - 3];
    if (ctx.input(i).HoldsObjects())
      return MakeError("tensor '{0}' is {1}, which cannot be saved", name, ctx.input(i).ToString());
    if (spec.empty()) {
      RETURN_IF_ERROR(writer->Add(name, ctx.input(i).ToLiteral()));
    } else if (Error error = AddPart(ctx, ctx.input(i), spec, &in_parts[name])) {
      return Annotate("tensor '" + name + "'", std::move(error));
    }
  }
  for (const auto& [name, tensor] : in_parts) {
    if (Error error = CheckWhole(tensor))
      return Annotate("tensor '" + name + "'", std::move(error));
    RETURN_IF_ERROR(writer->Add(name, tensor.whole.ToLiteral()));
  }
  return writer->Finish();
}

Error ShardedFilename(KernelContext& ctx) {
  std::string base = *ctx.input(0).data<std::string>();
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "-%05d-of-%05d", static_cast<int>(ctx.input(1).IntAt(0)),
                static_cast<int>(ctx.input(2).IntAt(0)));
  *out->data<std::string>() = base + numbers;
  return Error::success();
}

// Deletes a checkpoint, and its directory if that becomes empty.
void Delete(const std::string& prefix, int num_shards) {
  llvm::sys::fs::remove(prefix + ".index");
  RemoveDataFiles(prefix, num_shards);
  llvm::StringRef folder = llvm::sys::path::parent_path(prefix);
  if (!folder.empty()) llvm::sys::fs::remove(folder);
}

// Merges several checkpoints and, unless delete_old_dirs is false, deletes them, except one whose
// prefix is the result's.
Expected<KernelFn> MakeMerge(const KernelSetup& setup) {
  bool deletes = setup.node().GetBool("delete_old_dirs", true);
  return KernelFn([deletes](KernelContext& ctx) -> Error {
    const Tensor& prefixes = ctx.input(0);
    const std::string& result = *ctx.input(1).data<std::string>();
    ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(result));
    std::vector<std::pair<std::string, int>> sources;  // prefix, number of data files
    for (int64_t i = 0; i < prefixes.num_elements(); ++i) {
      const std::string& source = prefixes.data<std::string>()[i];
      ASSIGN_OR_RETURN(Bundle bundle, Bundle::Open(source));
      for (llvm::StringRef name : bundle.names()) {
        ASSIGN_OR_RETURN(Literal value, bundle.Read(name));
        RETURN_IF_ERROR(writer->Add(name, value));
      }
      sources.emplace_back(source, bundle.num_shards());
    }
    RETURN_IF_ERROR(writer->Finish());
    if (!deletes) return Error::success();
    for (const auto& [source, num_shards] : sources) {
      if (!llvm::sys::fs::equivalent(source + ".index", result + ".index"))
        Delete(source, num_shards);
    }
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("RestoreV2", KernelOf<Restore>);
GRAPNEL_CPU_KERNEL("SaveV2", KernelOf<Save>);
GRAPNEL_CPU_KERNEL("ShardedFilename", KernelOf<ShardedFilename>, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("MergeV2Checkpoints", MakeMerge);

}  // namespace
}  // namespace grapnel
