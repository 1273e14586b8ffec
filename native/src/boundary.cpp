#include "boundary.h"

namespace serving {
namespace {

bool GetWords(napi_env env, napi_value value, double*& words) {
  View view;
  if (!GetView(env, value, napi_float64_array, view) || view.length != kResultWords) return false;
  words = reinterpret_cast<double*>(view.data);
  return true;
}

bool GetCode(napi_env env, napi_value value, int min, int max, int32_t& code) {
  return napi_get_value_int32(env, value, &code) == napi_ok && code >= min && code <= max;
}

}  // namespace

bool ReadParseArguments(napi_env env, const napi_value* args, ParseArguments& to) {
  View json;
  int32_t code;
  if (!GetView(env, args[0], napi_uint8_array, json) ||
      !GetCode(env, args[1], -1, kEnforcedCast + kNumericTypes - 1, code) || !GetWords(env, args[2], to.words)) {
    return false;
  }
  to.cast.enforced = code >= kEnforcedCast;
  if (to.cast.enforced) code -= kEnforcedCast;
  if (code >= kNumericTypes) return false;
  to.text = json.data;
  to.length = json.length;
  to.cast.dtype = static_cast<Dtype>(code);
  return true;
}

bool ReadEncodeArguments(napi_env env, const napi_value* args, EncodeArguments& to) {
  View data;
  int32_t code;
  int32_t non_finite;
  if (!GetView(env, args[0], data) || !GetCode(env, args[1], 0, kNumericTypes - 1, code) ||
      !GetCode(env, args[2], 0, 2, non_finite) || !GetWords(env, args[3], to.words)) {
    return false;
  }
  // Indexed by napi_typedarray_type. The view's element size must be the dtype's, or printing would read past its end.
  static constexpr size_t kViewBytes[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8};
  const double rank = to.words[ResultWord::kRank];
  if (static_cast<size_t>(data.type) >= sizeof kViewBytes / sizeof *kViewBytes ||
      kViewBytes[data.type] != ItemSize(static_cast<Dtype>(code)) || !(rank >= 0 && rank <= kMaxDimensions)) {
    return false;
  }
  double product = 1;
  for (int i = 0; i < static_cast<int>(rank); i++) {
    const double dim = to.words[ResultWord::kDims + static_cast<size_t>(i)];
    if (!(dim >= 1 && dim <= 9007199254740992.0)) return false;
    to.dims[i] = static_cast<size_t>(dim);
    product *= dim;
  }
  to.array = {data.data, data.length, static_cast<Dtype>(code), static_cast<int>(rank), to.dims};
  to.non_finite = static_cast<NonFinite>(non_finite);
  return product == static_cast<double>(data.length);
}

void WriteResult(const ParseResult& result, double* words) {
  WriteStatus(result.status, words);
  words[ResultWord::kOffset] = static_cast<double>(result.offset);
  if (result.status != Status::kOk) return;
  words[ResultWord::kDtype] = static_cast<double>(result.dtype);
  words[ResultWord::kRank] = result.rank;
  for (int i = 0; i < result.rank; i++)
    words[ResultWord::kDims + static_cast<size_t>(i)] = static_cast<double>(result.dims[i]);
}

}  // namespace serving
