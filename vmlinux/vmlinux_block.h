/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The block layer's types our BPF programs use, by hand; see README.md in this folder. */
#ifndef PKBPF_VMLINUX_BLOCK_H
#define PKBPF_VMLINUX_BLOCK_H

#include "vmlinux.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

enum req_flag_bits { /* numbers are relocated */
		     __REQ_SYNC = 11,
		     __REQ_META = 12,
		     __REQ_IDLE = 15,
		     __REQ_FUA = 17,
		     __REQ_PREFLUSH = 18,
		     __REQ_RAHEAD = 19,
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct gendisk {
	int major;
	int first_minor;
};

struct block_device {
	struct gendisk *bd_disk;
};

struct bvec_iter {
	unsigned int bi_size;
};

struct bio {
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	struct bvec_iter bi_iter;
	struct blkcg_gq *bi_blkg;
};

struct bio___before_5_12 {
	struct gendisk *bi_disk;
};

struct request_queue {
	struct gendisk *disk;
};

typedef struct {
	int counter;
} atomic_t;

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	u64 __sector;
	struct bio *bio;
	u64 start_time_ns;
	atomic_t ref; /* before 5.16 a refcount_t */
};

struct request___before_5_17 {
	struct gendisk *rq_disk;
};

#pragma clang attribute pop

#endif
