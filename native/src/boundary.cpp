#include "boundary.h"

namespace serving {
namespace {

struct View {
  void* data;
  size_t length;
  napi_typedarray_type type;
};

bool GetView(napi_env env, napi_value value, View& view) {
  return napi_get_typedarray_info(env, value, &view.type, &view.length, &view.data, nullptr, nullptr) == napi_ok;
}

bool GetHead(napi_env env, napi_value value, double*& head) {
  View view;
  if (!GetView(env, value, view) || view.type != napi_float64_array || view.length != kHeadLength) return false;
  head = static_cast<double*>(view.data);
  return true;
}

bool GetCode(napi_env env, napi_value value, int least, int most, int32_t& code) {
  return napi_get_value_int32(env, value, &code) == napi_ok && code >= least && code <= most;
}

}  // namespace

bool ReadParseArguments(napi_env env, const napi_value* args, ParseArguments& to) {
  View json;
  int32_t code;
  if (!GetView(env, args[0], json) || json.type != napi_uint8_array || !GetCode(env, args[1], -1, kNumericTypes - 1, code) ||
      !GetHead(env, args[2], to.head)) {
    return false;
  }
  to.text = static_cast<const uint8_t*>(json.data);
  to.length = json.length;
  to.dtype = static_cast<Dtype>(code);
  return true;
}

bool ReadEncodeArguments(napi_env env, const napi_value* args, EncodeArguments& to) {
  View data;
  int32_t code;
  int32_t non_finite;
  if (!GetView(env, args[0], data) || !GetCode(env, args[1], 0, kNumericTypes - 1, code) || !GetCode(env, args[2], 0, 2, non_finite) ||
      !GetHead(env, args[3], to.head)) {
    return false;
  }
  // The view's own element size must be the dtype's, or the printing would read past its end.
  static constexpr size_t kSizes[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8};
  const double rank = to.head[3];
  if (static_cast<size_t>(data.type) >= sizeof kSizes / sizeof *kSizes ||
      kSizes[data.type] != ItemSize(static_cast<Dtype>(code)) || !(rank >= 0 && rank <= kMaxDimensions)) {
    return false;
  }
  double product = 1;
  for (int i = 0; i < static_cast<int>(rank); i++) {
    const double dim = to.head[4 + i];
    if (!(dim >= 1 && dim <= 9007199254740992.0)) return false;
    to.dims[i] = static_cast<size_t>(dim);
    product *= dim;
  }
  to.array = {data.data, data.length, static_cast<Dtype>(code), static_cast<int>(rank), to.dims};
  to.non_finite = static_cast<NonFinite>(non_finite);
  return product == static_cast<double>(data.length);
}

void WriteHead(const ParseResult& result, double* head) {
  head[0] = static_cast<double>(result.status);
  head[1] = static_cast<double>(result.offset);
  if (result.status != Status::kOk) return;
  head[2] = static_cast<double>(result.dtype);
  head[3] = result.rank;
  for (int i = 0; i < result.rank; i++) head[4 + i] = static_cast<double>(result.dims[i]);
}

napi_value Misused(napi_env env) {
  napi_throw_type_error(env, nullptr, "serving_native: called outside its contract");
  return nullptr;
}

}  // namespace serving
