// The split layout: columns, index and data, in any order.
#include <cmath>
#include <cstdio>

#include "frame_parse.h"

namespace serving {

bool FrameParser::Split(bool is_frame) {
  const size_t begin = scan_.offset();
  bool has_data = false;
  bool has_index = false;
  // Whether `columns` of a frame, or `name` of a series, was read.
  bool has_names = false;
  size_t index_at = begin;
  size_t names_at = begin;
  if (scan_.Peek() != '{') return Unexpected();
  const bool done = scan_.Members([&](size_t start) {
    const bool is_data = scan_.TextIs("data");
    const bool is_index = scan_.TextIs("index");
    if (!is_data && !is_index && !scan_.TextIs(is_frame ? "columns" : "name")) return Fail(FrameError::kKeys, start);
    bool& has = is_data ? has_data : is_index ? has_index : has_names;
    if (has) return Fail(FrameError::kDuplicate, start);
    has = true;
    const uint8_t byte = scan_.Peek();
    if (is_index) {
      index_at = scan_.offset();
      return LabelList(index_, true);
    }
    if (!is_data) {
      names_at = scan_.offset();
      return is_frame ? LabelList(columns_, false) : Name();
    }
    if (byte != '[') return Unexpected();
    size_t at;
    return is_frame ? Rows('[') : Add(nullptr, 0, at) && ListInto(at, rows_);
  });
  if (!done) return false;
  if (!has_data || (is_frame && !has_names)) return Fail(FrameError::kKeys, begin);
  if (has_index && index_.length() != rows_) return Fail(FrameError::kRagged, index_at);
  has_index_ = has_index && rows_ > 0;
  return !is_frame || Rename(names_at);
}

// Reads a list of strings, or of integers and, if `floats`, other finite numbers.
bool FrameParser::LabelList(ColumnBuilder& into, bool floats) {
  if (scan_.Peek() != '[') return Unexpected();
  return scan_.Elements('[', ']', [&] { return Label(into, floats); });
}

bool FrameParser::Label(ColumnBuilder& into, bool floats) {
  const uint8_t byte = scan_.Peek();
  const size_t start = scan_.offset();
  const bool is_first = into.length() == 0;
  const ColumnKind before = into.kind();
  if (byte != '"' && byte != '-' && !(byte >= '0' && byte <= '9')) {
    Unexpected();
    return scan_.error() == FrameError::kLayout && Fail(FrameError::kLabels, start);
  }
  if (!scan_.Scalar(into)) return scan_.error() == FrameError::kKind && Fail(FrameError::kLabels, start);
  const ColumnKind kind = into.kind();
  if (floats && kind == ColumnKind::kFloat64 && (is_first || before == kind || before == ColumnKind::kInt64)) {
    if (std::isfinite(into.cells().As<double>()[into.length() - 1])) return true;
  } else if ((kind == ColumnKind::kInt64 || kind == ColumnKind::kText) && (is_first || kind == before)) {
    return true;
  }
  return Fail(FrameError::kLabels, start);
}

// Reads a string, an integer or null.
bool FrameParser::Name() {
  const uint8_t byte = scan_.Peek();
  if (byte == 'n' && scan_.Word("null", 4)) return true;
  const size_t start = scan_.offset();
  const uint8_t* const token = scan_.here();
  has_name_ = true;
  if (byte == '"') return scan_.String() && (name_.Append(scan_.text(), scan_.text_length()) || NoMemory());
  ColumnBuilder number;
  if (!scan_.Scalar(number)) return false;
  if (number.kind() != ColumnKind::kInt64) return Fail(FrameError::kLabels, start);
  return name_.Append(token, scan_.offset() - start) || NoMemory();
}

// Names the columns by position from split's list, which starts at `offset`.
bool FrameParser::Rename(size_t offset) {
  const size_t count = columns_.length();
  if (count != count_ && (rows_ > 0 || count_ > 0)) return Fail(FrameError::kRagged, offset);
  for (size_t i = 0; i < count; i++) {
    const uint8_t* text;
    size_t length;
    char digits[24];
    if (columns_.kind() == ColumnKind::kText) {
      text = columns_.TextAt(i, length);
    } else {
      const long long number = columns_.cells().As<int64_t>()[i];
      length = static_cast<size_t>(std::snprintf(digits, sizeof digits, "%lld", number));
      text = reinterpret_cast<const uint8_t*>(digits);
    }
    if (i == count_) {
      size_t at;
      if (!Add(text, length, at)) return false;
      continue;
    }
    Bytes& name = column(i).name;
    name.Clear();
    if (!name.Append(text, length)) return NoMemory();
  }
  return true;
}

}  // namespace serving
