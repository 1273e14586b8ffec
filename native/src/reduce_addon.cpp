#include "reduce_addon.h"

#include <cstdint>

#include "boundary.h"

namespace serving {
namespace {

// Eight sums, which compilers keep in vector registers; with a single one, each addition would wait for the last.
constexpr size_t kSums = 8;

template <typename Element, typename Sum>
double SumOf(const void* data, size_t length) {
  const Element* const elements = static_cast<const Element*>(data);
  Sum sums[kSums] = {};
  size_t i = 0;
  for (; i + kSums <= length; i += kSums) {
    for (size_t s = 0; s < kSums; s++) sums[s] += static_cast<Sum>(elements[i + s]);
  }
  for (; i < length; i++) sums[0] += static_cast<Sum>(elements[i]);
  Sum total = 0;
  for (const Sum sum : sums) total += sum;
  return static_cast<double>(total);
}

// Sums blocks that fit 32 bits: twice as many sums in a vector register.
double SumOfBytes(const uint8_t* bytes, size_t length) {
  constexpr size_t kBlock = 1 << 24;
  double total = 0;
  for (size_t at = 0; at < length; at += kBlock) {
    const size_t size = length - at < kBlock ? length - at : kBlock;
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++) sum += bytes[at + i];
    total += sum;
  }
  return total;
}

bool Sum(napi_typedarray_type type, const void* data, size_t length, double& sum) {
  switch (type) {
    case napi_uint8_array:
      sum = SumOfBytes(static_cast<const uint8_t*>(data), length);
      return true;
    case napi_int8_array:
      sum = SumOf<int8_t, int64_t>(data, length);
      return true;
    case napi_int16_array:
      sum = SumOf<int16_t, int64_t>(data, length);
      return true;
    case napi_uint16_array:
      sum = SumOf<uint16_t, int64_t>(data, length);
      return true;
    case napi_int32_array:
      sum = SumOf<int32_t, int64_t>(data, length);
      return true;
    case napi_uint32_array:
      sum = SumOf<uint32_t, int64_t>(data, length);
      return true;
    case napi_float32_array:
      sum = SumOf<float, double>(data, length);
      return true;
    case napi_float64_array:
      sum = SumOf<double, double>(data, length);
      return true;
    default:
      return false;
  }
}

}  // namespace

napi_value SumElements(napi_env env, napi_callback_info info) {
  napi_value args[1];
  napi_typedarray_type type;
  void* data;
  size_t length;
  double sum;
  if (!GetArguments(env, info, args) ||
      napi_get_typedarray_info(env, args[0], &type, &length, &data, nullptr, nullptr) != napi_ok ||
      !Sum(type, data, length, sum)) {
    return Misused(env);
  }
  napi_value result = nullptr;
  napi_create_double(env, sum, &result);
  return result;
}

}  // namespace serving
