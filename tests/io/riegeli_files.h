// Writes Riegeli record files, valid or invalid on purpose, for tests and the fuzzer.
#ifndef GRAPNEL_TESTS_IO_RIEGELI_FILES_H_
#define GRAPNEL_TESTS_IO_RIEGELI_FILES_H_

#include <brotli/encode.h>
#include <highwayhash/c_bindings.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/io/decompress.h"
#include "lib/ir/wire.h"
#include "llvm/Support/Endian.h"

namespace grapnel {

inline uint64_t RiegeliHash(llvm::StringRef bytes) {
  alignas(32) static const HHKey kKey = {0x2f696c6567656952, 0x0a7364726f636572, 0x2f696c6567656952,
                                         0x0a7364726f636572};
  return HighwayHash64(kKey, bytes.data(), bytes.size());
}

// Compresses `bytes`; does not write their size.
inline std::string Compressed(Compression compression, llvm::StringRef bytes) {
  std::string out;
  if (compression == Compression::kSnappy) {
    snappy::Compress(bytes.data(), bytes.size(), &out);
  } else if (compression == Compression::kZstd) {
    out.resize(ZSTD_compressBound(bytes.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  } else if (compression == Compression::kBrotli) {
    size_t size = BrotliEncoderMaxCompressedSize(bytes.size()) + 16;
    out.resize(size);
    BrotliEncoderCompress(5, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, bytes.size(),
                          bytes.bytes_begin(), &size, reinterpret_cast<uint8_t*>(out.data()));
    out.resize(size);
  } else {
    out = bytes.str();
  }
  return out;
}

// Writes consecutive groups, interrupted by block headers.
class RiegeliWriter {
 public:
  static constexpr uint64_t kBlock = 1 << 16, kBlockHeader = 24;

  RiegeliWriter() { AddGroup('s', "", 0, 0); }

  // Adds a group of records, optionally compressed; returns the position of the first one.
  uint64_t Add(const std::vector<std::string>& records,
               Compression compression = Compression::kNone) {
    std::string sizes, values, data(1, static_cast<char>(compression));
    for (const std::string& record : records) {
      AppendVarint(&sizes, record.size());
      values += record;
    }
    std::string packed = Packed(compression, sizes);
    AppendVarint(&data, packed.size());
    data += packed + Packed(compression, values);
    return AddGroup('r', data, records.size(), values.size());
  }

  // Adds any group, with correct hashes.
  uint64_t AddGroup(char type, llvm::StringRef data, uint64_t num_records, uint64_t decoded_size) {
    std::string header(32, '\0');
    auto put = [&](int i, uint64_t number) {
      llvm::support::endian::write64le(header.data() + 8 * i, number);
    };
    put(0, data.size());
    put(1, RiegeliHash(data));
    put(2, static_cast<uint8_t>(type) | num_records << 8);
    put(3, decoded_size);
    std::string group(8, '\0');
    llvm::support::endian::write64le(group.data(), RiegeliHash(header));
    group += header;
    group += data;
    uint64_t begin = bytes_.size(), size = group.size();
    uint64_t usable = kBlock - kBlockHeader;
    uint64_t end = begin + size + (size + (begin + usable - 1) % kBlock) / usable * kBlockHeader;
    if (num_records < kBlock) end = std::max(end, begin + num_records);
    uint64_t in_block = end % kBlock;  // a group cannot begin in a block's header or right after it
    if (in_block > 0 && in_block <= kBlockHeader) end += kBlockHeader + 1 - in_block;
    size_t written = 0;
    while (bytes_.size() < end) {
      if (bytes_.size() % kBlock == 0) AppendBlockHeader(begin, end);
      size_t part = std::min<size_t>(kBlock - bytes_.size() % kBlock, end - bytes_.size());
      size_t given = std::min(part, group.size() - written);
      bytes_.append(group, written, given);
      bytes_.append(part - given, '\0');
      written += given;
    }
    return begin;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  static std::string Packed(Compression compression, llvm::StringRef bytes) {
    std::string out;
    if (compression != Compression::kNone) AppendVarint(&out, bytes.size());
    return out + Compressed(compression, bytes);
  }

  void AppendBlockHeader(uint64_t begin, uint64_t end) {
    std::string rest(16, '\0');
    llvm::support::endian::write64le(rest.data(), bytes_.size() - begin);
    llvm::support::endian::write64le(rest.data() + 8, end - bytes_.size());
    std::string hash(8, '\0');
    llvm::support::endian::write64le(hash.data(), RiegeliHash(rest));
    bytes_ += hash + rest;
  }

  std::string bytes_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_IO_RIEGELI_FILES_H_
