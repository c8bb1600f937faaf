// DecodeCSV.
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/data/csv.h"
#include "kernels/cpu/text/number_text.h"
#include "lib/exec/kernel.h"

namespace grapnel {

Expected<CsvFormat> MakeCsvFormat(llvm::StringRef delimiter, bool quotes, llvm::StringRef missing,
                                  std::vector<int64_t> columns) {
  if (delimiter.size() != 1)
    return MakeError("field_delim should be only 1 char, not '{0}'", delimiter);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] < 0 || (i > 0 && columns[i] <= columns[i - 1]))
      return MakeError(
          "select_cols and exclude_cols must be strictly ascending and not negative, got {0} at "
          "index {1}",
          columns[i], i);
  }
  return CsvFormat{delimiter[0], quotes, missing.str(), std::move(columns)};
}

namespace {

// Returns the text of a quoted field. `at` starts after the opening quote and moves past the field
// and its delimiter.
Expected<std::string> QuotedField(llvm::StringRef record, char delimiter, size_t& at) {
  std::string field;
  size_t size = record.size();
  while (at + 1 < size && (record[at] != '"' || record[at + 1] != delimiter)) {
    field += record[at];
    if (record[at] == '"') {
      if (record[at + 1] != '"')
        return MakeError("quote inside a string has to be escaped by another quote");
      ++at;
    }
    ++at;
  }
  if (at >= size || record[at] != '"' || (at + 1 < size && record[at + 1] != delimiter))
    return MakeError("quoted field has to end with quote followed by delim or end");
  at += 2;
  return field;
}

Expected<std::string> PlainField(llvm::StringRef record, const CsvFormat& format, size_t& at) {
  size_t end = std::min(record.find(format.delimiter, at), record.size());
  llvm::StringRef field = record.slice(at, end);
  if (field.find_first_of(format.quotes ? "\"\r\n" : "\r\n") != llvm::StringRef::npos)
    return MakeError(
        "unquoted fields cannot contain line ends or, unless use_quote_delim is false, quotes");
  at = end + 1;
  return field.str();
}

}  // namespace

Error SplitCsvRecord(llvm::StringRef record, const CsvFormat& format,
                     std::vector<std::string>* fields) {
  fields->clear();
  size_t at = 0, column = 0, next = 0;  // `next`: index into the wanted columns
  auto wanted = [&] {
    return format.columns.empty() || format.columns[next] == static_cast<int64_t>(column);
  };
  while (at < record.size()) {
    if (record[at] == '\n' || record[at] == '\r') {
      ++at;
      continue;
    }
    bool quoted = format.quotes && record[at] == '"';
    if (quoted) ++at;
    ASSIGN_OR_RETURN(std::string field, quoted ? QuotedField(record, format.delimiter, at)
                                               : PlainField(record, format, at));
    if (wanted()) {
      fields->push_back(std::move(field));
      if (++next == format.columns.size()) return Error::success();
    }
    ++column;
  }
  // A trailing delimiter is followed by an empty field.
  if (!record.empty() && wanted() && record.back() == format.delimiter) fields->emplace_back();
  return Error::success();
}

bool StoreCsvField(llvm::StringRef text, Tensor& to, int64_t i) {
  switch (to.dtype()) {
    case proto::DT_STRING:
      to.data<std::string>()[i] = text.str();
      return true;
    case proto::DT_INT32:
      return ParseNumber(text, to.data<int32_t>()[i]);
    case proto::DT_INT64:
      return ParseNumber(text, to.data<int64_t>()[i]);
    case proto::DT_FLOAT:
      return ParseNumber(text, to.data<float>()[i]);
    case proto::DT_DOUBLE:
      return ParseNumber(text, to.data<double>()[i]);
    default:
      return false;
  }
}

namespace {

Error DecodeCsv(KernelContext& ctx, const CsvFormat& format) {
  const Tensor& records = ctx.input(0);
  size_t width = static_cast<size_t>(ctx.num_outputs());
  std::vector<Tensor*> out;
  for (int f = 0; f < ctx.num_outputs(); ++f) {
    const Tensor& otherwise = ctx.input(f + 1);
    if (otherwise.rank() > 1 || otherwise.num_elements() > 1)
      return MakeError(
          "the default of field {0} must be a scalar or a vector of at most one element, got shape "
          "{1}",
          f, DimsText(otherwise.dims()));
    ASSIGN_OR_RETURN(Tensor * field, ctx.Allocate(f, records.dims()));
    out.push_back(field);
  }
  std::vector<std::string> fields;
  for (int64_t i = 0; i < records.num_elements(); ++i) {
    RETURN_IF_ERROR(SplitCsvRecord(records.data<std::string>()[i], format, &fields));
    if (fields.size() != width)
      return MakeError("expect {0} fields but have {1} in record {2}", width, fields.size(), i);
    for (size_t f = 0; f < width; ++f) {
      const Tensor& otherwise = ctx.input(static_cast<int>(f) + 1);
      if (!fields[f].empty() && fields[f] != format.missing) {
        if (!StoreCsvField(fields[f], *out[f], i))
          return MakeError("field {0} in record {1} is not a valid {2}: {3}", f, i,
                           DataTypeName(out[f]->dtype()), fields[f]);
      } else if (otherwise.num_elements() != 1) {
        return MakeError("field {0} is required but missing in record {1}", f, i);
      } else {
        CopyElements(otherwise.dtype(), otherwise.raw(), At(*out[f], i), 1);
      }
    }
  }
  return Error::success();
}

Expected<KernelFn> MakeDecodeCsv(const KernelSetup& setup) {
  const Node& node = setup.node();
  ASSIGN_OR_RETURN(
      CsvFormat format,
      MakeCsvFormat(node.GetString("field_delim", ","), node.GetBool("use_quote_delim", true),
                    node.GetString("na_value"), node.GetInts("select_cols")));
  if (setup.num_inputs() != setup.num_outputs() + 1)
    return MakeError("there are {0} defaults, but {1} fields", setup.num_inputs() - 1,
                     setup.num_outputs());
  if (!format.columns.empty() && static_cast<int>(format.columns.size()) != setup.num_outputs())
    return MakeError("select_cols has {0} columns, but there are {1} fields", format.columns.size(),
                     setup.num_outputs());
  for (int i = 0; i < setup.num_outputs(); ++i) {
    DataType type = setup.output_type(i);
    if (type != setup.input_type(i + 1))
      return MakeError("field {0} has dtype {1}, but its default has dtype {2}", i,
                       DataTypeName(type), DataTypeName(setup.input_type(i + 1)));
    if (type != proto::DT_STRING && type != proto::DT_INT32 && type != proto::DT_INT64 &&
        type != proto::DT_FLOAT && type != proto::DT_DOUBLE)
      return MakeError(
          "field {0} cannot have dtype {1}: expected string, int32, int64, float or double", i,
          DataTypeName(type));
  }
  return KernelFn([format](KernelContext& ctx) { return DecodeCsv(ctx, format); });
}

GRAPNEL_CPU_KERNEL("DecodeCSV", MakeDecodeCsv);

}  // namespace
}  // namespace grapnel
