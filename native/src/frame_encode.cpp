#include "frame_encode.h"

#include <algorithm>

#include "shortest.h"

namespace serving {
namespace {

template <class T>
T Load(const Span& data, size_t row) {
  T value;
  std::memcpy(&value, data.data + row * sizeof(T), sizeof(T));
  return value;
}

bool IsSet(const Span& bits, size_t row) { return (bits.data[row >> 3] & (1 << (row & 7))) != 0; }

bool Write(Bytes& out, const Span& text) { return out.Append(text.data, text.size); }

bool WriteWord(Bytes& out, const char* word) {
  return out.Append(reinterpret_cast<const uint8_t*>(word), std::strlen(word));
}

template <class T>
bool WriteWhole(Bytes& out, T value) {
  if (!out.Reserve(32)) return false;
  char* const start = reinterpret_cast<char*>(out.data() + out.size());
  out.Advance(static_cast<size_t>(WriteNumber(start, value) - start));
  return true;
}

// Escapes like JSON.stringify: short escapes where they exist, \u00xx in lower case otherwise.
uint8_t* WriteEscaped(uint8_t* p, uint8_t byte) {
  constexpr char kShort[] = "\"\\\b\f\n\r\t";
  constexpr char kLetters[] = "\"\\bfnrt";
  *p++ = '\\';
  const void* const found = std::memchr(kShort, byte, sizeof kShort - 1);
  if (found != nullptr) {
    *p++ = static_cast<uint8_t>(kLetters[static_cast<const char*>(found) - kShort]);
    return p;
  }
  std::memcpy(p, "u00", 3);
  p[3] = static_cast<uint8_t>('0' + (byte >> 4));
  p[4] = static_cast<uint8_t>("0123456789abcdef"[byte & 15]);
  return p + 5;
}

bool WriteJsonText(Bytes& out, const uint8_t* text, size_t length) {
  if (!out.Reserve(length * 6 + 2)) return false;
  uint8_t* const start = out.data() + out.size();
  uint8_t* p = start;
  *p++ = '"';
  for (size_t i = 0; i < length; i++) {
    const uint8_t byte = text[i];
    if (byte >= 0x20 && byte != '"' && byte != '\\') {
      *p++ = byte;
    } else {
      p = WriteEscaped(p, byte);
    }
  }
  *p++ = '"';
  out.Advance(static_cast<size_t>(p - start));
  return true;
}

// How the elements of a layout are written.
struct JsonForm {
  static constexpr const char* kNull = "null";
  static constexpr bool kHasNested = true;

  static bool Text(Bytes& out, Dtype dtype, const uint8_t* text, size_t length) {
    return dtype == Dtype::kJson ? out.Append(text, length) : WriteJsonText(out, text, length);
  }

  // JSON cannot express NaN and the infinities.
  static const char* NonFinite(bool, bool) { return "null"; }

  template <class Format>
  static char* Real(char* start, typename Format::Bits bits) {
    return WriteFloat<Format>(start, bits);
  }
};

// Quotes texts that are blank, since pandas skips blank lines, or have a comma, a quote or an end of line in them.
struct CsvForm {
  static constexpr const char* kNull = "";
  static constexpr bool kHasNested = false;

  static bool Text(Bytes& out, Dtype, const uint8_t* text, size_t length) {
    if (!out.Reserve(length * 2 + 2)) return false;
    uint8_t* const start = out.data() + out.size();
    bool quotes = false;
    for (size_t i = 0; i < length; i++) {
      const uint8_t byte = text[i];
      start[i] = byte;
      quotes |= byte == '"' || byte == ',' || byte == '\n' || byte == '\r';
    }
    const auto is_space = [](uint8_t byte) { return byte == ' ' || byte == '\t'; };
    if (!quotes && !std::all_of(text, text + length, is_space)) {
      out.Advance(length);
      return true;
    }
    uint8_t* p = start;
    *p++ = '"';
    for (size_t i = 0; i < length; i++) {
      if (text[i] == '"') *p++ = '"';
      *p++ = text[i];
    }
    *p++ = '"';
    out.Advance(static_cast<size_t>(p - start));
    return true;
  }

  static const char* NonFinite(bool is_nan, bool is_negative) { return is_nan ? "NaN" : is_negative ? "-inf" : "inf"; }

