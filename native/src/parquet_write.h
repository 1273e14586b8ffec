// Writes flat columns as the pages of a Parquet file: one plain page a column, not compressed; values that repeat go
// into a dictionary. Source: parquet-format 2.10, "Encodings" and "Data Pages", parquet.thrift.
#pragma once

#include "frame_encode.h"
#include "parquet_read.h"

namespace serving {

// Where the pages of a column start; `dictionary` is SIZE_MAX when there is none.
struct WrittenPages {
  size_t dictionary;
  size_t data;
  size_t end;
};

// Returns the most bytes that the pages of a column take. The column holds `rows`, see HoldsRows; text has offsets.
size_t ParquetBound(const EncodeColumn& column, size_t rows);

// Writes the pages of a column, all of whose rows are there, from `at` on; `out` has ParquetBound bytes from there.
// Returns false when offsets contradict the text, and when there is no memory.
bool WriteParquet(const EncodeColumn& column, size_t rows, uint8_t* out, size_t at, WrittenPages& pages);

}  // namespace serving
