// Column buffers become JSON text.
#pragma once

#include "frame_columns.h"

namespace serving {

struct Span {
  const uint8_t* data;
  size_t size;
};

// A column as it lies in Arrow's buffers; see src/frame/columns.ts.
struct EncodeColumn {
  Dtype dtype;
  Span data;
  // data == nullptr: no nulls.
  Span validity;
  // Text: 4 bytes an element and one more; data == nullptr: the elements are views into heaps.
  Span offsets;
  const Span* heaps;
  size_t heap_count;
  // `"name":`
  Span key;
};

// Rows between commas: before, label, after, elements, close.
struct EncodeRows {
  size_t rows;
  // 0 none, 1 as it is, 2 in quotes.
  int label_mode;
  // nullptr: the row's number.
  const EncodeColumn* labels;
  Span before;
  Span after;
  Span close;
  const EncodeColumn* columns;
  size_t count;
  bool keys;
};

// Whether a column's buffers are long enough for so many rows. What lies in them is checked while it is written.
bool HoldsRows(const EncodeColumn& column, size_t rows);

// False: a buffer contradicts itself, or no memory.
bool EncodeRowsTo(Bytes& out, const EncodeRows& rows);

}  // namespace serving
