/* SPDX-License-Identifier: BSD-2-Clause */
/* An unwind table as bytes, from the process that built it to the one that publishes it. */
#ifndef PKBPF_UNWIND_TABLE_TABLE_PACKET_H
#define PKBPF_UNWIND_TABLE_TABLE_PACKET_H

#include <sys/uio.h>

#include "unwind/table/unwind_table.h"

/* Head; rows of each page (u16); rows (u32); rules behind the fixed ones. */
struct table_packet_head {
	uint64_t text_start;
	uint64_t postponed; /* bytes of code that the table leaves out for now */
	uint32_t page_count, row_count, rule_count;
	uint32_t lacks_rules; /* more than a file may have */
};

#define TABLE_PACKET_PIECES 4

struct table_packet {
	struct table_packet_head head;
	uint16_t *counts;
	uint32_t *gathered; /* NULL: rows lie in the table as they are sent */
	struct iovec pieces[TABLE_PACKET_PIECES];
};

/* Borrows table and rules, which it has alone. -ENOMEM, -EBADMSG. */
int table_packet_make(struct table_packet *packet, const struct unwind_table *table,
		      const struct rule_set *rules);
void table_packet_done(struct table_packet *packet);

/* Makes a table of bytes that anybody may have written: every count, offset and number is checked;
 * rules become those of the set, rows refer to their ids there. -EBADMSG: no packet; -ENOMEM. */
int table_packet_read(const void *bytes, size_t size, struct rule_set *rules,
		      struct unwind_table **ret_table);

#endif
