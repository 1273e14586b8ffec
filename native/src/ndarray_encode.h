// Flat numbers become compact JSON text.
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

// Bytes that EncodeNdarray may need, so near to what it takes as the elements' magnitudes tell. SIZE_MAX when it
// overflows.
size_t EncodedBound(const Array& array);

// The same without a look at the elements, about a fifth above.
size_t LooseBound(const Array& array);

// Writes the text and its length. The room at `out` is EncodedBound's.
Status EncodeNdarray(const Array& array, NonFinite non_finite, char* out, size_t& length);

}  // namespace serving
