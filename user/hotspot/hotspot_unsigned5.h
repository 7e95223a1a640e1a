/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HotSpot's compression of integers: up to five bytes, each of 6 bits with a mark that there are
 * more. Source: src/hotspot/share/utilities/unsigned5.hpp; before 20, code/compressedStream.cpp.
 */
#ifndef PKBPF_HOTSPOT_HOTSPOT_UNSIGNED5_H
#define PKBPF_HOTSPOT_HOTSPOT_UNSIGNED5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hotspot_unsigned5 {
	uint32_t value;
	unsigned int count, shift;
};

/* Takes the next byte of a number; minimum: of struct hotspot_layout. Returns true when it was the
 * last one: then number->value is complete. The number is zeroed at first. A byte below the minimum
 * is taken as the minimum. */
static inline bool hotspot_unsigned5_add(struct hotspot_unsigned5 *number, uint8_t byte,
					 uint8_t minimum)
{
	uint32_t digit = byte < minimum ? 0 : (uint32_t)byte - minimum;

	number->value += digit << number->shift;
	number->shift += 6;
	return ++number->count == 5 || digit < 256U - 64U - minimum;
}

static inline int32_t hotspot_unsigned5_signed(uint32_t value)
{
	return (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
}

#endif
