// Shape functions of ragged tensors, strings, and parsed records.
#include <algorithm>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

// --- Ragged tensors. Ops take and return them as the row splits of each ragged dimension, then the
// values.

void RaggedRangeShape(ShapeContext& c) {
  int64_t rows = kUnknownDim;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.in(i).known_rank() && c.in(i).rank() == 1)
      rows = c.Equal(rows, c.in(i).dim(0), "numbers of ranges");
  }
  bool scalars = std::all_of(c.inputs.begin(), c.inputs.end(), [](const PortFacts* f) {
    return f && f->shape.known_rank() && f->shape.rank() == 0;
  });
  c.Out(0, VectorOf(scalars ? 2 : AddDims(rows, 1)));
  c.Out(1, VectorOf(kUnknownDim));
}

void RaggedGatherShape(ShapeContext& c) {
  int splits = c.num_outputs() - 1;
  const Shape &indices = c.in(c.num_inputs() - 1), &values = c.in(c.num_inputs() - 2);
  for (int i = 0; i < splits; ++i) c.Out(i, VectorOf(kUnknownDim));
  if (splits > 0 && indices.known_rank() && indices.rank() > 0)
    c.Out(0, VectorOf(AddDims(indices.dim(0), 1)));
  if (values.known_rank() && values.rank() > 0)
    c.Out(splits, ConcatShapes(VectorOf(kUnknownDim), SubShape(values, 1)));
}

void RaggedFromVariantShape(ShapeContext& c) {
  for (int i = 0; i + 1 < c.num_outputs(); ++i) c.Out(i, VectorOf(kUnknownDim));
}

void RaggedToVariantShape(ShapeContext& c) {
  if (!c.Bool("batched_input")) return c.Out(0, Shape::Scalar());
  const Shape& outer = c.in(0);
  if (c.Int("RAGGED_RANK") == 0) {
    const Shape& values = c.in(0);
    return c.Out(0,
                 VectorOf(values.known_rank() && values.rank() > 0 ? values.dim(0) : kUnknownDim));
  }
  c.Out(0,
        VectorOf(outer.known_rank() && outer.rank() == 1 ? SubDims(outer.dim(0), 1) : kUnknownDim));
}

void RaggedToSparseShape(ShapeContext& c) {
  const Shape& values = c.in(c.num_inputs() - 1);
  int64_t rank = values.known_rank() ? c.Int("RAGGED_RANK") + values.rank() : kUnknownDim;
  std::optional<int64_t> count = values.NumElements();
  c.Out(0, MatrixOf(count.value_or(kUnknownDim), rank));
  c.Out(1, VectorOf(count.value_or(kUnknownDim)));
  c.Out(2, VectorOf(rank));
}

// Where the requested shape has -1, other inputs determine the size: for dimension 0, the first row
// partition, which is the number of rows or their row splits; for the dimensions after the ragged
// ones, the values.
void RaggedToTensorShape(ShapeContext& c) {
  std::optional<AttrView> attr = c.Attr("row_partition_types");
  auto types = attr ? attr->AsStrings() : std::nullopt;
  Shape asked = c.ShapeFrom(0, /*or_scalar=*/true), values = c.in(1);
  const Shape& first = c.in(3);
  if (!types || types->empty()) return;
  bool first_dim = (*types)[0] == "FIRST_DIM_SIZE";
  int ragged = static_cast<int>(types->size()) - (first_dim ? 1 : 0);
  int rank = values.known_rank() ? ragged + values.rank() : asked.known_rank() ? asked.rank() : -1;
  if (rank < 0) return;
  Shape out = asked.known_rank() && asked.rank() == rank ? asked : Shape::UnknownOfRank(rank);
  for (int i = 1; values.known_rank() && i < values.rank(); ++i) {
    if (out.dim(ragged + i) == kUnknownDim) out.set_dim(ragged + i, values.dim(i));
  }
  if (out.dim(0) == kUnknownDim && first_dim) out.set_dim(0, c.SizeFrom(3));
  if (out.dim(0) == kUnknownDim && (*types)[0] == "ROW_SPLITS" && first.known_rank() &&
      first.rank() == 1) {
    out.set_dim(0, SubDims(first.dim(0), 1));
  }
  c.Out(0, std::move(out));
}

// --- Strings.

void StringJoinShape(ShapeContext& c) {
  Shape joined = Shape::Scalar();
  bool any_unknown = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& in = c.in(i);
    any_unknown |= !in.known_rank();
    if (!in.known_rank() || in.rank() == 0) continue;
    joined = joined.rank() == 0 ? in : c.Equal(joined, in);
  }
  if (any_unknown && joined.rank() == 0) return;
  c.Out(0, std::move(joined));
}

void SubstrShape(ShapeContext& c) {
  std::optional<Shape> shape = BroadcastShapes(c.in(0), c.Equal(c.in(1), c.in(2)));
  if (!shape)
    return c.Fail("{0} cannot broadcast {1} and {2} together", c.op(), c.in(0).ToString(),
                  c.in(1).ToString());
  c.Out(0, std::move(*shape));
}

