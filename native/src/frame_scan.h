// JSON scalars straight into columns.
#pragma once

#include "frame_columns.h"

namespace serving {

// Reads tokens of one text, which must be valid UTF-8. After a false answer the text is done with.
class FrameScanner {
 public:
  FrameScanner(const uint8_t* json, size_t length) : begin_(json), end_(json + length), at_(json) {}

  // The next byte that is no white space, unread; 0 at the end.
  uint8_t Peek() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) at_++;
    return at_ < end_ ? *at_ : 0;
  }
  bool AtEnd() const { return at_ == end_; }
  void Skip() { at_++; }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  bool ran_out_of_memory() const { return no_memory_; }

  bool Expect(uint8_t byte) {
    if (Peek() != byte) return false;
    at_++;
    return true;
  }
  // After an element: a comma or the closing bracket.
  bool More(uint8_t close, bool& more) {
    const uint8_t byte = Peek();
    if (byte != ',' && byte != close) return false;
    at_++;
    more = byte == ',';
    return true;
  }
  // Reads a key that is expected to be `key`, written without escapes, and its colon. False leaves everything unread.
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
  bool Word(const char* word, size_t count);
  bool Scalar(ColumnBuilder& into);
  // Passes over an object by its brackets and strings alone.
  bool SkipObject();

  // The last string, decoded: in the text itself, or in a buffer when it had escapes.
  const uint8_t* text() const { return text_; }
  size_t text_length() const { return text_length_; }
  bool TextIs(const char* word) const {
    return text_length_ == std::strlen(word) && std::memcmp(text_, word, text_length_) == 0;
  }

 private:
  bool Escaped(const uint8_t* start, const uint8_t* first);
  bool CodePoint(const uint8_t*& p, uint32_t& code) const;
  bool Hex(const uint8_t* p, uint32_t& unit) const;
  bool Number(ColumnBuilder& into);
  bool Take(Added added);

  const uint8_t* const begin_;
  const uint8_t* const end_;
  const uint8_t* at_;
  const uint8_t* text_ = nullptr;
  size_t text_length_ = 0;
  bool no_memory_ = false;
  Bytes scratch_;
};

}  // namespace serving
