// Element types: one record for each.
#pragma once

#include "shared_numbers.h"

namespace serving {

struct ElementType {
  // Bytes of one element; 0 for text.
  size_t bytes;
  // Length of the longest JSON text of an element: for floats "-1.7976931348623157e+308" and two more characters.
  size_t longest_text;
};

inline constexpr ElementType kElementTypes[] = {
    {1, 5},                              // bool
    {1, 4},  {2, 6},  {4, 11}, {8, 20},  // int8 to int64
    {1, 4},  {2, 6},  {4, 11}, {8, 20},  // uint8 to uint64
    {2, 26}, {4, 26}, {8, 26},           // float16 to float64
    {0, 0},  {0, 0},                     // str, JSON
};
inline constexpr int kNumericTypes = static_cast<int>(Dtype::kStr);

// Numbers are parsed as float64 while their type is inferred.
constexpr const ElementType& TypeOf(Dtype dtype) {
  return kElementTypes[static_cast<int>(dtype == Dtype::kInferred ? Dtype::kFloat64 : dtype)];
}

// Calls `with` with a zero of the integer type; returns false when the type is not an integer.
template <class With>
bool WithInteger(Dtype dtype, const With& with) {
  switch (dtype) {
    case Dtype::kInt8:
      return with(int8_t{0}), true;
    case Dtype::kInt16:
      return with(int16_t{0}), true;
    case Dtype::kInt32:
      return with(int32_t{0}), true;
    case Dtype::kInt64:
      return with(int64_t{0}), true;
    case Dtype::kUint8:
      return with(uint8_t{0}), true;
    case Dtype::kUint16:
      return with(uint16_t{0}), true;
    case Dtype::kUint32:
      return with(uint32_t{0}), true;
    case Dtype::kUint64:
      return with(uint64_t{0}), true;
    default:
      return false;
  }
}

constexpr size_t ItemSize(Dtype dtype) { return TypeOf(dtype).bytes; }

}  // namespace serving
