// The rows of an answer, as a person or another program reads them.
#ifndef GRAPNEL_LIB_QUERY_RESULT_TEXT_H_
#define GRAPNEL_LIB_QUERY_RESULT_TEXT_H_

#include "lib/query/database.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Aligned columns and the number of rows; nothing of an answer without columns. A cell is one line,
// cut to `widest` bytes but never within a character.
void WriteTable(const QueryResult& result, size_t widest, llvm::raw_ostream& os);

// RFC 4180, with \n at the end of a line; NULL is empty.
void WriteCsv(const QueryResult& result, llvm::raw_ostream& os);

// "columns": [...], "rows": [[...]], as attributes of an object that is open.
void WriteResultJson(const QueryResult& result, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_QUERY_RESULT_TEXT_H_
