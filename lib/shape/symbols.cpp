#include "lib/shape/symbols.h"

namespace grapnel {

int64_t ShapeSymbols::SymbolAt(const Place& place, int dim, int64_t fresh) {
  if (place.node >= first_of_node_.size()) first_of_node_.resize(place.node + 1, kNone);
  uint32_t* link = &first_of_node_[place.node];
  for (; *link != kNone; link = &arisen_[*link].next) {
    const Arisen& known = arisen_[*link];
    if (known.dim == dim && known.port == place.port && known.op == place.op) return known.symbol;
  }
  *link = arisen_.size();
  arisen_.push_back({place.op, place.port, dim, kNone, fresh});
  return fresh;
}

int64_t ShapeSymbols::DimAt(const Place& place, int dim, int64_t* next_symbol) {
  int64_t symbol = SymbolAt(place, dim, *next_symbol);
  if (symbol == *next_symbol) --*next_symbol;
  return symbol;
}

ShapeHandle ShapeSymbols::HandleAt(const Place& place) {
  auto handle = static_cast<ShapeHandle>(SymbolAt(place, kHandle, last_handle_ + 1));
  if (handle > last_handle_) last_handle_ = handle;
  return handle;
}

int64_t ShapeSymbols::Resolve(int64_t dim) const {
  while (dim < kUnknownDim) {
    auto parent = parent_of_dim_.find(dim);
    if (parent == parent_of_dim_.end()) break;
    dim = parent->second;
  }
  return dim;
}

ShapeHandle ShapeSymbols::RootOf(ShapeHandle handle) const {
  for (auto it = parent_of_handle_.find(handle); it != parent_of_handle_.end();
       it = parent_of_handle_.find(handle))
    handle = it->second;
  return handle;
}

Shape ShapeSymbols::Resolve(const Shape& shape, ShapeHandle handle) const {
  Shape resolved = shape;
  if (!resolved.known_rank() && handle != 0) {
    auto known = shapes_.find(RootOf(handle));
    if (known != shapes_.end()) resolved = known->second;
  }
  if (!resolved.known_rank()) return resolved;
  for (int i = 0; i < resolved.rank(); ++i) resolved.set_dim(i, Resolve(resolved.dim(i)));
  return resolved;
}

// Makes two dimensions equal. The known size or else the older symbol represents the class. Does
// nothing if the sizes are equal already, or one side is an unknown size without a symbol.
bool ShapeSymbols::MergeDims(int64_t a, int64_t b) {
  a = Resolve(a);
  b = Resolve(b);
  if (a == b || a == kUnknownDim || b == kUnknownDim) return true;
  if (a >= 0 && b >= 0) return false;
  if (a < b) std::swap(a, b);  // a: the size, or the older symbol
  parent_of_dim_[b] = a;
  return true;
}

bool ShapeSymbols::Meet(const ShapeRequirement& demand) {
  if (demand.x == 0) return MergeDims(demand.a, demand.b);
  ShapeHandle x = RootOf(demand.x);
  if (demand.y == 0) {
    // Keeps the first known shape: like TensorFlow, compares only the ranks, not the dimensions.
    auto [it, added] = shapes_.try_emplace(x, demand.shape);
    return added || it->second.rank() == demand.shape.rank();
  }
  ShapeHandle y = RootOf(demand.y);
  if (x == y) return true;
  auto of_y = shapes_.find(y);
  if (of_y != shapes_.end()) {
    Shape shape = of_y->second;
    auto [it, added] = shapes_.try_emplace(x, shape);
    if (!added && it->second.rank() != shape.rank()) return false;
  }
  parent_of_handle_[y] = x;
  return true;
}

void ShapeSymbols::ForgetDemands() {
  parent_of_dim_.clear();
  parent_of_handle_.clear();
  shapes_.clear();
}

}  // namespace grapnel
