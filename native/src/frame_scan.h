// Parses JSON scalars straight into columns.
#pragma once

#include "frame_columns.h"

namespace serving {

// Reads tokens of one text, which must be valid UTF-8. Functions that return false set `error()`, unless they say
// otherwise.
class FrameScanner {
 public:
  FrameScanner(const uint8_t* json, size_t length) : begin_(json), end_(json + length), at_(json) {}

  // Returns the next byte that is not white space, without reading it; 0 at the end.
  uint8_t Peek() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) at_++;
    return at_ < end_ ? *at_ : 0;
  }
  bool AtEnd() const { return at_ == end_; }
  const uint8_t* here() const { return at_; }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }

  FrameError error() const { return error_; }
  // Offset of the offending token.
  size_t error_offset() const { return error_offset_; }
  // Sets the error; replaces an earlier one. Returns false.
  bool Fail(FrameError error, size_t offset) {
    error_ = error;
    error_offset_ = offset;
    return false;
  }

  bool Expect(uint8_t byte) {
    if (Peek() != byte) return Fail(FrameError::kSyntax, offset());
    at_++;
    return true;
  }
  // Called after an element: reads a comma, which sets `more`, or the closing bracket.
  bool More(uint8_t close, bool& more) {
    const uint8_t byte = Peek();
    if (byte != ',' && byte != close) return Fail(FrameError::kSyntax, offset());
    at_++;
    more = byte == ',';
    return true;
  }
  // Reads a list or an object: both brackets, and commas between elements. Calls `each` to read an element.
  template <class Each>
  bool Elements(uint8_t open, uint8_t close, const Each& each) {
    if (!Expect(open)) return false;
    if (Peek() == close) {
      at_++;
      return true;
    }
    bool more;
    do {
      if (!each() || !More(close, more)) return false;
    } while (more);
    return true;
  }
  // Reads an object. Calls `each` to read the value of a member, with the offset of its key, which is `text()` then.
  template <class Each>
  bool Members(const Each& each) {
    return Elements('{', '}', [&] {
      Peek();
      const size_t start = offset();
      return Key() && each(start);
    });
  }
  // Reads the key `key`, written without escapes, and its colon. When another key comes, reads nothing and returns
  // false without an error.
  bool TryKey(const uint8_t* key, size_t count) {
    if (static_cast<size_t>(end_ - at_) < count + 3 || *at_ != '"' || at_[count + 1] != '"' || at_[count + 2] != ':' ||
        std::memcmp(at_ + 1, key, count) != 0) {
      return false;
    }
    at_ += count + 3;
    return true;
  }
  bool Key();
  bool String();
  // Reads `word` if it comes next; otherwise returns false without an error.
  bool Word(const char* word, size_t count);
  // Reads an element into a column.
  bool Scalar(ColumnBuilder& into);
  // Skips a list or an object by its brackets and strings alone.
  bool SkipNested();

  // The last string, decoded: a part of the text, or of a buffer if it had escapes.
  const uint8_t* text() const { return text_; }
  size_t text_length() const { return text_length_; }
  bool TextIs(const char* word) const {
    return text_length_ == std::strlen(word) && std::memcmp(text_, word, text_length_) == 0;
  }

 private:
  bool Syntax() { return Fail(FrameError::kSyntax, offset()); }
  bool Escaped(const uint8_t* start, const uint8_t* first);
  bool CodePoint(const uint8_t*& p, uint32_t& code);
  bool Hex(const uint8_t* p, uint32_t& unit) const;
  bool Number(ColumnBuilder& into);
  bool Nested(ColumnBuilder& into);
  bool Take(Added added, size_t start);

  const uint8_t* const begin_;
  const uint8_t* const end_;
  const uint8_t* at_;
  const uint8_t* text_ = nullptr;
  size_t text_length_ = 0;
  FrameError error_ = FrameError::kNone;
  size_t error_offset_ = 0;
  Bytes scratch_;
};

}  // namespace serving
