// Measures JSON texts before JSON.parse reads them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace serving {

// What JSON.parse would make of a text; right for every valid one. See JsonMeasure in src/core/text/json-scan.ts.
struct JsonMeasure {
  // Offset of the first bracket that is too deep, behind which nothing counts; SIZE_MAX without one.
  size_t deep_at;
  size_t values;
  size_t widest;
  bool may_hold_big_numbers;
};

constexpr size_t kMaxJsonDepth = 128;

JsonMeasure MeasureJson(const uint8_t* json, size_t length);

}  // namespace serving
