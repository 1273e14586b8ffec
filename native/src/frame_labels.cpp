#include "frame_labels.h"

namespace serving {

int64_t FrameLabels::Find(size_t predicted) {
  const uint8_t* const text = scan_.text();
  const size_t length = scan_.text_length();
  const auto is = [&](size_t row) {
    size_t own;
    const uint8_t* const bytes = builder_.TextAt(row, own);
    // Empty texts may have null addresses, which memcmp does not accept.
    return own == length && (length == 0 || std::memcmp(bytes, text, length) == 0);
  };
  if (predicted < count() && is(predicted)) return static_cast<int64_t>(predicted);
  if (is_range_) {
    // As long as label `i` is the text of `i` for all of them, no table is needed.
    size_t row = 0;
    bool is_number = length > 0 && length <= 9 && (text[0] != '0' || length == 1);
    for (size_t i = 0; is_number && i < length; i++) {
      is_number = text[i] >= '0' && text[i] <= '9';
      row = row * 10 + (text[i] - '0');
    }
    if (is_number && row < count()) return static_cast<int64_t>(row);
    if (!is_number || row != count()) is_range_ = false;
  }
  if (!is_range_) {
    if (!is_indexed_) {
      is_indexed_ = true;
      for (size_t row = 0; row < count(); row++) {
        size_t own;
        const uint8_t* const bytes = builder_.TextAt(row, own);
        if (!table_.Insert(table_.Hash(bytes, own), static_cast<uint32_t>(row))) return -1;
      }
    }
    const uint64_t hash = table_.Hash(text, length);
    const int64_t known = table_.Find(hash, [&](uint32_t row) { return is(row); });
    if (known >= 0) return known;
    if (!table_.Insert(hash, static_cast<uint32_t>(count()))) return -1;
  }
  return builder_.AddText(text, length) == Added::kYes ? static_cast<int64_t>(count()) - 1 : -1;
}

}  // namespace serving
