/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has unwind tables built of the code that runs already, while the kernel still verifies the BPF
 * programs. It only asks for tables: which process has mapped what, the snapshot tells later.
 */
#ifndef PKBPF_CAPTURE_SESSION_TABLE_SCOUT_H
#define PKBPF_CAPTURE_SESSION_TABLE_SCOUT_H

struct table_cache;
struct table_scout;

/* Starts a thread that reads what all processes have mapped. Until it is stopped nobody else uses
 * the cache or its table of mapped files. NULL: there is none, and tables are built later. */
struct table_scout *table_scout_start(struct table_cache *tables);
/* Ends it, wherever it is. Accepts NULL. */
void table_scout_stop(struct table_scout *scout);

#endif
