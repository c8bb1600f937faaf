// Datasets from files: lines, TFRecords or fixed-length records; plain, or compressed with gzip or
// zlib.
#include <algorithm>
#include <tuple>

#include "kernels/cpu/data/dataset.h"
#include "kernels/cpu/data/packed_file.h"
#include "lib/io/record.h"
#include "lib/support/gzip.h"

namespace grapnel {
namespace {}  // namespace

Expected<FilePacking> PackingOf(llvm::StringRef kind) {
  if (kind.empty()) return FilePacking::kNone;
  if (kind == "GZIP") return FilePacking::kGzip;
  if (kind == "ZLIB") return FilePacking::kZlib;
  return MakeError("compression_type '{0}': only '', 'GZIP' and 'ZLIB' are supported", kind);
}

Expected<std::shared_ptr<OpenFile>> OpenPacked(const std::string& path, FilePacking packing) {
  auto open = std::make_shared<OpenFile>();
  ASSIGN_OR_RETURN(open->file, FileBytes::Open(path));
  if (packing == FilePacking::kNone) return open;
  auto inflated = Inflate(open->file->bytes(), ~size_t{0},
                          packing == FilePacking::kGzip ? Framing::kGzip : Framing::kZlib);
  if (!inflated) return Annotate(path, inflated.takeError());
  if (!inflated->problem.empty()) return MakeError("{0}: {1}", path, inflated->problem);
  open->inflated = std::move(inflated->bytes);
  open->is_packed = true;
  return open;
}

namespace {

// Splits a file into records: each call returns the next record, or nullopt at the end of the file.
using Cut = llvm::unique_function<Expected<std::optional<llvm::StringRef>>()>;
using MakeCut = std::function<Expected<Cut>(llvm::StringRef bytes, size_t file)>;

struct Files {
  std::vector<std::string> paths;
  FilePacking packing = FilePacking::kNone;
};

Expected<Files> FilesIn(const KernelContext& ctx, int compression) {
  Files files;
  const Tensor& names = ctx.input(0);
  if (names.rank() > 1)
    return MakeError("filenames of shape {0}: a scalar or a vector was expected",
                     DimsText(names.dims()));
  files.paths.assign(names.data<std::string>(), names.data<std::string>() + names.num_elements());
  if (compression < 0) return files;
  if (ctx.input(compression).num_elements() != 1)
    return MakeError("compression_type must have one element");
  ASSIGN_OR_RETURN(files.packing, PackingOf(*ctx.input(compression).data<std::string>()));
  return files;
}

// Yields the records of all files, one after the other.
DatasetNext RecordsOf(Files files, MakeCut make) {
  return [files = std::move(files), make = std::move(make), at = size_t{0},
          open = std::shared_ptr<OpenFile>(), cut = Cut()](DatasetContext&) mutable -> NextElement {
    for (;;) {
      if (!cut) {
        if (at == files.paths.size()) return NoElement();
        ASSIGN_OR_RETURN(open, OpenPacked(files.paths[at], files.packing));
        auto made = make(open->bytes(), at);
        if (!made) return Annotate(files.paths[at], made.takeError());
        cut = std::move(*made);
      }
      auto record = cut();
      if (!record) return Annotate(files.paths[at], record.takeError());
      if (*record) {
        ASSIGN_OR_RETURN(Tensor text, Tensor::Allocate(proto::DT_STRING, {}));
        *text.data<std::string>() = (*record)->str();
        return std::optional(DatasetElement{std::move(text)});
      }
      cut = Cut();
      ++at;
    }
  };
}

Error Put(KernelContext& ctx, const Node& node, const Files& files, const MakeCut& make) {
  return PutDataset(
      ctx, node, Dataset::kUnknown,
      [files, make](DatasetContext&) -> Expected<DatasetNext> { return RecordsOf(files, make); });
}

std::optional<llvm::StringRef> NoRecord() { return std::nullopt; }

// Lines without their terminators, "\n" or "\r\n".
Expected<KernelFn> MakeTextLine(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Files files, FilesIn(ctx, 1));
    return Put(ctx, node, files, [](llvm::StringRef bytes, size_t) -> Expected<Cut> {
      return Cut([rest = bytes]() mutable -> Expected<std::optional<llvm::StringRef>> {
        if (rest.empty()) return NoRecord();
        llvm::StringRef line;
        std::tie(line, rest) = rest.split('\n');
        line.consume_back("\r");
        return std::optional(line);
      });
    });
  });
}

