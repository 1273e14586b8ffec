#include "frame_parse.h"

#include <cstdio>
#include <new>

namespace serving {

FrameParser::FrameParser(const uint8_t* json, size_t length, FrameLimits limits, uint64_t seed0, uint64_t seed1)
    : scan_(json, length), limits_(limits), labels_(scan_) {
  names_.Seed(seed0, seed1);
  labels_.Seed(seed0, seed1);
}

FrameParser::~FrameParser() {
  for (size_t i = 0; i < count_; i++) delete &column(i);
}

bool FrameParser::Parse(FrameLayout layout) {
  const uint8_t first = scan_.Peek();
  bool done;
  if (layout == FrameLayout::kSplit || layout == FrameLayout::kSeriesSplit) {
    done = Split(layout == FrameLayout::kSplit);
  } else if (layout == FrameLayout::kTable) {
    done = Table();
  } else if (first == 'n') {
    done = scan_.Word("null", 4);
  } else if (layout == FrameLayout::kIndex) {
    done = Index();
  } else if (layout == FrameLayout::kSeries) {
    done = Series();
  } else {
    done = first == '[' ? List() : ByColumn();
  }
  if (!done) return false;
  scan_.Peek();
  return scan_.AtEnd() && Finish();
}

// `[…]`: records, lists of values, or scalars, as the first row is.
bool FrameParser::List() {
  if (!scan_.Expect('[')) return false;
  const uint8_t first = scan_.Peek();
  if (first == ']') {
    scan_.Skip();
    return true;
  }
  const bool is_scalar = first != '{' && first != '[';
  bool more;
  do {
    const uint8_t byte = scan_.Peek();
    if (is_scalar ? byte == '{' || byte == '[' : byte != first) return false;
    if (byte == '{') {
      if (!Record()) return false;
    } else if (byte == '[') {
      if (!Values()) return false;
    } else {
      size_t column = 0;
      if (rows_ == 0 && !AddNumbered(0, column)) return false;
      if (!scan_.Scalar(this->column(0).builder)) return false;
    }
    if (!NextRow() || !scan_.More(']', more)) return false;
  } while (more);
  return true;
}

// Rows of one form: `{` records, `[` lists of values.
bool FrameParser::Rows(uint8_t open) {
  if (!scan_.Expect('[')) return false;
  if (scan_.Peek() == ']') {
    scan_.Skip();
    return true;
  }
  bool more;
  do {
    if (scan_.Peek() != open || !(open == '{' ? Record() : Values())) return false;
    if (!NextRow() || !scan_.More(']', more)) return false;
  } while (more);
  return true;
}

bool FrameParser::Record() {
  if (!scan_.Expect('{')) return false;
  if (scan_.Peek() == '}') {
    scan_.Skip();
    return true;
  }
  size_t predicted = 0;
  bool more;
  do {
    size_t at;
    if (!FindColumn(predicted, at)) return false;
    ColumnBuilder& builder = column(at).builder;
    // A key twice, or one that earlier rows did not have.
    if (builder.length() != rows_ && (builder.length() > rows_ || !builder.PadTo(rows_))) return false;
    if (!scan_.Scalar(builder)) return false;
    predicted = at + 1;
    if (!scan_.More('}', more)) return false;
  } while (more);
  return true;
}

bool FrameParser::FindColumn(size_t predicted, size_t& at) {
  scan_.Peek();
  if (predicted < count_) {
    const FrameSlot& slot = column(predicted);
    if (slot.plain && scan_.TryKey(slot.name.data(), slot.name.size())) {
      at = predicted;
      return true;
    }
  }
  if (!scan_.Key()) return false;
  const int64_t known = FindName();
  if (known >= 0) {
    at = static_cast<size_t>(known);
    return true;
  }
  return Add(scan_.text(), scan_.text_length(), at) && (rows_ + 1) * count_ <= limits_.max_cells;
}

int64_t FrameParser::FindName() {
  const uint8_t* const text = scan_.text();
  const size_t length = scan_.text_length();
  return names_.Find(names_.Hash(text, length), [&](uint32_t number) {
    const Bytes& name = column(number).name;
    return name.size() == length && std::memcmp(name.data(), text, length) == 0;
  });
}

bool FrameParser::Add(const uint8_t* name, size_t length, size_t& at) {
  if (count_ == limits_.max_columns) return false;
  FrameSlot* const slot = new (std::nothrow) FrameSlot;
  if (slot == nullptr) return false;
  if (!slots_.Push(slot)) {
    delete slot;
    return false;
  }
  at = count_++;
  // Room for one more byte, so that the bytes of an empty name have an address, too.
  if (!slot->name.Reserve(length + 1) || !slot->name.Append(name, length)) return false;
  slot->plain = true;
  for (size_t i = 0; i < length; i++) slot->plain = slot->plain && name[i] >= 0x20 && name[i] != '"' && name[i] != '\\';
  return names_.Insert(names_.Hash(name, length), static_cast<uint32_t>(at));
}

bool FrameParser::AddNumbered(size_t number, size_t& at) {
  char digits[24];
  const int length = std::snprintf(digits, sizeof digits, "%zu", number);
  return Add(reinterpret_cast<const uint8_t*>(digits), static_cast<size_t>(length), at);
}

bool FrameParser::Values() {
  if (!scan_.Expect('[')) return false;
  size_t next = 0;
  if (scan_.Peek() == ']') {
    scan_.Skip();
  } else {
    bool more;
    do {
      size_t at = next;
      if (next == count_ && (rows_ > 0 || !AddNumbered(next, at))) return false;
      if (!scan_.Scalar(column(next++).builder) || !scan_.More(']', more)) return false;
    } while (more);
  }
  return next == count_;
}

bool FrameParser::Index() {
  keyed_ = true;
  if (!scan_.Expect('{')) return false;
  if (scan_.Peek() == '}') {
    scan_.Skip();
    return true;
  }
  bool more;
  do {
    if (!scan_.Key() || labels_.Find(rows_) != static_cast<int64_t>(rows_)) return false;
    if (scan_.Peek() != '{' || !Record() || !NextRow() || !scan_.More('}', more)) return false;
  } while (more);
  return true;
}

bool FrameParser::ByColumn() {
  if (!scan_.Expect('{')) return false;
  if (scan_.Peek() == '}') {
    scan_.Skip();
    return true;
  }
  uint8_t form = 0;
  bool more;
  do {
    size_t at;
    if (!scan_.Key() || FindName() >= 0 || !Add(scan_.text(), scan_.text_length(), at)) return false;
    const uint8_t byte = scan_.Peek();
    if ((byte != '{' && byte != '[') || (form != 0 && byte != form)) return false;
    if (byte == '[') {
      size_t rows;
      if (!ListInto(at, rows) || (form != 0 && rows != rows_)) return false;
      rows_ = rows;
    } else {
      keyed_ = true;
      if (!Labelled(at)) return false;
    }
    form = byte;
    if (!WithinCells() || !scan_.More('}', more)) return false;
  } while (more);
  return true;
}

bool FrameParser::ListInto(size_t at, size_t& rows) {
  rows = 0;
  if (!scan_.Expect('[')) return false;
  if (scan_.Peek() == ']') {
    scan_.Skip();
    return true;
  }
  ColumnBuilder& builder = column(at).builder;
  bool more;
  do {
    if (!scan_.Scalar(builder) || !scan_.More(']', more)) return false;
    rows++;
  } while (more);
  return true;
}

bool FrameParser::Labelled(size_t at) {
  if (!scan_.Expect('{')) return false;
  if (scan_.Peek() == '}') {
    scan_.Skip();
    return true;
  }
  FrameSlot& slot = column(at);
  size_t count = 0;
  bool more;
  do {
    if (!scan_.Key()) return false;
    const int64_t row = labels_.Find(count);
    if (row < 0) return false;
    if (static_cast<size_t>(row) == rows_ && !NextRow()) return false;
    if (!Place(slot, count, static_cast<size_t>(row)) || !scan_.Scalar(slot.builder)) return false;
    count++;
    if (!scan_.More('}', more)) return false;
  } while (more);
  return true;
}

bool FrameParser::Place(FrameSlot& slot, size_t count, size_t row) {
  if (!slot.scattered) {
    if (row == count) return true;
    slot.scattered = true;
    for (size_t i = 0; i < count; i++) {
      if (!slot.places.Push(static_cast<int32_t>(i))) return false;
    }
  }
  while (slot.places.size() / 4 <= row) {
    if (!slot.places.Push<int32_t>(-1)) return false;
  }
  int32_t& place = slot.places.As<int32_t>()[row];
  if (place != -1) return false;
  place = static_cast<int32_t>(count);
  return true;
}

bool FrameParser::Series() {
  size_t at;
  if (!Add(nullptr, 0, at)) return false;
  const uint8_t first = scan_.Peek();
  if (first == '[') return ListInto(at, rows_);
  if (first == '{') {
    keyed_ = true;
    return Labelled(at);
  }
  rows_ = 1;
  return scan_.Scalar(column(at).builder);
}

bool FrameParser::Table() {
  bool has_data = false;
  bool has_schema = false;
  bool more;
  if (!scan_.Expect('{') || scan_.Peek() == '}') return false;
  do {
    if (!scan_.Key()) return false;
    if (scan_.TextIs("schema") && !has_schema) {
      has_schema = true;
      if (scan_.Peek() != '{') return false;
      schema_start_ = scan_.offset();
      if (!scan_.SkipObject()) return false;
      schema_end_ = scan_.offset();
    } else if (scan_.TextIs("data") && !has_data) {
      has_data = true;
      if (!Rows('{')) return false;
    } else {
      return false;
    }
    if (!scan_.More('}', more)) return false;
  } while (more);
  return has_data && has_schema;
}

// Every column gets an element for every row.
bool FrameParser::Finish() {
  for (size_t i = 0; i < count_; i++) {
    FrameSlot& slot = column(i);
    if (!slot.scattered) {
      if (!slot.builder.PadTo(rows_)) return false;
      continue;
    }
    FrameSlot* const ordered = new (std::nothrow) FrameSlot;
    if (ordered == nullptr) return false;
    const size_t known = slot.places.size() / 4;
    bool done = true;
    for (size_t row = 0; done && row < rows_; row++) {
      const int32_t place = row < known ? slot.places.As<int32_t>()[row] : -1;
      done = place == -1 ? ordered->builder.AddNull() : ordered->builder.Copy(slot.builder, static_cast<size_t>(place));
    }
    done = done && ordered->name.Append(slot.name.data(), slot.name.size());
    delete &slot;
    slots_.As<FrameSlot*>()[i] = ordered;
    if (!done) return false;
  }
  return true;
}

}  // namespace serving
