#include "frame_parse.h"

#include <cstdio>
#include <new>

namespace serving {

FrameParser::FrameParser(const uint8_t* json, size_t length, FrameLimits limits, uint64_t seed0, uint64_t seed1,
                         bool as_written)
    : scan_(json, length), limits_(limits), as_written_(as_written), labels_(scan_) {
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
  } else if (first == 'n' && scan_.Word("null", 4)) {
    done = true;
  } else if (layout == FrameLayout::kIndex) {
    done = Index();
  } else if (layout == FrameLayout::kSeries) {
    done = Series();
  } else if (first == '[') {
    done = List();
  } else {
    done = first == '{' ? ByColumn() : Unexpected();
  }
  if (!done) return false;
  scan_.Peek();
  if (!scan_.AtEnd()) return Fail(FrameError::kSyntax, scan_.offset());
  return Finish() || NoMemory();
}

// Fails because of a value that the layout does not allow here, or because of malformed JSON. Returns false.
bool FrameParser::Unexpected() {
  const size_t start = scan_.offset();
  ColumnBuilder probe;
  if (!scan_.Scalar(probe)) return false;
  return Fail(FrameError::kLayout, start);
}

// `[…]`: records, lists of values, or scalars; all rows are of the first one's form.
bool FrameParser::List() {
  uint8_t first = 0;
  return scan_.Elements('[', ']', [&] {
    const uint8_t byte = scan_.Peek();
    const size_t start = scan_.offset();
    if (rows_ == 0) first = byte;
    const bool is_scalar = byte != '{' && byte != '[';
    if (is_scalar ? first == '{' || first == '[' : byte != first) return Fail(FrameError::kRagged, start);
    if (byte == '{') {
      if (!Record()) return false;
    } else if (byte == '[') {
      if (!Values()) return false;
    } else {
      size_t column = 0;
      if ((rows_ == 0 && !AddNumbered(0, column)) || !Cell(0, rows_)) return false;
    }
    return CheckCells(++rows_, start);
  });
}

// A list of rows of one form: `{` for records, `[` for lists of values.
bool FrameParser::Rows(uint8_t open) {
  return scan_.Elements('[', ']', [&] {
    const uint8_t byte = scan_.Peek();
    const size_t start = scan_.offset();
    if (byte != open) return Fail(FrameError::kRagged, start);
    return (open == '{' ? Record() : Values()) && CheckCells(++rows_, start);
  });
}

// `{"a":1,"b":2}`: one row.
bool FrameParser::Record() {
  size_t predicted = 0;
  return scan_.Elements('{', '}', [&] {
    size_t at;
    if (!FindColumn(predicted, at)) return false;
    predicted = at + 1;
    return Cell(at, rows_);
  });
}

// Reads a key of a record and finds its column. Tries column `predicted` first: keys mostly come in the same order.
bool FrameParser::FindColumn(size_t predicted, size_t& at) {
  scan_.Peek();
  const size_t start = scan_.offset();
  bool is_predicted = false;
  if (predicted < count_) {
    const FrameSlot& slot = column(predicted);
    is_predicted = slot.plain && scan_.TryKey(slot.name.data(), slot.name.size());
  }
  if (is_predicted) {
    at = predicted;
  } else {
    if (!scan_.Key()) return false;
    const int64_t known = FindName();
    if (known < 0) return Add(scan_.text(), scan_.text_length(), at) && CheckCells(rows_ + 1, start);
    at = static_cast<size_t>(known);
  }
  if (column(at).builder.length() <= rows_) return true;
  error_column_ = static_cast<int64_t>(at);
  error_row_ = static_cast<int64_t>(rows_);
  return Fail(FrameError::kDuplicate, start);
}

