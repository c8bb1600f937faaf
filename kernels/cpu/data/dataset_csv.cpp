// CSVDataset and CSVDatasetV2: the records of CSV files, one component per field.
#include <algorithm>

#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/data/csv.h"
#include "kernels/cpu/data/dataset.h"
#include "kernels/cpu/data/packed_file.h"

namespace grapnel {
namespace {

struct CsvFiles {
  std::vector<std::string> paths;
  FilePacking packing = FilePacking::kNone;
  bool header = false;
  CsvFormat format;
  std::vector<int64_t> excluded;  // columns, ascending
  std::vector<Tensor> defaults;   // one or zero elements per field
};

// Removes the next record from `rest`: up to a line end outside quotes.
llvm::StringRef TakeRecord(llvm::StringRef* rest, bool quotes) {
  bool quoted = false;
  size_t end = 0;
  for (; end < rest->size(); ++end) {
    char c = (*rest)[end];
    if (quotes && c == '"') quoted = !quoted;
    if (!quoted && (c == '\n' || c == '\r')) break;
  }
  llvm::StringRef record = rest->take_front(end);
  *rest = rest->drop_front(end);
  if (!rest->consume_front("\r\n")) *rest = rest->drop_front(std::min<size_t>(1, rest->size()));
  return record;
}

Expected<DatasetElement> FieldsOf(llvm::StringRef record, const CsvFiles& csv) {
  std::vector<std::string> fields;
  RETURN_IF_ERROR(SplitCsvRecord(record, csv.format, &fields));
  // An empty line is one field with empty text.
  if (record.empty()) fields.emplace_back();
  for (size_t i = csv.excluded.size(); i-- > 0;) {
    if (csv.excluded[i] < static_cast<int64_t>(fields.size()))
      fields.erase(fields.begin() + csv.excluded[i]);
  }
  if (fields.size() != csv.defaults.size())
    return MakeError("expect {0} fields but have {1} in record", csv.defaults.size(),
                     fields.size());
  DatasetElement element;
  for (size_t f = 0; f < fields.size(); ++f) {
    const Tensor& otherwise = csv.defaults[f];
    ASSIGN_OR_RETURN(Tensor field, Tensor::Allocate(otherwise.dtype(), {}));
    if (!fields[f].empty() && fields[f] != csv.format.missing) {
      if (!StoreCsvField(fields[f], field, 0))
        return MakeError("field {0} in record is not a valid {1}: {2}", f,
                         DataTypeName(field.dtype()), fields[f]);
    } else if (otherwise.num_elements() != 1) {
      return MakeError("field {0} is required but missing in record", f);
    } else {
      CopyElements(otherwise.dtype(), otherwise.raw(), field.raw(), 1);
    }
    element.push_back(std::move(field));
  }
  return element;
}

DatasetNext RecordsOf(CsvFiles csv) {
  return [csv = std::move(csv), at = size_t{0}, open = std::shared_ptr<OpenFile>(),
          rest = llvm::StringRef()](DatasetContext&) mutable -> NextElement {
    while (rest.empty()) {
      if (open) ++at;
      if (at == csv.paths.size()) {
        open = nullptr;
        return NoElement();
      }
      ASSIGN_OR_RETURN(open, OpenPacked(csv.paths[at], csv.packing));
      rest = open->bytes();
      if (csv.header) TakeRecord(&rest, csv.format.quotes);
    }
    auto element = FieldsOf(TakeRecord(&rest, csv.format.quotes), csv);
    if (!element) return Annotate(csv.paths[at], element.takeError());
    return std::optional(std::move(*element));
  };
}

template <typename T>
Expected<T> OneOf(const KernelContext& ctx, int i, const char* name) {
  if (ctx.input(i).num_elements() == 1) return *ctx.input(i).data<T>();
  return MakeError("{0} must have one element, got shape {1}", name, DimsText(ctx.input(i).dims()));
}

Expected<CsvFiles> FilesIn(const KernelContext& ctx, int fields) {
  CsvFiles csv;
  const Tensor& names = ctx.input(0);
  if (names.rank() > 1)
    return MakeError("filenames must be a scalar or a vector, got shape {0}",
                     DimsText(names.dims()));
  csv.paths.assign(names.data<std::string>(), names.data<std::string>() + names.num_elements());
  ASSIGN_OR_RETURN(std::string kind, OneOf<std::string>(ctx, 1, "compression_type"));
  ASSIGN_OR_RETURN(csv.packing, PackingOf(kind));
  ASSIGN_OR_RETURN(csv.header, OneOf<bool>(ctx, 3, "header"));
  ASSIGN_OR_RETURN(std::string delimiter, OneOf<std::string>(ctx, 4, "field_delim"));
  ASSIGN_OR_RETURN(bool quotes, OneOf<bool>(ctx, 5, "use_quote_delim"));
  ASSIGN_OR_RETURN(std::string missing, OneOf<std::string>(ctx, 6, "na_value"));
  Dims columns = IntsOf(ctx.input(7));
  ASSIGN_OR_RETURN(csv.format,
                   MakeCsvFormat(delimiter, quotes, missing, {columns.begin(), columns.end()}));
  for (int i = 8; i < 8 + fields; ++i) {
    if (ctx.input(i).num_elements() > 1)
      return MakeError("each default must have at most one element, got shape {0}",
                       DimsText(ctx.input(i).dims()));
    csv.defaults.push_back(ctx.input(i));
  }
  if (8 + fields >= ctx.num_inputs()) return csv;
  Dims excluded = IntsOf(ctx.input(8 + fields));
  if (!excluded.empty() && !columns.empty())
    return MakeError("either select_cols or exclude_cols can be given, not both");
  ASSIGN_OR_RETURN(CsvFormat checked,
                   MakeCsvFormat(delimiter, quotes, missing, {excluded.begin(), excluded.end()}));
  csv.excluded = checked.columns;
  return csv;
}

Expected<KernelFn> MakeCsv(const KernelSetup& setup) {
  int fields = CountTypes(setup.node(), "output_types");
  if (setup.num_inputs() != 8 + fields && setup.num_inputs() != 9 + fields)
    return MakeError("the node has {0} inputs, but {1} fields need {2} or {3}", setup.num_inputs(),
                     fields, 8 + fields, 9 + fields);
  return KernelFn([node = setup.node(), fields](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(CsvFiles csv, FilesIn(ctx, fields));
    return PutDataset(ctx, node, Dataset::kUnknown,
                      [csv](DatasetContext&) -> Expected<DatasetNext> { return RecordsOf(csv); });
  });
}

GRAPNEL_CPU_KERNEL("CSVDataset", MakeCsv, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("CSVDatasetV2", MakeCsv, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
