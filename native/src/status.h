// Status codes of the add-on, which src/values/array/native-codec.ts names. C++ exceptions never cross the boundary.
#pragma once

#include "dtype.h"

namespace serving {

enum class Status : int {
  kOk = 0,
  kSyntax = 1,
  kRagged = 2,
  kDtype = 3,
  kRange = 4,
  kPrecision = 5,
  kDepth = 6,
  // The text holds a string or an object: the TypeScript codec reads it instead.
  kNotMine = 7,
  // Out of memory, or the bytes changed under the parser (shared memory).
  kGaveUp = 8,
  // Encoding only: a NaN or an infinity where none is allowed.
  kNonFinite = 9,
};

constexpr int kMaxDimensions = 64;

}  // namespace serving