// Reads the element of a column and a row; earlier rows that had no element are null.
bool FrameParser::Cell(size_t at, size_t row) {
  FrameSlot& slot = column(at);
  if (!slot.scattered && slot.builder.length() < row && !slot.builder.PadTo(row)) return NoMemory();
  if (Element(slot.builder)) return true;
  error_column_ = static_cast<int64_t>(at);
  error_row_ = static_cast<int64_t>(row);
  return false;
}

// Reads an element of a column.
bool FrameParser::Element(ColumnBuilder& into) {
  if (!as_written_) return scan_.Scalar(into);
  scan_.Peek();
  const uint8_t* const start = scan_.here();
  ColumnBuilder probe;
  if (!scan_.Scalar(probe)) return false;
  const bool is_null = probe.kind() == ColumnKind::kNull;
  const bool added =
      is_null ? into.AddNull() : into.AddJson(start, static_cast<size_t>(scan_.here() - start)) == Added::kYes;
  return added || NoMemory();
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
  if (count_ == limits_.max_columns) return Fail(FrameError::kColumns, scan_.offset());
  FrameSlot* const slot = new (std::nothrow) FrameSlot;
  if (slot == nullptr) return NoMemory();
  if (!slots_.Push(slot)) {
    delete slot;
    return NoMemory();
  }
  at = count_++;
  // Reserves one byte more, so that the bytes of an empty name have an address, too.
  if (!slot->name.Reserve(length + 1) || !slot->name.Append(name, length)) return NoMemory();
  slot->plain = true;
  for (size_t i = 0; i < length; i++) slot->plain = slot->plain && name[i] >= 0x20 && name[i] != '"' && name[i] != '\\';
  return names_.Insert(names_.Hash(name, length), static_cast<uint32_t>(at)) || NoMemory();
}

bool FrameParser::AddNumbered(size_t number, size_t& at) {
  char digits[24];
  const int length = std::snprintf(digits, sizeof digits, "%zu", number);
  return Add(reinterpret_cast<const uint8_t*>(digits), static_cast<size_t>(length), at);
}

// `[1,2]`: one row, with values by column position.
bool FrameParser::Values() {
  const size_t start = scan_.offset();
  size_t next = 0;
  const bool done = scan_.Elements('[', ']', [&] {
    size_t at = next;
    if (next == count_) {
      if (rows_ > 0) return Fail(FrameError::kRagged, start);
      if (!AddNumbered(next, at)) return false;
    }
    return Cell(next++, rows_);
  });
  return done && (next == count_ || Fail(FrameError::kRagged, start));
}

// `{"label":{"a":1}}`: one record for each label.
bool FrameParser::Index() {
  keyed_ = true;
  if (scan_.Peek() != '{') return Unexpected();
  return scan_.Members([&](size_t start) {
    const int64_t row = labels_.Find(rows_);
    if (row < 0) return NoMemory();
    if (static_cast<size_t>(row) != rows_) return Fail(FrameError::kDuplicate, start);
    if (scan_.Peek() != '{') return Unexpected();
    return Record() && CheckCells(++rows_, start);
  });
}

// `{"a":{"label":1}}` or `{"a":[1]}`: values column by column.
bool FrameParser::ByColumn() {
  uint8_t form = 0;
  return scan_.Members([&](size_t start) {
    const int64_t known = FindName();
    if (known >= 0) {
      error_column_ = known;
      return Fail(FrameError::kDuplicate, start);
    }
    size_t at;
    if (!Add(scan_.text(), scan_.text_length(), at)) return false;
    const uint8_t byte = scan_.Peek();
    const size_t value = scan_.offset();
    if (byte != '{' && byte != '[') return Unexpected();
    if (form != 0 && byte != form) return Fail(FrameError::kRagged, value);
    if (byte == '[') {
      size_t rows;
      if (!ListInto(at, rows)) return false;
      if (form != 0 && rows != rows_) return Fail(FrameError::kRagged, value);
      rows_ = rows;
    } else {
      keyed_ = true;
      if (!Labelled(at)) return false;
    }
    form = byte;
    return CheckCells(rows_, start);
  });
}

