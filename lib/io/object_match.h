// Matches the objects of a model to those of a checkpoint. For lib/io/variable_binding.cpp.
#ifndef GRAPNEL_LIB_IO_OBJECT_MATCH_H_
#define GRAPNEL_LIB_IO_OBJECT_MATCH_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/proto/saved_object_graph.pb.h"
#include "lib/proto/trackable_object_graph.pb.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Objects match if the same names lead to them from the model's root and from the checkpoint's,
// which is how TensorFlow restores. If the checkpoint has a different root, as with
// tf.train.Checkpoint(model=...), the model is the checkpoint object from which names lead to most
// of the model's variables; then parts of the model that were not found are each searched for as a
// whole, in places that no other object occupies. Optimizer slots match through their variable.
class ObjectMatch {
 public:
  // `fits`: true if the value under a checkpoint key may belong to the variable. Time: as many
  // walks of the model as the checkpoint has objects with children of the same names, up to a
  // limit.
  using Fits = std::function<bool(const proto::SavedVariable& variable, const std::string& key)>;
  ObjectMatch(const proto::SavedObjectGraph& saved, const proto::TrackableObjectGraph& stored,
              Fits fits);
  ~ObjectMatch();

  // The match of one model object.
  struct Found {
    std::vector<std::string> keys;  // in the checkpoint; several if equally good places hold it
    int rival = -1;                 // another object that may claim the same value
  };
  const Found& Of(int object) const { return found_[object]; }  // by index

 private:
  class Finder;
  std::vector<Found> found_;
};

// Returns the key of a checkpoint object that is a variable; else empty.
std::string VariableKeyOf(const proto::TrackableObjectGraph::TrackableObject& object);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_OBJECT_MATCH_H_
