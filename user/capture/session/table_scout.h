/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds unwind tables of running code while the kernel verifies the BPF programs. It only
 * builds tables; the snapshot reports which process has mapped which file. */
#ifndef PKBPF_CAPTURE_SESSION_TABLE_SCOUT_H
#define PKBPF_CAPTURE_SESSION_TABLE_SCOUT_H

struct table_cache;
struct table_scout;

/* Starts a thread that reads the mappings of all processes. Until it is stopped, nothing else
 * may use the cache or its table of mapped files. NULL: failed, and tables are built later. */
struct table_scout *table_scout_start(struct table_cache *tables);
/* Stops the thread at any point. Accepts NULL. */
void table_scout_stop(struct table_scout *scout);

#endif
