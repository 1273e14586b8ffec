// Element types: one record for each.
#pragma once

#include <cstddef>

namespace serving {

// The codes of `elementTypes` in src/dtype.ts; proto/ndarray.fbs has the same.
enum class Dtype : int {
  kInferred = -1,
  kBool = 0,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kStr,
};

struct ElementType {
  // Bytes of one element; 0 for text.
  size_t bytes;
  // Length of the longest JSON text of one element: "-1.7976931348623157e+308" and two more for floats.
  size_t longest_text;
};

inline constexpr ElementType kElementTypes[] = {
    {1, 5},                                // bool
    {1, 4}, {2, 6}, {4, 11}, {8, 20},      // int8 to int64
    {1, 4}, {2, 6}, {4, 11}, {8, 20},      // uint8 to uint64
    {2, 26}, {4, 26}, {8, 26},             // float16 to float64
    {0, 0},                                // str
};
inline constexpr int kNumericTypes = static_cast<int>(Dtype::kStr);

// Numbers of an inferred type are read as float64.
constexpr const ElementType& TypeOf(Dtype dtype) {
  return kElementTypes[static_cast<int>(dtype == Dtype::kInferred ? Dtype::kFloat64 : dtype)];
}

constexpr size_t ItemSize(Dtype dtype) { return TypeOf(dtype).bytes; }

}  // namespace serving
