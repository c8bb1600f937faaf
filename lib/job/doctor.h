// A job: what a person would check when a network does not learn.
#ifndef GRAPNEL_LIB_JOB_DOCTOR_H_
#define GRAPNEL_LIB_JOB_DOCTOR_H_

#include <string>
#include <vector>

#include "lib/check/doctor/doctor.h"
#include "lib/job/run.h"
#include "lib/support/glob.h"

namespace grapnel {

struct DoctorRequest {
  // As of BlameRun: `hook`, `watch`, `device` and `devices` are not looked at.
  RunRequest run;
  int steps = 5;             // of a graph that trains; one that does not is run once a batch
  std::vector<Glob> checks;  // names of those that are wanted; none: all
  Confidence least = Confidence::kPossible;  // findings less sure than that are left out
  // A tensor of the main graph, of event files a tag; empty: it is looked for.
  std::string loss;
};

struct CheckOutcome {
  enum Status : uint8_t {
    kRun,
    kNothingThere,  // the graph has nothing that the check is of
    kNotRun,     // what it needs was not there
    kOtherInput,    // it is not of such input: of checkpoints, and this is a model
  };
  const CheckInfo* info;
  Status status = kRun;
  std::string reason;  // unless it looked
};

struct Diagnosis {
  std::string path;
  std::vector<Finding> findings;       // from cause to consequence, the surest first
  std::vector<CheckOutcome> outcomes;  // a check each, by name
  int steps = 0;                       // that were run
  size_t checkpoints = 0;
  size_t curves = 0;    // of losses
  std::string failure;  // the error that ended the run; empty: none
  bool IsClean() const { return findings.empty() && failure.empty(); }
};

// Runs the graph where it can be run: as often as `steps` on what is fed, or on the case's steps in
// turn, variables keeping what each made of them. An error of the run is part of the answer.
// Errors: the graph is broken; a name or a file is not there.
Expected<Diagnosis> ExamineGraph(OpenedGraph& opened, const DoctorRequest& request);

// The newest run of a folder of TensorFlow's debugger. Errors: ReadDebugFolder's.
Expected<Diagnosis> ExamineDebugFolder(llvm::StringRef path, const DoctorRequest& request);

// Whether `path` is what a training left, and no model: the prefix of a checkpoint, its .index, an
// event file with scalars, or a folder of such.
bool IsTrainingRecord(llvm::StringRef path);
// Checkpoints of a folder in the order of their numbers, scalars of it and the folders below.
// Errors: a checkpoint is damaged; no scalar is called as the request says.
Expected<Diagnosis> ExamineTrainingRecord(llvm::StringRef path, const DoctorRequest& request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DOCTOR_H_
