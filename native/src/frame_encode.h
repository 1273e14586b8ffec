// Encodes column buffers as JSON text and as CSV.
#pragma once

#include "frame_columns.h"

namespace serving {

struct Span {
  const uint8_t* data;
  size_t size;
};

// A column in Arrow's buffers; see src/values/table/columns.ts.
struct EncodeColumn {
  Dtype dtype;
  Span data;
  // data == nullptr: no nulls.
  Span validity;
  // For text and lists: offsets of 4 bytes, one more than elements; data == nullptr: the elements are views into heaps.
  Span offsets;
  const Span* heaps;
  size_t heap_count;
  // `"name":`
  Span key;
  // The items of a list, or the fields of a struct.
  EncodeColumn* children;
  size_t child_count;
  // Elements of the children; set by HoldsRows.
  size_t inner_rows;
};

// Rows separated by commas; each is written as before, label, after, elements, close.
struct EncodeRows {
  size_t rows;
  LabelMode label_mode;
  // nullptr: the label is the row's number.
  const EncodeColumn* labels;
  Span before;
  Span after;
  Span close;
  const EncodeColumn* columns;
  size_t count;
  bool keys;
};

// Whether a column's buffers, and those of the columns in it, are long enough for `rows` rows. Their contents are
// checked while they are written.
bool HoldsRows(EncodeColumn& column, size_t rows, int depth = 0);

// Returns false when a buffer contradicts itself or memory runs out.
bool EncodeRowsTo(Bytes& out, const EncodeRows& rows);

// Writes lines of CSV as src/values/table/csv/csv-write.ts does. Returns false as EncodeRowsTo does.
bool EncodeCsvTo(Bytes& out, const EncodeColumn* columns, size_t count, size_t rows);

}  // namespace serving
