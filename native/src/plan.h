// Reads a plan of JavaScript: a list of numbers, and the buffers and texts that they refer to.
#pragma once

#include "frame_encode.h"
#include "node_values.h"

namespace serving {

inline bool GetSpan(napi_env env, napi_value value, napi_typedarray_type type, Span& span) {
  View view;
  if (!GetView(env, value, type, view)) return false;
  // An empty view may have a null address, which would mean "absent".
  span.data = view.data == nullptr ? reinterpret_cast<const uint8_t*>("") : view.data;
  span.size = view.length;
  return true;
}

// Reads a plan; every number is checked before it is used.
class Plan {
 public:
  Plan(napi_env env, const double* words, size_t count, napi_value parts, const Span& texts)
      : env_(env), words_(words), count_(count), parts_(parts), texts_(texts) {}

  bool Number(size_t at, size_t limit, size_t& value) const {
    if (at >= count_ || !(words_[at] >= 0 && words_[at] <= static_cast<double>(limit))) return false;
    value = static_cast<size_t>(words_[at]);
    return true;
  }
  bool IsAbsent(size_t at) const { return at < count_ && words_[at] == -1; }

  bool Text(size_t at, Span& span) const {
    size_t start;
    size_t end;
    if (!Number(at, texts_.size, start) || !Number(at + 1, texts_.size, end) || end < start) return false;
    span = {texts_.data + start, end - start};
    return true;
  }

  bool Part(size_t at, Span& span) const {
    size_t index;
    if (!Number(at, UINT32_MAX, index)) return false;
    return PartAt(index, span);
  }

  bool PartAt(size_t index, Span& span) const {
    napi_value value;
    return napi_get_element(env_, parts_, static_cast<uint32_t>(index), &value) == napi_ok &&
           GetSpan(env_, value, napi_uint8_array, span);
  }

  // Three words: the number of a part or -1 for none, where the span starts in it, and its bytes. Columns of one buffer
  // follow each other, and asking JavaScript for a part takes 0.1 us.
  bool RangeOrNone(size_t at, Span& span) {
    span = {nullptr, 0};
    if (IsAbsent(at)) return true;
    size_t index;
    size_t start;
    size_t bytes;
    if (!Number(at, UINT32_MAX, index) || (index != last_ && !PartAt(index, range_))) return false;
    last_ = index;
    if (!Number(at + 1, range_.size, start) || !Number(at + 2, range_.size - start, bytes)) return false;
    span = {range_.data + start, bytes};
    return true;
  }

  bool PartOrNone(size_t at, Span& span) const {
    span = {nullptr, 0};
    return IsAbsent(at) || Part(at, span);
  }

 private:
  napi_env env_;
  const double* words_;
  size_t count_;
  napi_value parts_;
  Span texts_;
  size_t last_ = SIZE_MAX;
  Span range_ = {nullptr, 0};
};

}  // namespace serving
