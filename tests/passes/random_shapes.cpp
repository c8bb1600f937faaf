// Steps with data movement: shapes, slices, copies.
#include <algorithm>

#include "tests/passes/random_graph_maker.h"

namespace grapnel {

void RandomGraphMaker::Transpose() {
  Value a;
  if (!Find(&a, [](const Value& v) { return v.dims.size() >= 2 && v.type != proto::DT_BOOL; }))
    return;
  std::vector<int64_t> perm(a.dims.size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = i;
  if (Chance(85)) {
    for (size_t i = perm.size() - 1; i > 0; --i) std::swap(perm[i], perm[Below(i + 1)]);
  }
  Dims dims;
  for (int64_t i : perm) dims.push_back(a.dims[i]);
  NodeId id = Typed("Transpose", {a.port, Ints(perm)}, a.type);
  graph().SetAttr(id, "Tperm", attr::Type(proto::DT_INT32));
  Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
  if (Chance(50)) {  // and back
    std::vector<int64_t> inverse(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) inverse[perm[i]] = i;
    NodeId back = Typed("Transpose", {{id, 0}, Ints(inverse)}, a.type);
    graph().SetAttr(back, "Tperm", attr::Type(proto::DT_INT32));
    Keep(back, 0, a.type, a.dims, a.magnitude, {a}, a.exact);
  }
}

void RandomGraphMaker::Reshape() {
  Value a;
  if (!FindNumber(&a)) return;
  int64_t count = *NumElements(a.dims);
  std::vector<Dims> shapes = {{count}, {1, count}, a.dims};
  if (count % 6 == 0) shapes.push_back({count / 6, 6});
  if (count % 4 == 0) shapes.push_back({count / 4, 2, 2});
  Dims dims = Pick(shapes);
  std::vector<int64_t> written(dims.begin(), dims.end());
  if (!written.empty() && Chance(30)) written[Below(written.size())] = -1;
  NodeId id = Typed("Reshape", {a.port, Ints(written)}, a.type);
  graph().SetAttr(id, "Tshape", attr::Type(proto::DT_INT32));
  Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
}

void RandomGraphMaker::Concat() {
  Value a, b;
  if (!Find(&a, [](const Value& v) { return v.type == proto::DT_FLOAT && !v.dims.empty(); }))
    return;
  if (!Find(&b, [&](const Value& v) { return v.type == a.type && v.dims == a.dims; })) return;
  int64_t axis = Below(a.dims.size());
  Dims dims = a.dims;
  dims[axis] *= 2;
  if (*NumElements(dims) > 5000) return;
  NodeId id = Typed("ConcatV2", {a.port, b.port, Int(axis)}, a.type);
  graph().SetAttr(id, "N", attr::Int(2));
  graph().SetAttr(id, "Tidx", attr::Type(proto::DT_INT32));
  Keep(id, 0, a.type, dims, std::max(a.magnitude, b.magnitude), {a, b});
}

void RandomGraphMaker::Split() {
  Value a;
  if (!Find(&a, [](const Value& v) { return v.type == proto::DT_FLOAT && !v.dims.empty(); }))
    return;
  int64_t axis = Below(a.dims.size()), parts = a.dims[axis] % 2 == 0 && Chance(80) ? 2 : 1;
  Dims dims = a.dims;
  dims[axis] /= parts;
  NodeId id = Typed("Split", {Int(axis), a.port}, a.type);
  graph().SetAttr(id, "num_split", attr::Int(parts));
  for (int i = 0; i < parts; ++i) Keep(id, i, a.type, dims, a.magnitude, {a}, a.exact);
}

void RandomGraphMaker::SliceOf() {
  Value a;
  if (!FindNumber(&a) || a.dims.empty()) return;
  std::vector<int64_t> begin(a.dims.size(), 0), size(a.dims.begin(), a.dims.end());
  size_t axis = Below(a.dims.size());
  if (a.dims[axis] > 1 && Chance(70)) {
    begin[axis] = Below(2);
    size[axis] = a.dims[axis] - 1;
  }
  bool strided = Chance(50);
  Dims dims(size.begin(), size.end());
  NodeId id;
  if (strided) {
    std::vector<int64_t> end(begin);
    for (size_t i = 0; i < end.size(); ++i) end[i] += size[i];
    id = Typed("StridedSlice",
               {a.port, Ints(begin), Ints(end), Ints(std::vector<int64_t>(end.size(), 1))}, a.type);
  } else {
    id = Typed("Slice", {a.port, Ints(begin), Ints(size)}, a.type);
  }
  graph().SetAttr(id, "Index", attr::Type(proto::DT_INT32));
  Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
}

void RandomGraphMaker::Pack() {
  Value a, b;
  if (!FindNumber(&a) || *NumElements(a.dims) > 2000) return;
  if (Chance(40) || !Find(&b, [&](const Value& v) { return v.type == a.type && v.dims == a.dims; }))
    b = a;
  NodeId id = Typed("Pack", {a.port, b.port}, a.type);
  graph().SetAttr(id, "N", attr::Int(2));
  graph().SetAttr(id, "axis", attr::Int(0));
  Dims dims = {2};
  dims.append(a.dims.begin(), a.dims.end());
  Value packed = Keep(id, 0, a.type, dims, std::max(a.magnitude, b.magnitude), {a, b});
  if (Chance(40)) {  // and one of them again
    int64_t at = Below(2);
    NodeId slice =
        Typed("StridedSlice", {packed.port, Ints({at}), Ints({at + 1}), Ints({1})}, a.type);
    graph().SetAttr(slice, "Index", attr::Type(proto::DT_INT32));
    graph().SetAttr(slice, "shrink_axis_mask", attr::Int(1));
    Keep(slice, 0, a.type, a.dims, packed.magnitude, {packed});
  }
}

void RandomGraphMaker::Tile() {
  Value a;
  if (!FindNumber(&a) || a.dims.empty() || *NumElements(a.dims) > 1000) return;
  std::vector<int64_t> multiples(a.dims.size(), 1);
  if (Chance(70)) multiples[Below(multiples.size())] = 2;
  Dims dims = a.dims;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] *= multiples[i];
  NodeId id = Typed("Tile", {a.port, Ints(multiples)}, a.type);
  graph().SetAttr(id, "Tmultiples", attr::Type(proto::DT_INT32));
  Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
}

void RandomGraphMaker::Pad() {
  Value a;
  if (!FindNumber(&a) || a.dims.empty() || *NumElements(a.dims) > 1000) return;
  std::vector<int64_t> paddings(a.dims.size() * 2, 0);
  if (Chance(60)) paddings[Below(paddings.size())] = 1;
  Dims dims = a.dims;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] += paddings[2 * i] + paddings[2 * i + 1];
  Port port = Constant(
      Literal::Integers(proto::DT_INT32, {static_cast<int64_t>(dims.size()), 2}, paddings));
  NodeId id = Typed("Pad", {a.port, port}, a.type);
  graph().SetAttr(id, "Tpaddings", attr::Type(proto::DT_INT32));
  Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
}