void StringSplitShape(ShapeContext& c) {
  c.WithRank(0, 1);
  c.Out(0, MatrixOf(kUnknownDim, 2));
  c.Out(1, VectorOf(kUnknownDim));
  c.Out(2, VectorOf(2));
}

void StringNGramsShape(ShapeContext& c) {
  c.Out(0, VectorOf(kUnknownDim));
  c.Out(1, c.WithRank(1, 1));
}

void UnicodeDecodeShape(ShapeContext& c) {
  std::optional<int64_t> count = c.in(0).NumElements();
  c.Out(0, VectorOf(count ? *count + 1 : kUnknownDim));
  for (int i = 1; i < c.num_outputs(); ++i) c.Out(i, VectorOf(kUnknownDim));
}

void UnicodeEncodeShape(ShapeContext& c) {
  c.Out(0, VectorOf(SubDims(c.WithRank(1, 1).dim(0), 1)));
}

// --- Records.

void EveryLikeInput(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, c.in(0));
}

void DecodeRawShape(ShapeContext& c) { c.Out(0, ConcatShapes(c.in(0), VectorOf(kUnknownDim))); }

void DecodePaddedRawShape(ShapeContext& c) {
  std::optional<int64_t> bytes = c.integer(1);
  int64_t width = static_cast<int64_t>(DataTypeSize(c.Type("out_type")));
  c.Out(0, ConcatShapes(c.in(0), VectorOf(bytes && width > 0 && *bytes >= 0 ? *bytes / width
                                                                            : kUnknownDim)));
}

// Sets the outputs for the features of examples: for each sparse feature three outputs, then for
// each dense feature its shape in the attribute, with the batch dimensions in front.
void ParseExamples(ShapeContext& c, const Shape& batch, int sparse, int64_t sparse_rank) {
  std::optional<AttrView> attr = c.Attr("dense_shapes");
  auto shapes = attr ? attr->AsShapes() : std::nullopt;
  int at = 0;
  sparse = std::clamp(sparse, 0, c.num_outputs());
  for (int i = 0; i < sparse; ++i) c.Out(at++, MatrixOf(kUnknownDim, sparse_rank));
  for (int i = 0; i < sparse; ++i) c.Out(at++, VectorOf(kUnknownDim));
  for (int i = 0; i < sparse; ++i) c.Out(at++, VectorOf(sparse_rank));
  for (size_t i = 0; shapes && i < shapes->size(); ++i) {
    Shape dense = (*shapes)[i];
    // Only the first dimension of a dense feature may be unknown: it may vary between examples,
    // which are padded to the longest one.
    c.Out(at++, ConcatShapes(batch, dense));
  }
}

void ParseExampleShape(ShapeContext& c) {
  bool v2 = c.op() == "ParseExampleV2";
  Shape batch = v2 ? c.in(0) : c.WithRank(0, 1);
  int64_t rank = batch.known_rank() ? batch.rank() + 1 : kUnknownDim;
  ParseExamples(c, batch, static_cast<int>(c.Int(v2 ? "num_sparse" : "Nsparse")), rank);
}

void ParseSingleExampleShape(ShapeContext& c) {
  ParseExamples(c, Shape::Scalar(), static_cast<int>(c.Int("num_sparse")), 1);
}

void MatchingFilesShape(ShapeContext& c) { c.Out(0, VectorOf(kUnknownDim)); }

void FingerprintShape(ShapeContext& c) {
  const Shape& in = c.in(0);
  c.Out(0, MatrixOf(in.known_rank() && in.rank() > 0 ? in.dim(0) : kUnknownDim, 8));
}

constexpr ShapeRule kRules[] = {
    {"RaggedRange", RaggedRangeShape},
    {"RaggedGather", RaggedGatherShape},
    {"RaggedTensorFromVariant", RaggedFromVariantShape},
    {"RaggedTensorToVariant", RaggedToVariantShape},
    {"RaggedTensorToSparse", RaggedToSparseShape},
    {"RaggedTensorToTensor", RaggedToTensorShape},
    {"StringJoin", StringJoinShape},
    {"StringFormat", ScalarOutputs},
    {"Substr", SubstrShape},
    {"StringSplit", StringSplitShape},
    {"StringSplitV2", StringSplitShape},
    {"StringNGrams", StringNGramsShape},
    {"UnicodeDecode", UnicodeDecodeShape},
    {"UnicodeDecodeWithOffsets", UnicodeDecodeShape},
    {"UnicodeEncode", UnicodeEncodeShape},
    {"DecodeCSV", EveryLikeInput},
    {"DecodeRaw", DecodeRawShape},
    {"DecodePaddedRaw", DecodePaddedRawShape},
    {"ParseExample", ParseExampleShape},
    {"ParseExampleV2", ParseExampleShape},
    {"ParseSingleExample", ParseSingleExampleShape},
    {"MatchingFiles", MatchingFilesShape},
    {"ShardedFilename", ScalarOutputs},
    {"ShardedFilespec", ScalarOutputs},
    {"ReadFile", ScalarOutputs},
    {"SerializeTensor", ScalarOutputs},
    {"DecodeJSONExample", SameAsInput},
    {"Fingerprint", FingerprintShape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> RaggedShapeRules() { return kRules; }

}  // namespace grapnel