// TFRecordDatasetV2 can start at an offset in each file.
Expected<KernelFn> MakeRecords(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Files files, FilesIn(ctx, 1));
    std::vector<int64_t> offsets(files.paths.size());
    if (ctx.num_inputs() > 3 && ctx.input(3).num_elements() > 0) {
      if (ctx.input(3).num_elements() != static_cast<int64_t>(offsets.size()))
        return MakeError("byte_offsets has {0} values, but there are {1} files",
                         ctx.input(3).num_elements(), offsets.size());
      for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = ctx.input(3).IntAt(i);
    }
    return Put(ctx, node, files, [offsets](llvm::StringRef bytes, size_t file) -> Expected<Cut> {
      RecordReader reader(bytes.drop_front(
          std::clamp<int64_t>(offsets[file], 0, static_cast<int64_t>(bytes.size()))));
      return Cut([reader]() mutable -> Expected<std::optional<llvm::StringRef>> {
        bool more = reader.Next();
        if (!reader.problem().empty()) return MakeError("{0}", reader.problem());
        if (!more) return NoRecord();
        if (!reader.DataIsIntact()) return MakeError("a record does not match its checksum");
        return std::optional(reader.data());
      });
    });
  });
}

// Inputs: filenames, header_bytes, record_bytes, footer_bytes, buffer_size and, in version 2,
// compression_type.
Expected<KernelFn> MakeFixedLength(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Files files, FilesIn(ctx, ctx.num_inputs() > 5 ? 5 : -1));
    ASSIGN_OR_RETURN(int64_t header, ScalarIn(ctx, 1));
    ASSIGN_OR_RETURN(int64_t record, ScalarIn(ctx, 2));
    ASSIGN_OR_RETURN(int64_t footer, ScalarIn(ctx, 3));
    if (header < 0 || record <= 0 || footer < 0)
      return MakeError(
          "header_bytes and footer_bytes must not be negative and record_bytes must be positive, "
          "got {0}, {2} and {1}",
          header, record, footer);
    return Put(ctx, node, files, [=](llvm::StringRef bytes, size_t) -> Expected<Cut> {
      int64_t body = static_cast<int64_t>(bytes.size()) - header - footer;
      if (body < 0 || body % record != 0) {
        return MakeError(
            "the file has {0} bytes, which are not a header of {1}, records of {2} and a footer of "
            "{3} bytes",
            bytes.size(), header, record, footer);
      }
      return Cut([rest = bytes.substr(header, body),
                  record]() mutable -> Expected<std::optional<llvm::StringRef>> {
        if (rest.empty()) return NoRecord();
        llvm::StringRef one = rest.take_front(record);
        rest = rest.drop_front(record);
        return std::optional(one);
      });
    });
  });
}

#define GRAPNEL_DATASET_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap)
GRAPNEL_DATASET_KERNEL("TextLineDataset", MakeTextLine);
GRAPNEL_DATASET_KERNEL("TFRecordDataset", MakeRecords);
GRAPNEL_DATASET_KERNEL("TFRecordDatasetV2", MakeRecords);
GRAPNEL_DATASET_KERNEL("FixedLengthRecordDataset", MakeFixedLength);
GRAPNEL_DATASET_KERNEL("FixedLengthRecordDatasetV2", MakeFixedLength);

}  // namespace
}  // namespace grapnel
