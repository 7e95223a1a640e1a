/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that builds, publishes and evicts tables. */
#ifndef PKBPF_UNWIND_TABLE_TABLE_BUILDER_H
#define PKBPF_UNWIND_TABLE_TABLE_BUILDER_H

#include <stdint.h>

struct table_cache;

int table_builder_start(struct table_cache *cache); /* -ENOMEM, -EAGAIN */
void table_builder_stop(struct table_cache *cache); /* also valid when the thread never started */

#endif
