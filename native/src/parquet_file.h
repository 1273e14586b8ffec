// Reads what Parquet files of flat columns state: their footers, and the headers of pages. Source: parquet-format 2.11,
// parquet.thrift. All bytes may be a client's.
#pragma once

#include "parquet_read.h"

namespace serving {

// Reads the footer of a file of flat columns as numbers: `ParquetWord`, then `ParquetLeafWord` for each column, then
// `ParquetChunkWord` for each column of each row group. Returns false for all other files, and when there is no memory.
bool ReadFooter(Span file, Bytes& words);

// The pages of a column in one row group.
struct ParquetChunk {
  size_t codec;
  size_t rows;
  // In the file.
  size_t start;
  size_t end;
};

// What the pages of one file may cost and make, whatever its footer says.
struct ParquetWork {
  // Of reading headers, and of unpacking on the event loop. In bytes that are read or made.
  size_t loop;
  // Bytes that all pages may have, packed and unpacked, and that dictionaries may make.
  size_t bytes;
};

// Unpacks what the add-on cannot: the part from `start` to `end` of the file, to `size` bytes. Returns false for what
// it does not know, too.
class ParquetUnpacker {
 public:
  virtual ~ParquetUnpacker() = default;
  virtual bool Unpack(size_t codec, size_t start, size_t end, size_t size, Span& out) = 0;
};

// Reads the pages of a chunk and gives them to the decoder. Returns false for what does not fit, and for what costs
// more than is left of `work`. Without `unpacker`, only pages of Snappy and those that are not packed are read.
bool ReadChunk(Span file, const ParquetChunk& chunk, ParquetWork& work, ParquetUnpacker* unpacker,
               ParquetDecoder& decoder);

}  // namespace serving
