/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What calls of GPU libraries have among their arguments. */
#ifndef PKBPF_GPU_CALL_ARGUMENTS_BPF_H
#define PKBPF_GPU_CALL_ARGUMENTS_BPF_H

#include "pt_regs.bpf.h"
#include "shared.bpf.h"

#include <pkbpf/gpu_call.h>

static __always_inline __u64 user_word(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)address);
	return value;
}

#if defined(__TARGET_ARCH_x86)

/* x, y and z of a grid. */
static __always_inline __u64 blocks_of(__u64 x, __u64 y, __u64 z)
{
	return (__u64)(__u32)x * (__u32)y * (__u32)z;
}

/* How many blocks of so many threads a number of threads needs. */
static __always_inline __u32 blocks_in(__u32 threads, __u32 block)
{
	return block ? (__u32)(((__u64)threads + block - 1) / block) : 0;
}

static __always_inline void read_launch(struct pt_regs *ctx, __u32 shape,
					struct pkbpf_gpu_thread *call)
{
	__u64 words[2] = {};

	switch (shape) {
	case PKBPF_GPU_KERNEL_DIM3:
		call->detail = PT_REGS_PARM1(ctx);
		call->bytes =
			blocks_of(PT_REGS_PARM2(ctx), PT_REGS_PARM2(ctx) >> 32, PT_REGS_PARM3(ctx));
		break;
	case PKBPF_GPU_HANDLE_XYZ:
		call->detail = PT_REGS_PARM1(ctx);
		call->bytes = blocks_of(PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx), ctx->cx);
		break;
	case PKBPF_GPU_HANDLE_THREADS:
		call->detail = PT_REGS_PARM1(ctx);
		call->bytes = blocks_of(blocks_in(PT_REGS_PARM2(ctx), ctx->r8),
					blocks_in(PT_REGS_PARM3(ctx), ctx->r9),
					blocks_in(ctx->cx, (__u32)user_word(PT_REGS_SP(ctx) + 8)));
		break;
	default:
		call->detail = PT_REGS_PARM2(ctx);
		bpf_probe_read_user(words, sizeof(words), (void *)PT_REGS_PARM1(ctx));
		call->bytes = blocks_of(words[0], words[0] >> 32, words[1]);
		break;
	}
}

/* Where a launch has its stream: behind what is in registers, or in its configuration. */
static __noinline __u64 read_stream(__u64 stack_pointer, __u64 first, __u32 shape)
{
	switch (shape) {
	case PKBPF_GPU_KERNEL_DIM3:
		return user_word(stack_pointer + 16);
	case PKBPF_GPU_HANDLE_XYZ:
	case PKBPF_GPU_HANDLE_THREADS:
		return user_word(stack_pointer + 24);
	default:
		return user_word(first + 32);
	}
}

/* Memory types of the driver: 1 is the host's, 2 and 3 a device's. */
static __always_inline __u64 way_of_types(__u32 from, __u32 to)
{
	if (from < 1 || from > 3 || to < 1 || to > 3)
		return PKBPF_GPU_ANY_WAY;
	return (from > 1 ? 2 : 0) + (to > 1 ? 1 : 0);
}

/* The width of an area in an array is in elements of a size that is not there: no bytes. */
static __noinline int read_structure(struct pkbpf_gpu_thread *call, __u64 layout_bits)
{
	__u64 words[3] = {}, address = call->first, from, to;
	__u64 width = layout_bits & 0xffff, from_at = layout_bits >> 16 & 0xffff,
	      to_at = layout_bits >> 32 & 0xffff, is_flat = layout_bits >> 48 & 1,
	      is_driver = layout_bits >> 49 & 1;

	bpf_probe_read_user(words, sizeof(words), (void *)(address + width));
	if (is_flat)
		words[2] = 1;
	from = user_word(address + from_at);
	to = user_word(address + to_at);
	call->bytes = words[0] * words[1] * words[2];
	if (is_driver)
		call->detail = way_of_types((__u32)from, (__u32)to);
	else if (from || to)
		call->bytes = 0;
	return 0;
}

