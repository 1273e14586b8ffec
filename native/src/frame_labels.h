// Row labels of a frame while it is parsed.
#pragma once

#include "frame_scan.h"

namespace serving {

// Row labels that are object keys, each stored once.
class FrameLabels {
 public:
  explicit FrameLabels(FrameScanner& scan) : scan_(scan) {}
  void Seed(uint64_t first, uint64_t second) { table_.Seed(first, second); }
  size_t count() const { return builder_.length(); }
  // Returns the row of the label just read as a key, and appends a new one. Tries row `predicted` first. -1: out of
  // memory.
  int64_t Find(size_t predicted);
  const ColumnBuilder& builder() const { return builder_; }

 private:
  FrameScanner& scan_;
  ColumnBuilder builder_;
  bool is_range_ = true;
  bool is_indexed_ = false;
  HashTable table_;
};

}  // namespace serving
