/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields of block requests, with accessors for what moved in the block layer between kernels. */
#ifndef PKBPF_BLOCK_COMPAT_BPF_H
#define PKBPF_BLOCK_COMPAT_BPF_H

#include "kernel_word.bpf.h"
#include "shared.bpf.h"
#include "vmlinux_block.h"

/* include/linux/blk_types.h; numbers that never changed */
#define REQUEST_OP_MASK	     0xff
#define REQUEST_READ	     0
#define REQUEST_WRITE	     1
#define REQUEST_FLUSH	     2
#define REQUEST_DISCARD	     3
#define REQUEST_SECURE_ERASE 5
#define REQUEST_ZONE_APPEND  7 /* before 6.2 WRITE_SAME */
#define REQUEST_WRITE_ZEROES 9
#define REQUEST_FLAG(name)   (1U << bpf_core_enum_value(enum req_flag_bits, __REQ_##name))

/* The arguments of these functions come from tracepoint arguments, which programs follow without a
 * helper. */

/* A device as in records: major << 20 | minor; 0: unknown. */
static __always_inline __u32 disk_number(struct gendisk *disk)
{
	return disk ? (__u32)disk->major << 20 | (__u32)disk->first_minor : 0;
}

/* The same for a disk given by its address as a number. */
static __always_inline __u32 disk_number_at(__u64 address)
{
	const struct gendisk *disk = (void *)address;

	return kernel_half(&disk->major) << 20 | kernel_half(&disk->first_minor);
}

/* The disk moved from the request to its queue in 5.17 (f3fa33acca9f). Retire with 5.16. */
static __always_inline __u32 request_device(struct request *rq)
{
	if (bpf_core_field_exists(((struct request___before_5_17 *)0)->rq_disk))
		return disk_number(((struct request___before_5_17 *)rq)->rq_disk);
	if (config.word_type)
		return disk_number_at(
			kernel_word(&((struct request_queue *)kernel_pointer(rq, q))->disk));
	return disk_number(rq->q->disk);
}

/* Returns whether a request that was inserted or issued at `since_ns` is still in flight. Its
 * reference count is 0 from its end until it is reused. A reused request has a later allocation
 * time. The fields are read through a helper, because a removed device has freed its requests. */
static __always_inline bool request_is_under_way(struct request *rq, __u64 since_ns)
{
	__u64 allocated_ns = 0;
	int holders = 0;

	if (!bpf_core_field_exists(rq->ref))
		return true;
	if (bpf_core_read(&holders, sizeof(holders), &rq->ref) ||
	    bpf_core_read(&allocated_ns, sizeof(allocated_ns), &rq->start_time_ns))
		return false;
	return holders && allocated_ns <= since_ns;
}

/* The disk moved from the bio to its block_device in 5.12 (309dca309fc3). Retire with 5.11. */
static __always_inline __u32 bio_device(struct bio *bio)
{
	if (bpf_core_field_exists(((struct bio___before_5_12 *)0)->bi_disk))
		return disk_number(((struct bio___before_5_12 *)bio)->bi_disk);
	if (config.word_type)
		return disk_number_at(kernel_word(
			&((struct block_device *)kernel_pointer(bio, bi_bdev))->bd_disk));
	return disk_number(bio->bi_bdev->bd_disk);
}

#endif
