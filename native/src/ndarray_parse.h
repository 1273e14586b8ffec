// JSON text of numbers, booleans and nulls, parsed into one flat buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "status.h"

namespace serving {

// What elements are cast to. Enforced: only from kinds that numpy's same_kind casts to it, so that no fraction is cut
// off.
struct Cast {
  Dtype dtype;
  bool enforced;
};

struct ParseResult {
  Status status;
  // Bytes from the start of the text to the offending token.
  size_t offset;
  // The element type found; with kInferred asked for, kFloat64 or kBool.
  Dtype dtype;
  size_t count;
  int rank;
  size_t dims[kMaxDimensions];
};

// Maximum of elements in a text: its commas and one more, which is what an array without empty lists has.
size_t CountElements(const uint8_t* json, size_t length);

// Parses into `out`, which has room for `capacity` elements. Inferred booleans are written as doubles 0 and 1.
void ParseNdarray(const uint8_t* json, size_t length, Cast cast, void* out, size_t capacity, ParseResult& result);

}  // namespace serving
