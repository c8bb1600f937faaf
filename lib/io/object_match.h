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

// Objects match if the same names lead to them from the model's root and from the checkpoint's
// root, which is how TensorFlow restores. If the checkpoint has a different root, as with
// tf.train.Checkpoint(model=...), the model is taken to be the checkpoint object from which names
// lead to most of the model's variables; after that, each part of the model that was not found is
// searched for as a whole, in places that no other object occupies. The slots of an optimizer match
// through their variables.
class ObjectMatch {
 public:
  // `fits`: true if the value under a checkpoint key may be that of the variable. Time: one walk of
  // the model for each checkpoint object that has children with the same names, up to a limit.
  using Fits = std::function<bool(const proto::SavedVariable& variable, const std::string& key)>;
  ObjectMatch(const proto::SavedObjectGraph& saved, const proto::TrackableObjectGraph& stored,
              Fits fits);
  ~ObjectMatch();

  // The result for one model object.
  struct Found {
    std::vector<std::string> keys;  // checkpoint keys; several if places are equally good
    int rival = -1;                 // another model object to which the same value may belong
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