// Reads a list of elements into a column.
bool FrameParser::ListInto(size_t at, size_t& rows) {
  rows = 0;
  return scan_.Elements('[', ']', [&] { return Cell(at, rows++); });
}

// `{"label":1}`: one column, with labels in any order.
bool FrameParser::Labelled(size_t at) {
  FrameSlot& slot = column(at);
  size_t count = 0;
  return scan_.Members([&](size_t start) {
    const int64_t found = labels_.Find(count);
    if (found < 0) return NoMemory();
    const size_t row = static_cast<size_t>(found);
    if (row == rows_ && !CheckCells(++rows_, start)) return false;
    return Place(slot, count++, row, start) && Cell(at, row);
  });
}

// Maps `row` of a column to its element `count`; fails when the row already has one.
bool FrameParser::Place(FrameSlot& slot, size_t count, size_t row, size_t offset) {
  if (!slot.scattered) {
    if (row == count) return true;
    slot.scattered = true;
    for (size_t i = 0; i < count; i++) {
      if (!slot.places.Push(static_cast<int32_t>(i))) return NoMemory();
    }
  }
  while (slot.places.size() / 4 <= row) {
    if (!slot.places.Push<int32_t>(-1)) return NoMemory();
  }
  int32_t& place = slot.places.As<int32_t>()[row];
  if (place != -1) return Fail(FrameError::kDuplicate, offset);
  place = static_cast<int32_t>(count);
  return true;
}

// Reads a list, an object of labels, or one scalar into the column ''.
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
  return Cell(at, 0);
}

// `{"schema":{…},"data":[{…}]}`.
bool FrameParser::Table() {
  const size_t begin = scan_.offset();
  bool has_data = false;
  bool has_schema = false;
  if (scan_.Peek() != '{') return Unexpected();
  const bool done = scan_.Members([&](size_t start) {
    const bool is_schema = scan_.TextIs("schema");
    if (!is_schema && !scan_.TextIs("data")) return Fail(FrameError::kKeys, start);
    bool& has = is_schema ? has_schema : has_data;
    if (has) return Fail(FrameError::kDuplicate, start);
    has = true;
    if (scan_.Peek() != (is_schema ? '{' : '[')) return Unexpected();
    if (!is_schema) return Rows('{');
    schema_start_ = scan_.offset();
    if (!scan_.SkipNested()) return false;
    schema_end_ = scan_.offset();
    return true;
  });
  return done && ((has_data && has_schema) || Fail(FrameError::kKeys, begin));
}

// Parses a key that is written as an integer is, with at most 15 digits: `1`, not `01`, `-0` or `1.5`.
static bool IntegerOf(const uint8_t* text, size_t length, int64_t& value) {
  const size_t start = length > 0 && text[0] == '-' ? 1 : 0;
  const size_t digits = length - start;
  if (digits < 1 || digits > 15 || (text[start] == '0' && length > 1)) return false;
  value = 0;
  for (size_t i = start; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
  }
  if (start == 1) value = -value;
  return true;
}

// Converts row labels from object keys, which JSON can only write as strings, to integers if all of them can be.
bool FrameParser::NumberKeys() {
  const ColumnBuilder& keys = labels_.builder();
  for (size_t row = 0; row < keys.length(); row++) {
    size_t length;
    const uint8_t* const text = keys.TextAt(row, length);
    int64_t value;
    if (!IntegerOf(text, length, value)) return true;
  }
  for (size_t row = 0; row < keys.length(); row++) {
    size_t length;
    const uint8_t* const text = keys.TextAt(row, length);
    int64_t value;
    IntegerOf(text, length, value);
    if (index_.AddInt(value) != Added::kYes) return false;
  }
  has_index_ = keys.length() > 0;
  return true;
}

// Gives every column one element for every row, in the order of the rows.
bool FrameParser::Finish() {
  if (keyed_ && !NumberKeys()) return false;
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
