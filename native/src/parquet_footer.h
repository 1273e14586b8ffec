// Writes the footer of a Parquet file of flat columns. Source: Thrift's compact protocol, parquet-format 2.10,
// parquet.thrift.
#pragma once

#include "parquet_write.h"

namespace serving {

// What the footer says of a column.
struct FooterColumn {
  Dtype dtype;
  Span name;
  // The field of the union LogicalType, 0 for none; of times the field of the union TimeUnit, and whether they are UTC.
  int logical;
  int unit;
  bool is_utc;
  WrittenPages pages;
};

struct Footer {
  const FooterColumn* columns;
  size_t count;
  size_t rows;
  bool is_snappy;
  // Where the pages start.
  size_t start;
  // The Arrow schema as base64; empty: none.
  Span arrow_schema;
};

// Returns the most bytes that a footer takes.
size_t FooterBound(const Footer& footer);

// Writes a footer to `out`, which is empty. Returns false when there is no memory.
bool WriteFooter(const Footer& footer, Bytes& out);

}  // namespace serving
