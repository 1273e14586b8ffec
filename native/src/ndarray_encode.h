// Compact JSON text of flat numbers.
#pragma once

#include <cstddef>

#include "status.h"

namespace serving {

struct Array {
  const void* data;
  size_t count;
  Dtype dtype;
  int rank;
  // All at least 1; their product is `count`.
  const size_t* dims;
};

// Returns the most bytes that EncodeNdarray can write, by element type and shape alone. SIZE_MAX when that overflows.
size_t EncodedBound(const Array& array);

// Returns a closer bound from the magnitudes of the elements, for memory that is not used again: a sixth less for usual
// floats.
size_t ScannedBound(const Array& array);

// Writes the text to `out`, which has room for either bound, and its length to `length`.
Status EncodeNdarray(const Array& array, NonFinite non_finite, char* out, size_t& length);

}  // namespace serving
