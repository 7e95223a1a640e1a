/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a program at a site reads: operands, and whether the jump there leaves its function. */
#ifndef PKBPF_FUNCTION_EXIT_BPF_H
#define PKBPF_FUNCTION_EXIT_BPF_H

#include "pt_regs.bpf.h"
#include "shared.bpf.h"

#include <pkbpf/span.h>

static __always_inline __u64 register_at(struct pt_regs *ctx, __u16 word)
{
	__u64 value = 0;

	if (word < PT_REGS_WORDS)
		bpf_probe_read_kernel(&value, sizeof(value), (void *)ctx + word * sizeof(value));
	return value;
}

static __always_inline bool read_memory(__u64 address, __u8 size, __u64 *ret_value)
{
	__u64 value = 0;
	long err = size == 1   ? bpf_probe_read_user(&value, 1, (void *)address)
		   : size == 2 ? bpf_probe_read_user(&value, 2, (void *)address)
		   : size == 4 ? bpf_probe_read_user(&value, 4, (void *)address)
			       : bpf_probe_read_user(&value, 8, (void *)address);

	*ret_value = value;
	return !err;
}

/* false: it cannot be read. */
static __always_inline bool read_operand(struct pt_regs *ctx,
					 const struct pkbpf_span_operand *operand, __u64 *ret_value)
{
	__u64 value, shift = 64 - 8 * operand->size;

	if (operand->kind == PKBPF_OPERAND_NONE)
		return false;
	if (operand->kind == PKBPF_OPERAND_CONSTANT) {
		*ret_value = operand->offset;
		return true;
	}
	value = register_at(ctx, operand->word);
	if (operand->kind == PKBPF_OPERAND_MEMORY) {
		value += operand->offset;
		if (operand->scale)
			value += register_at(ctx, operand->index_word) * operand->scale;
		if (!read_memory(value, operand->size, &value))
			return false;
	}
	shift &= 63;
	value <<= shift;
	*ret_value = operand->is_signed ? (__u64)((__s64)value >> shift) : value >> shift;
	return true;
}

#if defined(__TARGET_ARCH_x86)

/* Does the jump with this condition happen? Conditions are numbered as in instructions. */
static __always_inline bool is_met(__u8 condition, __u64 flags)
{
	bool carry = flags & 1, parity = flags & 4, zero = flags & 0x40, sign = flags & 0x80,
	     overflow = flags & 0x800, met = false;

	switch (condition >> 1) {
	case 0:
		met = overflow;
		break;
	case 1:
		met = carry;
		break;
	case 2:
		met = zero;
		break;
	case 3:
		met = carry || zero;
		break;
	case 4:
		met = sign;
		break;
	case 5:
		met = parity;
		break;
	case 6:
		met = sign != overflow;
		break;
	case 7:
		met = zero || sign != overflow;
		break;
	}
	return met != (condition & 1);
}

static __always_inline bool is_exit(struct pt_regs *ctx, const struct pkbpf_span_site *site)
{
	__u64 target;

	if (site->condition == PKBPF_EXIT_ALWAYS)
		return true;
	if (site->condition == PKBPF_EXIT_INDIRECT)
		return read_operand(ctx, &site->value, &target) &&
		       target - (PT_REGS_IP(ctx) - site->from_start) >= site->function_size;
	return is_met(site->condition, register_at(ctx, AT_FLAGS));
}

#endif

#endif
