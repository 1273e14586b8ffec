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

// Reads the numbers of a plan one after the other. Each is checked: from the first wrong one on, all are zeros and
// empty, and `ok` is false.
class Plan {
 public:
  Plan(napi_env env, const View& words, napi_value parts, const Span& texts)
      : env_(env),
        words_(reinterpret_cast<const double*>(words.data)),
        left_(words.length),
        parts_(parts),
        texts_(texts) {}

  bool ok() const { return ok_; }

  size_t Number(size_t max) {
    const double word = left_ == 0 ? -1 : *words_;
    Skip(1);
    if (!(word >= 0 && word <= static_cast<double>(max))) ok_ = false;
    return ok_ ? static_cast<size_t>(word) : 0;
  }
  bool Flag() { return Number(1) != 0; }
  uint32_t Whole(uint32_t min) {
    const size_t number = Number(INT32_MAX);
    if (number < min) ok_ = false;
    return static_cast<uint32_t>(number);
  }
  double Real() {
    const double word = left_ == 0 ? 0 : *words_;
    Skip(1);
    return word;
  }

  // -1 stands for none, SIZE_MAX.
  size_t NumberOrNone(size_t max) {
    if (left_ == 0 || *words_ != -1) return Number(max);
    Skip(1);
    return SIZE_MAX;
  }

  void Skip(size_t count) {
    if (count > left_) ok_ = false;
    if (!ok_) return;
    words_ += count;
    left_ -= count;
  }

  // A piece of the texts, by its start and end.
  Span Text() {
    const size_t start = Number(texts_.size);
    const size_t end = Number(texts_.size);
    if (end < start) ok_ = false;
    return ok_ ? Span{texts_.data + start, end - start} : Span{nullptr, 0};
  }

  // A buffer, by its number.
  Span Part() { return PartAt(Number(UINT32_MAX)); }
  Span PartOrNone() {
    const size_t index = NumberOrNone(UINT32_MAX);
    return index == SIZE_MAX ? Span{nullptr, 0} : PartAt(index);
  }
  Span PartAt(size_t index) {
    napi_value value;
    Span span;
    ok_ = ok_ && napi_get_element(env_, parts_, static_cast<uint32_t>(index), &value) == napi_ok &&
          GetSpan(env_, value, napi_uint8_array, span);
    return ok_ ? span : Span{nullptr, 0};
  }

  // Three words: the number of a part or -1 for none, where the span starts in it, and its bytes. Columns of one buffer
  // follow each other, and asking JavaScript for a part takes 0.1 us.
  Span RangeOrNone() {
    const size_t index = NumberOrNone(UINT32_MAX);
    if (index != SIZE_MAX && index != last_) range_ = PartAt(index);
    last_ = index == SIZE_MAX ? last_ : index;
    const size_t start = Number(index == SIZE_MAX ? 0 : range_.size);
    const size_t bytes = Number(index == SIZE_MAX ? 0 : range_.size - start);
    return ok_ && index != SIZE_MAX ? Span{range_.data + start, bytes} : Span{nullptr, 0};
  }

 private:
  napi_env env_;
  const double* words_;
  size_t left_;
  napi_value parts_;
  Span texts_;
  bool ok_ = true;
  size_t last_ = SIZE_MAX;
  Span range_ = {nullptr, 0};
};

}  // namespace serving
