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

bool Sum(const View& view, double& sum) {
  // Indexed by napi_typedarray_type.
  constexpr Dtype kTypes[] = {Dtype::kInt8, Dtype::kUint8, Dtype::kStr, Dtype::kInt16, Dtype::kUint16,
                              Dtype::kInt32, Dtype::kUint32, Dtype::kFloat32, Dtype::kFloat64};
  const Dtype type = view.type <= napi_float64_array ? kTypes[view.type] : Dtype::kStr;
  const auto add = [&](auto zero) { sum = SumOf<decltype(zero), int64_t>(view.data, view.length); };
  if (type == Dtype::kUint8) {
    sum = SumOfBytes(view.data, view.length);
  } else if (type == Dtype::kFloat32) {
    sum = SumOf<float, double>(view.data, view.length);
  } else if (type == Dtype::kFloat64) {
    sum = SumOf<double, double>(view.data, view.length);
  } else {
    return WithInteger(type, add);
  }
  return true;
}

}  // namespace

napi_value SumElements(napi_env env, napi_callback_info info) {
  napi_value args[1];
  View view;
  double sum;
  if (!GetArguments(env, info, args) || !GetView(env, args[0], view) || !Sum(view, sum)) return Misused(env);
  napi_value result = nullptr;
  napi_create_double(env, sum, &result);
  return result;
}

}  // namespace serving
