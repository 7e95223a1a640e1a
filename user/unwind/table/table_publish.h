/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes built tables known to the kernel side; the building thread alone. */
#ifndef PKBPF_UNWIND_TABLE_TABLE_PUBLISH_H
#define PKBPF_UNWIND_TABLE_TABLE_PUBLISH_H

#include <stdbool.h>

struct table_cache;
struct table_file;
struct unwind_table;

/* Finds room for the table, copies it there and sets the file's state. NULL: the file has none, or
 * what it has was refused; the unwind step then uses frame pointers. */
void table_publish(struct table_cache *cache, struct table_file *file,
		   const struct unwind_table *table, bool is_refused);

#endif
