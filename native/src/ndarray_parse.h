// Parses JSON text of numbers, booleans and nulls into one flat buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "status.h"

namespace serving {

// The target element type. Enforced: only types that numpy's same_kind allows are cast to it, so that no fraction is
// cut off.
struct Cast {
  Dtype dtype;
  bool enforced;
};

// What of an array a text holds: its outermost list may begin before the text, or end behind it.
struct Piece {
  bool begins_before;
  bool ends_behind;
};

struct ParseResult {
  Status status;
  // Byte offset of the offending token.
  size_t offset;
  // The element type of the result; kFloat64 or kBool when it is inferred.
  Dtype dtype;
  size_t count;
  int rank;
  size_t dims[kMaxDimensions];
};

// Returns the maximum number of elements of a text: its commas plus one, which is exact for an array without empty
// lists.
size_t CountElements(const uint8_t* json, size_t length);

// Parses into `out`, which has room for `capacity` elements. Inferred booleans are written as doubles 0 and 1.
void ParseNdarray(const uint8_t* json, size_t length, Cast cast, void* out, size_t capacity, ParseResult& result,
                  Piece piece = {});

}  // namespace serving