void RandomGraphMaker::ShapeOps() {
  Value a;
  if (!FindNumber(&a)) return;
  std::string op = Pick<std::string>({"Shape", "Size", "Rank"});
  NodeId id = Typed(op, {a.port}, a.type);
  if (op != "Rank") graph().SetAttr(id, "out_type", attr::Type(proto::DT_INT32));
  Dims dims;
  if (op == "Shape") dims = {static_cast<int64_t>(a.dims.size())};
  Value shape = Keep(id, 0, proto::DT_INT32, dims, 5000, {}, true);
  if (op == "Shape" && !a.dims.empty() && Chance(50)) {
    NodeId same = Typed("Reshape", {a.port, shape.port}, a.type);
    graph().SetAttr(same, "Tshape", attr::Type(proto::DT_INT32));
    Keep(same, 0, a.type, a.dims, a.magnitude, {a}, a.exact);
  }
}

void RandomGraphMaker::Expand() {
  Value a;
  if (!FindNumber(&a) || a.dims.size() > 3) return;
  int64_t axis = Below(a.dims.size() + 1);
  Dims dims = a.dims;
  dims.insert(dims.begin() + axis, 1);
  NodeId id = Typed("ExpandDims", {a.port, Int(axis)}, a.type);
  graph().SetAttr(id, "Tdim", attr::Type(proto::DT_INT32));
  Value expanded = Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
  if (!Chance(50)) return;
  NodeId squeeze = Typed("Squeeze", {expanded.port}, a.type);
  graph().SetAttr(squeeze, "squeeze_dims", attr::Ints({axis}));
  Keep(squeeze, 0, a.type, a.dims, a.magnitude, {expanded}, a.exact);
}

void RandomGraphMaker::Reverse() {
  Value a;
  if (!FindFloat(&a) || a.dims.empty()) return;
  NodeId id =
      Typed("ReverseV2", {a.port, Ints({static_cast<int64_t>(Below(a.dims.size()))})}, a.type);
  graph().SetAttr(id, "Tidx", attr::Type(proto::DT_INT32));
  Keep(id, 0, a.type, a.dims, a.magnitude, {a}, a.exact);
}

}  // namespace grapnel
