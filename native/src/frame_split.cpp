// The split layout: columns, index and data, in any order.
#include <cstdio>

#include "frame_parse.h"

namespace serving {

bool FrameParser::Split(bool is_frame) {
  bool has_data = false;
  bool has_index = false;
  bool has_name = false;
  bool more;
  if (!scan_.Expect('{') || scan_.Peek() == '}') return false;
  do {
    if (!scan_.Key()) return false;
    if (scan_.TextIs("index") && !has_index) {
      has_index = true;
      if (!LabelList(index_)) return false;
    } else if (is_frame && scan_.TextIs("columns") && !has_columns_) {
      has_columns_ = true;
      if (!LabelList(columns_)) return false;
    } else if (!is_frame && scan_.TextIs("name") && !has_name) {
      has_name = true;
      if (!Name()) return false;
    } else if (scan_.TextIs("data") && !has_data) {
      has_data = true;
      size_t at;
      if (is_frame ? !Rows('[') : !Add(nullptr, 0, at) || !ListInto(at, rows_)) return false;
    } else {
      return false;
    }
    if (!scan_.More('}', more)) return false;
  } while (more);
  if (!has_data || (is_frame && !has_columns_) || (has_index && index_.length() != rows_)) return false;
  has_index_ = has_index && rows_ > 0;
  return !is_frame || Rename();
}

bool FrameParser::LabelList(ColumnBuilder& into) {
  if (!scan_.Expect('[')) return false;
  if (scan_.Peek() == ']') {
    scan_.Skip();
    return true;
  }
  bool more;
  do {
    const uint8_t byte = scan_.Peek();
    const bool is_first = into.length() == 0;
    const ColumnKind before = into.kind();
    if (byte != '"' && byte != '-' && !(byte >= '0' && byte <= '9')) return false;
    if (!scan_.Scalar(into) || into.kind() == ColumnKind::kFloat64 || (!is_first && into.kind() != before))
      return false;
    if (!scan_.More(']', more)) return false;
  } while (more);
  return true;
}

bool FrameParser::Name() {
  const uint8_t byte = scan_.Peek();
  if (byte == 'n') return scan_.Word("null", 4);
  if (byte != '"') return false;
  has_name_ = true;
  return scan_.String() && name_.Append(scan_.text(), scan_.text_length());
}

// The columns by place get the names of split's list.
bool FrameParser::Rename() {
  const size_t count = columns_.length();
  if (rows_ > 0 && count != count_) return false;
  if (rows_ == 0 && count_ != 0) return false;
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
    if (!name.Append(text, length)) return false;
  }
  return true;
}

}  // namespace serving
