// The names of the integer types in both kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace twigcast {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

}  // namespace twigcast
