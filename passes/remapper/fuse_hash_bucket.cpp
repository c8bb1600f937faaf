// The hash of a number's text is made without the text.
//
//   Before:  x -> AsString -> StringToHashBucketFast -> y      After:  x -> _TensorToHashBucketFast
//   -> y
//
// Refuses: numbers that are no signed integers; a width or fill character; a text that is fetched
// or read from outside.
#include "passes/remapper/remapper.h"

namespace grapnel {

bool FuseHashBucket(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_hash_bucket";
  Node text = root.num_inputs() > 0 ? root.input_node(0) : Node();
  if (!text || text.op() != "AsString" || text.num_inputs() < 1) return false;
  DataType type = text.GetType("T");
  bool is_integer = type == proto::DT_INT8 || type == proto::DT_INT16 || type == proto::DT_INT32 ||
                    type == proto::DT_INT64;
  if (!is_integer || text.GetInt("width", -1) != -1 || !text.GetString("fill").empty()) {
    remap.edit.Refuse(kRule, root, "'{0}' writes {1}, plain signed integers were expected",
                      text.name(), DataTypeName(type));
    return false;
  }
  if (!remap.HasNoControls(kRule, root) || !remap.CanTake(kRule, root, text)) return false;
  if (!remap.BeginWithoutGradient(kRule, root)) return remap.stopped;
  RemapAttrs attrs = {{"T", attr::Type(type)}};
  CopyAttr(&attrs, root, "num_buckets");
  remap.Become(root, "_TensorToHashBucketFast", text.input_node(0).device(), {text.input(0)},
               attrs);
  remap.EndRemoving({text});
  return true;
}

}  // namespace grapnel