#define STRUCTURE(width, from, to, is_flat, is_driver)                                             \
	((__u64)(width) | (__u64)(from) << 16 | (__u64)(to) << 32 | (__u64)(is_flat) << 48 |       \
	 (__u64)(is_driver) << 49)

/* Copies of which a structure says what is copied. */
static __always_inline bool read_structured_copy(struct pkbpf_gpu_thread *call)
{
	switch (PKBPF_GPU_SHAPE_OF(call->pair)) {
	case PKBPF_GPU_PARAMS_3D:
		read_structure(call, STRUCTURE(128, 0, 64, 0, 0));
		call->detail = (__u32)user_word(call->first + 152);
		break;
	case PKBPF_GPU_PARAMS_PEER_3D:
		read_structure(call, STRUCTURE(144, 0, 72, 0, 0));
		call->detail = PKBPF_GPU_DEVICE_TO_DEVICE;
		break;
	case PKBPF_GPU_DRIVER_2D:
		read_structure(call, STRUCTURE(112, 16, 72, 1, 1));
		break;
	case PKBPF_GPU_DRIVER_3D:
		read_structure(call, STRUCTURE(176, 32, 120, 0, 1));
		break;
	default:
		return false;
	}
	if (call->detail > PKBPF_GPU_ANY_WAY)
		call->detail = PKBPF_GPU_ANY_WAY;
	return true;
}

static __always_inline void read_copy(struct pt_regs *ctx, __u32 pair,
				      struct pkbpf_gpu_thread *call)
{
	__u64 way = PKBPF_GPU_ANY_WAY;

	if (read_structured_copy(call))
		return;
	call->bytes = PT_REGS_PARM3(ctx);
	switch (PKBPF_GPU_SHAPE_OF(pair)) {
	case PKBPF_GPU_BYTES_3_KIND_4:
		way = (__u32)ctx->cx;
		break;
	case PKBPF_GPU_BYTES_3_KIND_5:
		way = (__u32)ctx->r8;
		break;
	case PKBPF_GPU_AREA_5_6_KIND_7:
		call->bytes = ctx->r8 * ctx->r9;
		way = (__u32)user_word(PT_REGS_SP(ctx) + 8);
		break;
	case PKBPF_GPU_BYTES_5:
		call->bytes = ctx->r8;
		way = PKBPF_GPU_WAY_OF(pair);
		break;
	case PKBPF_GPU_WORDS_3:
		call->bytes *= 4;
		call->detail = PKBPF_GPU_SET;
		return;
	default:
		call->detail = PKBPF_GPU_WAY_OF(pair);
		return;
	}
	/* The caller may pass any number. */
	call->detail = way > PKBPF_GPU_ANY_WAY ? PKBPF_GPU_ANY_WAY : way;
}

static __always_inline void read_arguments(struct pt_regs *ctx, struct pkbpf_gpu_thread *call)
{
	call->first = PT_REGS_PARM1(ctx);
	switch (PKBPF_GPU_GROUP_OF(call->pair)) {
	case PKBPF_GPU_LAUNCH:
		read_launch(ctx, PKBPF_GPU_SHAPE_OF(call->pair), call);
		break;
	case PKBPF_GPU_COPY:
		read_copy(ctx, call->pair, call);
		break;
	case PKBPF_GPU_ALLOC:
		call->bytes = PKBPF_GPU_SHAPE_OF(call->pair) == PKBPF_GPU_OUT_1_AREA_3_4
				      ? PT_REGS_PARM3(ctx) * ctx->cx
				      : PT_REGS_PARM2(ctx);
		break;
	case PKBPF_GPU_NAME:
		call->name = PT_REGS_PARM3(ctx);
		break;
	}
}

#endif

#endif
