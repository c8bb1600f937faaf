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

// Pairs the objects of a model with those of a checkpoint. As when TensorFlow restores, objects
// match if the same child names lead to them from the model's root and from the checkpoint's root.
// If the checkpoint has a different root, as with tf.train.Checkpoint(model=...), the object from
// which names lead to most of the model's variables is taken for the model's root. Then each part
// of the model that was not found is searched for as a whole, in places that no other object
// occupies. Optimizer slots (variables such as moments) match if the variables to which they belong
// do.
class ObjectMatch {
 public:
  // `fits`: true if the value under a checkpoint key may be that of the variable. Time: one walk
  // through the model for each checkpoint object that has a child of the same name, up to a limit.
  using Fits = std::function<bool(const proto::SavedVariable& variable, const std::string& key)>;
  ObjectMatch(const proto::SavedObjectGraph& saved, const proto::TrackableObjectGraph& stored,
              Fits fits);
  ~ObjectMatch();

  // The result for one model object.
  struct Found {
    std::vector<std::string> keys;  // checkpoint keys, possibly none; several if equally good
    int rival = -1;                 // another model object that may have the same value; -1: none
  };
  const Found& Of(int object) const { return found_[object]; }  // by index

 private:
  class Finder;
  std::vector<Found> found_;
};

// Returns the checkpoint key of an object that is a variable; empty for other objects.
std::string VariableKeyOf(const proto::TrackableObjectGraph::TrackableObject& object);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_OBJECT_MATCH_H_
