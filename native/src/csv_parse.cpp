#include "csv_parse.h"

#include <cmath>
#include <limits>
#include <new>
#include <utility>

namespace serving {
namespace {

// The words of `missingWords` in src/values/table/csv/csv.ts, in any order; the empty one is checked before.
constexpr const char* kMissing[] = {"#N/A", "#N/A N/A", "#NA",     "-1.#IND", "-1.#QNAN", "-NaN",
                                    "-nan", "1.#IND",   "1.#QNAN", "<NA>",    "N/A",      "NA",
                                    "NULL", "NaN",      "None",    "n/a",     "nan",      "null"};
constexpr size_t kLongestMissing = 8;

bool IsDigit(uint8_t byte) { return static_cast<uint8_t>(byte - '0') < 10; }

bool Is(const uint8_t* start, size_t size, const char* word) {
  return std::strlen(word) == size && std::memcmp(start, word, size) == 0;
}

bool IsMissing(const uint8_t* start, size_t size) {
  if (size == 0) return true;
  if (size > kLongestMissing) return false;
  const uint8_t first = *start;
  if (first != 'N' && first != 'n' && first != '#' && first != '-' && first != '1' && first != '<') return false;
  for (const char* const word : kMissing) {
    if (Is(start, size, word)) return true;
  }
  return false;
}

// Whether the bytes are `word` in any case of letters; `word` is in lower case.
bool IsWord(const uint8_t* start, size_t size, const char* word) {
  if (std::strlen(word) != size) return false;
  for (size_t i = 0; i < size; i++) {
    if ((start[i] | 0x20) != static_cast<uint8_t>(word[i])) return false;
  }
  return true;
}

// Whether one of eight bytes is a comma, a line break or a quote.
bool HasSpecial(uint64_t chunk) {
  return (BytesEqual(chunk, ',') | BytesEqual(chunk, '\n') | BytesEqual(chunk, '\r') | BytesEqual(chunk, '"')) != 0;
}

const uint8_t* FieldEnd(const uint8_t* p, const uint8_t* end) {
  uint64_t chunk;
  for (; end - p >= 8; p += 8) {
    std::memcpy(&chunk, p, 8);
    if (HasSpecial(chunk)) break;
  }
  while (p < end && *p != ',' && *p != '\n' && *p != '\r' && *p != '"') p++;
  return p;
}

bool IsBlank(uint8_t byte) { return byte == ' ' || byte == '\t'; }

// Whether the text is inf or infinity, in any case of letters, with or without a sign.
bool IsInfinity(const uint8_t* start, size_t size) {
  const size_t sign = size > 0 && (*start == '+' || *start == '-') ? 1 : 0;
  return IsWord(start + sign, size - sign, "inf") || IsWord(start + sign, size - sign, "infinity");
}

}  // namespace

bool CsvParser::Parse() {
  columns_.reset(new (std::nothrow) Column[count_]);
  if (columns_ == nullptr) return Fail(CsvError::kMemory, begin_);
  for (size_t i = 0; i < count_; i++) columns_[i].mode = is_text_[i] != 0 ? Mode::kText : Mode::kInferred;
  if (!Start() || !Pass()) return false;
  bool again = false;
  for (size_t i = 0; i < count_; i++) again = again || NextMode(columns_[i]) != columns_[i].mode;
  if (!again) return true;
  const std::unique_ptr<Column[]> first = std::move(columns_);
  columns_.reset(new (std::nothrow) Column[count_]);
  if (columns_ == nullptr) return Fail(CsvError::kMemory, begin_);
  for (size_t i = 0; i < count_; i++) columns_[i].mode = NextMode(first[i]);
  return Start() && Pass();
}

// Returns how a column must be read in the second pass, from what the first one has found.
CsvParser::Mode CsvParser::NextMode(const Column& column) const {
  if (column.mode != Mode::kInferred) return column.mode;
  if (column.is_mixed) return Mode::kText;
  if (column.builder.kind() != ColumnKind::kFloat64) return Mode::kInferred;
  if (column.has_large && !column.has_fraction) {
    return column.has_huge || column.has_negative || column.has_minus_zero ? Mode::kText : Mode::kUnsigned;
  }
  return column.has_minus_zero ? Mode::kFloat : Mode::kInferred;
}

bool CsvParser::Start() {
  rows_ = 0;
  for (size_t i = 0; i < count_; i++) {
    if (columns_[i].mode == Mode::kText && !columns_[i].builder.MakeText()) return Fail(CsvError::kMemory, begin_);
  }
  return true;
}

bool CsvParser::Pass() {
  for (const uint8_t* p = begin_; p < end_;) {
    if (*p == '\n' || *p == '\r') {
      p++;
      continue;
    }
    const uint8_t* const line = p;
    if (!Row(p)) return false;
    if ((rows_ + 1) * count_ > max_cells_) return Fail(CsvError::kCells, line);
    rows_++;
  }
  return true;
}

bool CsvParser::Row(const uint8_t*& p) {
  const uint8_t* const line = p;
  size_t at = 0;
  bool more = true;
  while (more) {
    if (at == count_) return Fail(CsvError::kRagged, line);
    if (!Field(p, columns_[at])) return false;
    at++;
    more = p < end_ && *p == ',';
    if (more) p++;
  }
  // Reads only the first byte of \r\n: the second is skipped as a blank line.
  if (p < end_) p++;
  for (; at < count_; at++) {
    if (!columns_[at].builder.AddNull()) return Fail(CsvError::kMemory, line);
  }
  return true;
}

bool CsvParser::Field(const uint8_t*& p, Column& column) {
  if (p < end_ && *p == '"') return Quoted(p, column);
  const uint8_t* const start = p;
  if (column.mode != Mode::kText && p < end_ && (IsDigit(*p) || *p == '-')) {
    NumberToken token;
    if (ScanNumber(p, end_, token) && IsEnd(token.end)) {
      p = token.end;
      return Number(token, start, static_cast<size_t>(p - start), column);
    }
  }
  p = FieldEnd(p, end_);
  // A quote inside an unquoted field is an ordinary character.
  while (p < end_ && *p == '"') p = FieldEnd(p + 1, end_);
  return Value(start, static_cast<size_t>(p - start), column);
}

bool CsvParser::Quoted(const uint8_t*& p, Column& column) {
  const uint8_t* const field = p;
  const uint8_t* start = p + 1;
  scratch_.Clear();
  for (;;) {
    const void* const found = std::memchr(start, '"', static_cast<size_t>(end_ - start));
    if (found == nullptr) return Fail(CsvError::kQuote, field);
    const uint8_t* const close = static_cast<const uint8_t*>(found);
    p = close + 1;
    const bool is_doubled = p < end_ && *p == '"';
    if (!is_doubled && IsEnd(p) && scratch_.size() == 0) {
      return Value(start, static_cast<size_t>(close - start), column);
    }
    if (!scratch_.Append(start, static_cast<size_t>(close - start) + (is_doubled ? 1 : 0))) {
      return Fail(CsvError::kMemory, field);
    }
    if (!is_doubled) break;
    start = p + 1;
  }
  // Text between the closing quote and the end of the field belongs to the field.
  const uint8_t* const rest = p;
  while (!IsEnd(p)) p = FieldEnd(p + 1, end_);
  if (!scratch_.Append(rest, static_cast<size_t>(p - rest))) return Fail(CsvError::kMemory, field);
  return Value(scratch_.data(), scratch_.size(), column);
}

bool CsvParser::Value(const uint8_t* start, size_t size, Column& column) {
  if (IsMissing(start, size)) return column.builder.AddNull() || Fail(CsvError::kMemory, begin_);
  if (column.mode == Mode::kText) return Text(start, size, column);
  // Blanks around a number are ignored; around text they are part of it.
  const uint8_t* first = start;
  const uint8_t* last = start + size;
  while (first < last && IsBlank(*first)) first++;
  while (first < last && IsBlank(last[-1])) last--;
  const size_t length = static_cast<size_t>(last - first);
  if (length > 0 && (IsDigit(*first) || *first == '-' || *first == '+' || *first == '.')) {
    bool found = false;
    if (!OddNumber(first, length, start, size, column, found)) return false;
    if (found) return true;
  }
  if (IsInfinity(first, length)) {
    column.has_fraction = true;
    const double infinity = std::numeric_limits<double>::infinity();
    return column.is_mixed || Take(column.builder.AddFloat(*first == '-' ? -infinity : infinity), column);
  }
  const bool is_true = IsWord(start, size, "true");
  if (is_true || IsWord(start, size, "false")) {
    return column.is_mixed || Take(column.builder.AddBool(is_true), column);
  }
  return Text(start, size, column);
}

// Parses numbers that JSON does not allow: +1.5, 007, .5, 5. and 1.e5. Sets `found` when the text is one.
// `field` is the whole field, with the blanks around the number.
bool CsvParser::OddNumber(const uint8_t* start, size_t size, const uint8_t* field, size_t field_size, Column& column,
                          bool& found) {
  const uint8_t* p = start;
  const uint8_t* const end = start + size;
  if (!number_.Reserve(size + 4)) return Fail(CsvError::kMemory, begin_);
  uint8_t* const text = number_.data();
  uint8_t* out = text;
  if (*p == '-') *out++ = '-';
  if (*p == '+' || *p == '-') p++;
  const uint8_t* const whole = p;
  while (p < end && IsDigit(*p)) p++;
  const bool has_whole = p > whole;
  const uint8_t* const whole_end = p;
  const bool has_point = p < end && *p == '.';
  const uint8_t* const fraction = p + (has_point ? 1 : 0);
  p = fraction;
  while (has_point && p < end && IsDigit(*p)) p++;
  const bool has_fraction = p > fraction;
  const uint8_t* const power = p;
  if (p < end && (*p | 0x20) == 'e') {
    p++;
    if (p < end && (*p == '+' || *p == '-')) p++;
    if (p == end || !IsDigit(*p)) return true;
    while (p < end && IsDigit(*p)) p++;
  }
  // Anything else is text: 1-, 1e, a single point.
  if (p != end || (!has_whole && !has_fraction)) return true;
  const uint8_t* first = whole;
  while (first < whole_end && *first == '0') first++;
  if (first == whole_end) *out++ = '0';
  for (; first < whole_end; first++) *out++ = *first;
  if (has_point) {
    *out++ = '.';
    if (!has_fraction) *out++ = '0';
    for (const uint8_t* q = fraction; q < power; q++) *out++ = *q;
  }
  for (const uint8_t* q = power; q < end; q++) *out++ = *q;
  NumberToken token;
  found = ScanNumber(text, out, token) && token.end == out;
  return !found || Number(token, field, field_size, column);
}

bool CsvParser::Number(const NumberToken& token, const uint8_t* start, size_t size, Column& column) {
  if (column.is_mixed) return true;
  if (!token.integer || column.mode == Mode::kFloat) {
    const double value = ToDouble(token);
    // As in pandas, a number beyond the range of floats stays text.
    if (!std::isfinite(value)) return Text(start, size, column);
    column.has_fraction = true;
    return Take(column.builder.AddFloat(value), column);
  }
  if (token.negative) (token.mantissa == 0 ? column.has_minus_zero : column.has_negative) = true;
  uint64_t magnitude = 0;
  const bool is_huge = !Magnitude(token, magnitude);
  const uint64_t max = static_cast<uint64_t>(INT64_MAX) + (token.negative ? 1 : 0);
  if (column.mode != Mode::kUnsigned && (is_huge || magnitude > max)) {
    const double value = ToDouble(token);
    if (!std::isfinite(value)) return Text(start, size, column);
    column.has_large = true;
    column.has_huge = column.has_huge || is_huge;
    return Take(column.builder.AddFloat(value), column);
  }
  return Take(column.builder.AddInt(static_cast<int64_t>(token.negative ? 0 - magnitude : magnitude)), column);
}

bool CsvParser::Text(const uint8_t* start, size_t size, Column& column) {
  return column.is_mixed || Take(column.builder.AddText(start, size), column);
}

bool CsvParser::Take(Added added, Column& column) {
  if (added == Added::kOtherKind) column.is_mixed = true;
  return added != Added::kNoMemory || Fail(CsvError::kMemory, begin_);
}

}  // namespace serving
