#include "frame_scan.h"

#include <cmath>
#include <limits>

#include "number_parse.h"

namespace serving {
namespace {

// Returns the first byte that ends a plain run of a string: a quote, a backslash or a control character.
const uint8_t* PlainEnd(const uint8_t* p, const uint8_t* end) {
  while (end - p >= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    const uint64_t controls = (word - kOnes * 0x20) & ~word & kHighBits;
    if ((BytesEqual(word, '"') | BytesEqual(word, '\\') | controls) != 0) break;
    p += 8;
  }
  while (p < end && *p >= 0x20 && *p != '"' && *p != '\\') p++;
  return p;
}

uint8_t PlainEscape(uint8_t byte) {
  constexpr char kLetters[] = "\"\\/bfnrt";
  constexpr char kMeanings[] = "\"\\/\b\f\n\r\t";
  const void* const found = std::memchr(kLetters, byte, sizeof kLetters - 1);
  return found == nullptr ? 0 : static_cast<uint8_t>(kMeanings[static_cast<const char*>(found) - kLetters]);
}

uint8_t* WriteUtf8(uint8_t* out, uint32_t code) {
  if (code < 0x80) {
    *out++ = static_cast<uint8_t>(code);
    return out;
  }
  if (code < 0x800) {
    *out++ = static_cast<uint8_t>(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      *out++ = static_cast<uint8_t>(0xe0 | code >> 12);
    } else {
      *out++ = static_cast<uint8_t>(0xf0 | code >> 18);
      *out++ = static_cast<uint8_t>(0x80 | (code >> 12 & 0x3f));
    }
    *out++ = static_cast<uint8_t>(0x80 | (code >> 6 & 0x3f));
  }
  *out++ = static_cast<uint8_t>(0x80 | (code & 0x3f));
  return out;
}

}  // namespace

bool FrameScanner::Key() {
  if (Peek() != '"') return Syntax();
  return String() && Expect(':');
}

bool FrameScanner::String() {
  const uint8_t* const start = at_ + 1;
  const uint8_t* const p = PlainEnd(start, end_);
  if (p == end_ || *p < 0x20) return Syntax();
  if (*p == '\\') return Escaped(start, p);
  text_ = start;
  text_length_ = static_cast<size_t>(p - start);
  at_ = p + 1;
  return true;
}

bool FrameScanner::Escaped(const uint8_t* start, const uint8_t* first) {
  // A decoded string is never longer than its token.
  const uint8_t* close = first;
  while (close < end_ && *close != '"') close += *close == '\\' ? 2 : 1;
  if (close > end_) close = end_;
  if (!scratch_.Reserve(static_cast<size_t>(close - start) + 8)) return Fail(FrameError::kMemory, offset());
  uint8_t* out = scratch_.data();
  std::memcpy(out, start, static_cast<size_t>(first - start));
  out += first - start;
  const uint8_t* p = first;
  while (p < close) {
    const uint8_t byte = *p++;
    if (byte < 0x20) return Syntax();
    if (byte != '\\') {
      *out++ = byte;
      continue;
    }
    const uint8_t escape = p < end_ ? *p++ : 0;
    if (escape == 'u') {
      uint32_t code;
      if (!CodePoint(p, code)) return false;
      out = WriteUtf8(out, code);
      continue;
    }
    const uint8_t plain = PlainEscape(escape);
    if (plain == 0) return Syntax();
    *out++ = plain;
  }
  if (close == end_) return Syntax();
  text_ = scratch_.data();
  text_length_ = static_cast<size_t>(out - scratch_.data());
  at_ = close + 1;
  return true;
}

bool FrameScanner::Hex(const uint8_t* p, uint32_t& unit) const {
  if (end_ - p < 4) return false;
  unit = 0;
  for (int i = 0; i < 4; i++) {
    const uint8_t lower = p[i] | 0x20;
    uint32_t digit;
    if (p[i] >= '0' && p[i] <= '9') {
      digit = p[i] - '0';
    } else if (lower >= 'a' && lower <= 'f') {
      digit = lower - 'a' + 10u;
    } else {
      return false;
    }
    unit = unit * 16 + digit;
  }
  return true;
}

bool FrameScanner::CodePoint(const uint8_t*& p, uint32_t& code) {
  if (!Hex(p, code)) return Syntax();
  p += 4;
  if (code < 0xd800 || code > 0xdfff) return true;
  if (code > 0xdbff || end_ - p < 2 || p[0] != '\\' || p[1] != 'u') return Fail(FrameError::kEncoding, offset());
  uint32_t low;
  if (!Hex(p + 2, low)) return Syntax();
  if (low < 0xdc00 || low > 0xdfff) return Fail(FrameError::kEncoding, offset());
  p += 6;
  code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  return true;
}

bool FrameScanner::Word(const char* word, size_t count) {
  if (static_cast<size_t>(end_ - at_) < count || std::memcmp(at_, word, count) != 0) return false;
  at_ += count;
  return true;
}

bool FrameScanner::Take(Added added, size_t start) {
  if (added == Added::kYes) return true;
  return Fail(added == Added::kNoMemory ? FrameError::kMemory : FrameError::kKind, start);
}

bool FrameScanner::Number(ColumnBuilder& into) {
  const size_t start = offset();
  NumberToken token;
  if (!ScanPlain(at_, end_, token) && !ScanNumber(at_, end_, token)) {
    if (!Word("-Infinity", 9)) return Syntax();
    return Take(into.AddFloat(-std::numeric_limits<double>::infinity()), start);
  }
  at_ = token.end;
  if (!token.integer) {
    const double value = ToDouble(token);
    if (!std::isfinite(value)) return Fail(FrameError::kRange, start);
    return Take(into.AddFloat(value), start);
  }
  // 19 digits are below 2^64; more are beyond int64, since tokens have no leading zeros.
  const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (token.negative ? 1 : 0);
  if (token.digits > 19 || token.mantissa > limit) {
    uint64_t value;
    if (token.negative || !Magnitude(token, value)) return Fail(FrameError::kRange, start);
    return Take(into.AddUnsigned(value), start);
  }
  const uint64_t bits = token.negative ? 0 - token.mantissa : token.mantissa;
  return Take(into.AddInt(static_cast<int64_t>(bits)), start);
}

bool FrameScanner::Scalar(ColumnBuilder& into) {
  const uint8_t byte = Peek();
  const size_t start = offset();
  switch (byte) {
    case '"':
      return String() && Take(into.AddText(text_, text_length_), start);
    case 't':
      return Word("true", 4) ? Take(into.AddBool(true), start) : Syntax();
    case 'f':
      return Word("false", 5) ? Take(into.AddBool(false), start) : Syntax();
    case 'n':
      return Word("null", 4) ? Take(into.AddNull() ? Added::kYes : Added::kNoMemory, start) : Syntax();
    case 'N':
      return Word("NaN", 3) ? Take(into.AddNull() ? Added::kYes : Added::kNoMemory, start) : Syntax();
    case 'I':
      if (!Word("Infinity", 8)) return Syntax();
      return Take(into.AddFloat(std::numeric_limits<double>::infinity()), start);
    case '[':
    case '{':
      return Nested(into);
    default:
      return Number(into);
  }
}

bool FrameScanner::Nested(ColumnBuilder& into) {
  const uint8_t* const start = at_;
  const size_t place = offset();
  if (!SkipNested()) return false;
  return Take(into.AddJson(start, static_cast<size_t>(at_ - start)), place);
}

bool FrameScanner::SkipNested() {
  size_t depth = 0;
  do {
    const uint8_t byte = Peek();
    if (byte == '"') {
      if (!String()) return false;
      continue;
    }
    if (AtEnd()) return Syntax();
    if ((byte | 0x20) == '{') depth++;
    if ((byte | 0x20) == '}') depth--;
    at_++;
  } while (depth > 0);
  return true;
}

}  // namespace serving
