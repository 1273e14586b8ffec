#include "csv_parse.h"

#include <new>
#include <utility>

namespace serving {
namespace {

// The order and the words of `missingWords` in src/frame/csv.ts do not matter here; the empty one is looked for before.
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

// In any case of letters; `word` in lower case.
bool IsWord(const uint8_t* start, size_t size, const char* word) {
  if (std::strlen(word) != size) return false;
  for (size_t i = 0; i < size; i++) {
    if ((start[i] | 0x20) != static_cast<uint8_t>(word[i])) return false;
  }
  return true;
}

// Whether one of eight bytes ends or spoils a field without quotes.
bool HasSpecial(uint64_t chunk) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  const auto zero = [](uint64_t x) { return (x - kOnes) & ~x & (kOnes << 7); };
  return (zero(chunk ^ kOnes * ',') | zero(chunk ^ kOnes * '\n') | zero(chunk ^ kOnes * '\r') |
          zero(chunk ^ kOnes * '"')) != 0;
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

}  // namespace

bool CsvParser::Parse() {
  columns_.reset(new (std::nothrow) Column[count_]);
  if (columns_ == nullptr) return false;
  for (size_t i = 0; i < count_; i++) columns_[i].is_text = is_text_[i] != 0;
  if (!Start() || !Pass()) return false;
  bool again = false;
  for (size_t i = 0; i < count_; i++) again = again || columns_[i].is_mixed;
  if (again) {
    const std::unique_ptr<Column[]> mixed = std::move(columns_);
    columns_.reset(new (std::nothrow) Column[count_]);
    if (columns_ == nullptr) return false;
    for (size_t i = 0; i < count_; i++) columns_[i].is_text = mixed[i].is_text || mixed[i].is_mixed;
    if (!Start() || !Pass()) return false;
  }
  for (size_t i = 0; i < count_; i++) {
    const Column& column = columns_[i];
    if (column.builder.kind() != ColumnKind::kFloat64) continue;
    if (column.has_minus_zero || (column.has_large && !column.has_fraction)) return false;
  }
  return true;
}

bool CsvParser::Start() {
  rows_ = 0;
  for (size_t i = 0; i < count_; i++) {
    if (columns_[i].is_text && !columns_[i].builder.BeText()) return false;
  }
  return true;
}

bool CsvParser::Pass() {
  for (const uint8_t* p = begin_; p < end_;) {
    if (!Row(p) || ++rows_ * count_ > max_cells_) return false;
  }
  return true;
}

bool CsvParser::Row(const uint8_t*& p) {
  size_t at = 0;
  bool more = true;
  while (more) {
    if (at == count_ || !Field(p, columns_[at])) return false;
    at++;
    more = p < end_ && *p == ',';
    if (more) p++;
  }
  if (p < end_ && *p == '\r') p++;
  if (p < end_ && *p++ != '\n') return false;
  // A carriage return is part of a line's end only.
  if (p[-1] == '\r') return false;
  for (; at < count_; at++) {
    if (!columns_[at].builder.AddNull()) return false;
  }
  return true;
}

bool CsvParser::Field(const uint8_t*& p, Column& column) {
  if (p < end_ && *p == '"') return Quoted(p, column);
  if (!column.is_text && p < end_ && (IsDigit(*p) || *p == '-')) {
    NumberToken token;
    if (ScanNumber(p, end_, token) && IsEnd(token.end)) {
      p = token.end;
      return Number(token, column);
    }
  }
  const uint8_t* const start = p;
  p = FieldEnd(p, end_);
  return (p == end_ || *p != '"') && Value(start, static_cast<size_t>(p - start), column);
}

bool CsvParser::Quoted(const uint8_t*& p, Column& column) {
  const uint8_t* start = p + 1;
  scratch_.Clear();
  for (;;) {
    const void* const found = std::memchr(start, '"', static_cast<size_t>(end_ - start));
    if (found == nullptr) return false;
    const uint8_t* const close = static_cast<const uint8_t*>(found);
    p = close + 1;
    const bool is_doubled = p < end_ && *p == '"';
    if (!is_doubled && !IsEnd(p)) return false;
    if (!is_doubled && scratch_.size() == 0) return Value(start, static_cast<size_t>(close - start), column);
    if (!scratch_.Append(start, static_cast<size_t>(close - start) + (is_doubled ? 1 : 0))) return false;
    // Numbers and words have no quotes in them.
    if (!is_doubled) return Text(scratch_.data(), scratch_.size(), column);
    start = p + 1;
  }
}

bool CsvParser::Value(const uint8_t* start, size_t size, Column& column) {
  if (IsMissing(start, size)) return column.builder.AddNull();
  if (column.is_text) return Text(start, size, column);
  if (IsDigit(*start) || *start == '-' || *start == '+' || *start == '.') {
    bool found = false;
    if (!OddNumber(start, size, column, found)) return false;
    if (found) return true;
  }
  // The one word for a number that is none of the missing ones.
  if (Is(start, size, "inf")) return false;
  const bool is_true = IsWord(start, size, "true");
  if (is_true || IsWord(start, size, "false")) return Take(column.builder.AddBool(is_true), column);
  return Text(start, size, column);
}

// Numbers that JSON does not have: +1.5, 007, .5, 5. and quoted ones. False: one that Polars should read.
bool CsvParser::OddNumber(const uint8_t* start, size_t size, Column& column, bool& found) {
  const uint8_t* p = start;
  const uint8_t* const end = start + size;
  const bool plus = *p == '+';
  uint8_t text[96];
  uint8_t* out = text;
  if (*p == '-') *out++ = '-';
  if (plus || *p == '-') p++;
  const size_t left = static_cast<size_t>(end - p);
  if (Is(p, left, "inf") || Is(p, left, "NaN")) return false;
  const uint8_t* const whole = p;
  while (p < end && IsDigit(*p)) p++;
  const bool has_whole = p > whole;
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
  // What is not a number is text: 1.e5, +1, 1-.
  const bool is_integer = !has_point && p == power;
  if (p != end || (!has_whole && !has_fraction) || (has_point && !has_fraction && power != end) ||
      (is_integer && plus)) {
    return true;
  }
  if (size > sizeof text - 4) return false;
  const uint8_t* first = whole;
  while (first < fraction && *first == '0') first++;
  if (first == fraction || !IsDigit(*first)) *out++ = '0';
  for (; first < end && IsDigit(*first) && first < fraction; first++) *out++ = *first;
  if (has_fraction) {
    *out++ = '.';
    for (const uint8_t* q = fraction; q < power; q++) *out++ = *q;
  } else if (has_point) {
    *out++ = '.';
    *out++ = '0';
  }
  for (const uint8_t* q = power; q < end; q++) *out++ = *q;
  NumberToken token;
  found = ScanNumber(text, out, token) && token.end == out;
  return found && Number(token, column);
}

bool CsvParser::Number(const NumberToken& token, Column& column) {
  if (column.is_mixed) return true;
  if (!token.integer) {
    column.has_fraction = true;
    return Take(column.builder.AddFloat(ToDouble(token)), column);
  }
  constexpr uint64_t kMost = static_cast<uint64_t>(INT64_MAX);
  if (token.digits > 19 || token.mantissa > kMost + (token.negative ? 1 : 0)) {
    column.has_large = true;
    return Take(column.builder.AddFloat(ToDouble(token)), column);
  }
  if (token.negative && token.mantissa == 0) column.has_minus_zero = true;
  const uint64_t value = token.negative ? 0 - token.mantissa : token.mantissa;
  return Take(column.builder.AddInt(static_cast<int64_t>(value)), column);
}

bool CsvParser::Text(const uint8_t* start, size_t size, Column& column) {
  return column.is_mixed || Take(column.builder.AddText(start, size), column);
}

bool CsvParser::Take(Added added, Column& column) {
  if (added == Added::kOtherKind) column.is_mixed = true;
  return added != Added::kNoMemory;
}

}  // namespace serving
