// Hashes the text of a number without making the text.
//
//   Before:  x -> AsString -> StringToHashBucketFast -> y
//   After:   x -> _TensorToHashBucketFast -> y
//
// Refuses: dtypes other than signed integers; a width or fill character; a text that is fetched or
// read from outside; control edges.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

Verdict FuseHashBucket(Remapper& rule, const Node& root) {
  Node text = rule.Input(root, 0);
  if (!text || text.op() != "AsString" || text.num_inputs() < 1) return rule.NotMine();
  DataType type = text.GetType("T");
  bool is_integer = type == proto::DT_INT8 || type == proto::DT_INT16 || type == proto::DT_INT32 ||
                    type == proto::DT_INT64;
  if (!is_integer || text.GetInt("width", -1) != -1 || !text.GetString("fill").empty())
    return rule.Refuse(
        "'{0}' formats {1}, signed integers without a width or fill character were expected\n"
        "format signed integers, without a width or fill character",
        text.name(), DataTypeName(type));
  if (!rule.HasNoControls(root) || !rule.CanTake(root, text) || !rule.NeedsNoGradient(root))
    return rule.Refused();
  RemapAttrs attrs = {{"T", attr::Type(type)}};
  CopyAttr(&attrs, root, "num_buckets");
  rule.Become(root, "_TensorToHashBucketFast", text.input_node(0).device(), {text.input(0)}, attrs);
  rule.Remove({text});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_batch_norm_relu",
              .name = "fuse_hash_bucket",
              .ops = {"StringToHashBucketFast"},
              .help = "AsString and StringToHashBucketFast become _TensorToHashBucketFast",
              .refuses = "dtypes other than signed integers, a width or fill character, a text "
                         "that is fetched or read elsewhere, control edges",
              .pattern = "(AsString)",
              .apply = FuseHashBucket});

}  // namespace
}  // namespace grapnel::remapper
