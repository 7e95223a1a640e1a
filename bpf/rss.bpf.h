/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads how many pages of a process are in memory, by kind. */
#ifndef PKBPF_RSS_BPF_H
#define PKBPF_RSS_BPF_H

#include "vmlinux_resource.h"

/* of the kernel's mm_struct; stable since they exist */
enum rss_kind { RSS_FILE, RSS_ANONYMOUS, RSS_SWAP, RSS_SHARED };

#define RSS_PAGES_OF(mm, kind)                                                                     \
	(bpf_core_field_exists(((struct mm_struct___before_6_2 *)0)->rss_stat.count)               \
		 ? BPF_CORE_READ((struct mm_struct___before_6_2 *)(void *)(mm),                    \
				 rss_stat.count[kind].counter)                                     \
		 : BPF_CORE_READ(mm, rss_stat[kind].count))

/* Since 6.2 without what each CPU has not yet added to the sum: less than max(32, 2 * CPUs) pages
 * of each kind. To read all CPUs would take longer than a reading may. */
static __always_inline __s64 rss_pages_of(struct mm_struct *mm, enum rss_kind kind)
{
	/* Relocations need constants. */
	switch (kind) {
	case RSS_FILE:
		return RSS_PAGES_OF(mm, RSS_FILE);
	case RSS_ANONYMOUS:
		return RSS_PAGES_OF(mm, RSS_ANONYMOUS);
	case RSS_SWAP:
		return RSS_PAGES_OF(mm, RSS_SWAP);
	default:
		return RSS_PAGES_OF(mm, RSS_SHARED);
	}
}

/* All but swap. */
static __always_inline __s64 rss_pages(struct mm_struct *mm)
{
	return rss_pages_of(mm, RSS_FILE) + rss_pages_of(mm, RSS_ANONYMOUS) +
	       rss_pages_of(mm, RSS_SHARED);
}

#endif
