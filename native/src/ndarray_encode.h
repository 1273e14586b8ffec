// Compact JSON text of flat numbers.
#pragma once

#include <cstddef>

#include "status.h"

namespace serving {

enum class NonFinite : int { kNull = 0, kLiteral = 1, kError = 2 };

struct Array {
  const void* data;
  size_t count;
  Dtype dtype;
  int rank;
  // All at least 1, their product is `count`.
  const size_t* dims;
};

// Bytes that EncodeNdarray may write, by element type and shape alone. SIZE_MAX when it overflows.
size_t EncodedBound(const Array& array);

// A closer bound, by the magnitudes of the elements, for memory that is not used again: a sixth less for usual floats.
size_t ScannedBound(const Array& array);

// Writes the text, and its length to `length`. `out` has room for either bound.
Status EncodeNdarray(const Array& array, NonFinite non_finite, char* out, size_t& length);

}  // namespace serving
