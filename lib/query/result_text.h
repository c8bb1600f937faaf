// Prints query results for users and for other programs.
#ifndef GRAPNEL_LIB_QUERY_RESULT_TEXT_H_
#define GRAPNEL_LIB_QUERY_RESULT_TEXT_H_

#include "lib/ir/short_names.h"
#include "lib/query/database.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Prints aligned columns and the number of rows; nothing for a result without columns. A cell takes
// one line, truncated to `widest` bytes but never within a character.
void WriteTable(const QueryResult& result, size_t widest, const ShortNames& names,
                llvm::raw_ostream& os);
// Returns the names of nodes of the module as WriteTable prints them: a cell that is a whole name.
ShortNames NamesOf(const QueryResult& result, const Module& module);

// Writes RFC 4180 CSV, with \n at the end of a line; NULL is empty.
void WriteCsv(const QueryResult& result, llvm::raw_ostream& os);

// Writes "columns": [...], "rows": [[...]] as members of the JSON object that `json` has begun.
void WriteResultJson(const QueryResult& result, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_RESULT_TEXT_H_
