// Row labels of a frame while it is parsed.
#pragma once

#include "frame_scan.h"

namespace serving {

// Row labels that are object keys, each once.
class FrameLabels {
 public:
  explicit FrameLabels(FrameScanner& scan) : scan_(scan) {}
  void Seed(uint64_t first, uint64_t second) { table_.Seed(first, second); }
  size_t count() const { return builder_.length(); }
  // The row of the label just read as a key; a new one goes to the end. -1: no memory.
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