  // Like Polars: float64 has an exponent below 1e-5 and from 1e16 on, float32 below 1e-6 and from 1e13 on.
  template <class Format>
  static char* Real(char* start, typename Format::Bits bits) {
    constexpr ptrdiff_t kMaxWhole = Format::kFraction == 52 ? 16 : 13;
    constexpr ptrdiff_t kMaxZeros = Format::kFraction == 52 ? 4 : 5;
    char* const end = WriteFloat<Format>(start, bits);
    char* const first = start + (*start == '-');
    const char* const point = static_cast<const char*>(std::memchr(first, '.', static_cast<size_t>(end - first)));
    // Without a point it has one digit and an exponent.
    if (point == nullptr) return end;
    const char* digit = first;
    while (digit < end && (*digit == '0' || *digit == '.')) digit++;
    const bool is_small = digit - point - 1 > kMaxZeros && digit < end;
    if (!is_small && point - first <= kMaxWhole) return end;
    return WriteExponent(first, point, digit, end);
  }

 private:
  // Rewrites a number without an exponent, whose digits start at `digit`, as d.ddde±dd.
  static char* WriteExponent(char* first, const char* point, const char* digit, const char* end) {
    const ptrdiff_t exponent = digit < point ? point - digit - 1 : point - digit;
    char digits[kFloatRoom];
    size_t count = 0;
    for (; digit < end; digit++) {
      if (*digit != '.') digits[count++] = *digit;
    }
    while (count > 1 && digits[count - 1] == '0') count--;
    char* p = first;
    *p++ = digits[0];
    if (count > 1) {
      *p++ = '.';
      std::memcpy(p, digits + 1, count - 1);
      p += count - 1;
    }
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    return WriteInteger(p, static_cast<uint64_t>(exponent < 0 ? -exponent : exponent));
  }
};

template <class Form, class Format>
bool WriteReal(Bytes& out, typename Format::Bits bits) {
  using Bits = typename Format::Bits;
  constexpr Bits kExponent = ((Bits{1} << Format::kExponent) - 1) << Format::kFraction;
  if ((bits & kExponent) == kExponent) {
    const bool is_nan = (bits & ((Bits{1} << Format::kFraction) - 1)) != 0;
    return WriteWord(out, Form::NonFinite(is_nan, bits >> (Format::kFraction + Format::kExponent) != 0));
  }
  if (!out.Reserve(kFloatRoom)) return false;
  char* const start = reinterpret_cast<char*>(out.data() + out.size());
  out.Advance(static_cast<size_t>(Form::template Real<Format>(start, bits) - start));
  return true;
}

template <class Form>
bool WriteTextAt(Bytes& out, const EncodeColumn& column, size_t row) {
  if (column.offsets.data != nullptr) {
    const int32_t start = Load<int32_t>(column.offsets, row);
    const int32_t end = Load<int32_t>(column.offsets, row + 1);
    if (start < 0 || end < start || static_cast<size_t>(end) > column.data.size) return false;
    return Form::Text(out, column.dtype, column.data.data + start, static_cast<size_t>(end - start));
  }
  // A string view: its length, then 12 bytes of text, or a prefix of 4, the heap's number and the offset in the heap.
  const uint8_t* const view = column.data.data + row * 16;
  uint32_t words[4];
  std::memcpy(words, view, 16);
  if (words[0] <= 12) return Form::Text(out, column.dtype, view + 4, words[0]);
  if (words[2] >= column.heap_count) return false;
  const Span& heap = column.heaps[words[2]];
  if (words[3] > heap.size || words[0] > heap.size - words[3]) return false;
  return Form::Text(out, column.dtype, heap.data + words[3], words[0]);
}

bool WriteNested(Bytes& out, const EncodeColumn& column, size_t row);

bool IsNull(const EncodeColumn& column, size_t row) {
  return column.validity.data != nullptr && !IsSet(column.validity, row);
}

template <class Form>
bool WriteElement(Bytes& out, const EncodeColumn& column, size_t row) {
  if (IsNull(column, row)) return WriteWord(out, Form::kNull);
  bool is_done = false;
  const auto write = [&](auto zero) { is_done = WriteWhole(out, Load<decltype(zero)>(column.data, row)); };
  if (WithInteger(column.dtype, write)) return is_done;
  switch (column.dtype) {
    case Dtype::kBool:
      return WriteWord(out, IsSet(column.data, row) ? "true" : "false");
    case Dtype::kFloat16:
      return WriteReal<Form, Binary16>(out, Load<uint16_t>(column.data, row));
    case Dtype::kFloat32:
      return WriteReal<Form, Binary32>(out, Load<uint32_t>(column.data, row));
    case Dtype::kFloat64:
      return WriteReal<Form, Binary64>(out, Load<uint64_t>(column.data, row));
    case Dtype::kList:
    case Dtype::kStruct:
      return Form::kHasNested && WriteNested(out, column, row);
    default:
      return WriteTextAt<Form>(out, column, row);
  }
}

bool WriteNested(Bytes& out, const EncodeColumn& column, size_t row) {
  const bool is_list = column.dtype == Dtype::kList;
  const int32_t start = is_list ? Load<int32_t>(column.offsets, row) : 0;
  const int32_t end = is_list ? Load<int32_t>(column.offsets, row + 1) : static_cast<int32_t>(column.child_count);
  if (start < 0 || end < start || (is_list && static_cast<size_t>(end) > column.inner_rows)) return false;
  if (!out.Push<uint8_t>(is_list ? '[' : '{')) return false;
  for (int32_t i = start; i < end; i++) {
    const EncodeColumn& child = column.children[is_list ? 0 : i];
    if ((i > start && !out.Push<uint8_t>(',')) || (!is_list && !Write(out, child.key)) ||
        !WriteElement<JsonForm>(out, child, is_list ? static_cast<size_t>(i) : row)) {
      return false;
    }
  }
  return out.Push<uint8_t>(is_list ? ']' : '}');
}

bool WriteLabel(Bytes& out, const EncodeRows& rows, size_t row) {
  const bool quotes =
      rows.label_mode == LabelMode::kText && (rows.labels == nullptr || rows.labels->dtype != Dtype::kStr);
  if (quotes && !out.Push<uint8_t>('"')) return false;
  if (rows.labels == nullptr ? !WriteWhole(out, row) : !WriteElement<JsonForm>(out, *rows.labels, row)) return false;
  return !quotes || out.Push<uint8_t>('"');
}

}  // namespace

bool HoldsRows(EncodeColumn& column, size_t rows, int depth) {
  // Each level is a call while a cell is written. The other writer takes what is deeper.
  constexpr int kMaxDepth = 128;
  const size_t bits = (rows + 7) / 8;
  if (rows > SIZE_MAX / 32 || (column.validity.data != nullptr && column.validity.size < bits)) return false;
  if (column.dtype == Dtype::kBool) return column.data.size >= bits;
  if (column.dtype < Dtype::kStr) return column.data.size >= rows * ItemSize(column.dtype);
  const bool has_offsets = column.offsets.data != nullptr && column.offsets.size >= (rows + 1) * 4;
  if (column.dtype <= Dtype::kJson) {
    return column.offsets.data == nullptr ? column.data.size >= rows * 16 : has_offsets;
  }
  column.inner_rows = rows;
  if (column.dtype == Dtype::kList) {
    if (!has_offsets || column.child_count != 1) return false;
    const int32_t end = Load<int32_t>(column.offsets, rows);
    if (end < 0) return false;
    column.inner_rows = static_cast<size_t>(end);
  }
  bool holds = depth < kMaxDepth;
  for (size_t i = 0; holds && i < column.child_count; i++) {
    holds = HoldsRows(column.children[i], column.inner_rows, depth + 1);
  }
  return holds;
}

bool EncodeRowsTo(Bytes& out, const EncodeRows& rows) {
  for (size_t row = 0; row < rows.rows; row++) {
    if (row > 0 && !out.Push<uint8_t>(',')) return false;
    if (!Write(out, rows.before) || (rows.label_mode != LabelMode::kNone && !WriteLabel(out, rows, row)) ||
        !Write(out, rows.after)) {
      return false;
    }
    for (size_t i = 0; i < rows.count; i++) {
      const EncodeColumn& column = rows.columns[i];
      if (i > 0 && !out.Push<uint8_t>(',')) return false;
      if (rows.keys && !Write(out, column.key)) return false;
      if (!WriteElement<JsonForm>(out, column, row)) return false;
    }
    if (!Write(out, rows.close)) return false;
  }
  return true;
}

bool EncodeCsvTo(Bytes& out, const EncodeColumn* columns, size_t count, size_t rows) {
  for (size_t row = 0; row < rows; row++) {
    for (size_t i = 0; i < count; i++) {
      if (i > 0 && !out.Push<uint8_t>(',')) return false;
      // Readers skip a blank line.
      const bool is_blank = count == 1 && IsNull(columns[i], row);
      if (is_blank ? !WriteWord(out, "\"\"") : !WriteElement<CsvForm>(out, columns[i], row)) return false;
    }
    if (!out.Push<uint8_t>('\n')) return false;
  }
  return true;
}

}  // namespace serving
