/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What moved in the block layer between kernels, behind one accessor each. */
#ifndef PKBPF_BLOCK_COMPAT_BPF_H
#define PKBPF_BLOCK_COMPAT_BPF_H

#include "shared.bpf.h"
#include "vmlinux_block.h"

/* Their arguments are pointers from a tracepoint's own, which are followed without a helper. */

/* A device as records name it: major << 20 | minor; 0: not known. */
static __always_inline __u32 disk_number(struct gendisk *disk)
{
	return disk ? (__u32)disk->major << 20 | (__u32)disk->first_minor : 0;
}

/* The disk went from the request to its queue in 5.17 (f3fa33acca9f). Retire with 5.16. */
static __always_inline __u32 request_device(struct request *rq)
{
	if (bpf_core_field_exists(((struct request___before_5_17 *)0)->rq_disk))
		return disk_number(((struct request___before_5_17 *)rq)->rq_disk);
	return disk_number(rq->q->disk);
}

/* The disk went from the bio to its block_device in 5.12 (309dca309fc3). Retire with 5.11. */
static __always_inline __u32 bio_device(struct bio *bio)
{
	if (bpf_core_field_exists(((struct bio___before_5_12 *)0)->bi_disk))
		return disk_number(((struct bio___before_5_12 *)bio)->bi_disk);
	return disk_number(bio->bi_bdev->bd_disk);
}

#endif
