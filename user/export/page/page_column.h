/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of numbers behind a page's document. */
#ifndef PKBPF_EXPORT_PAGE_PAGE_COLUMN_H
#define PKBPF_EXPORT_PAGE_PAGE_COLUMN_H

#include <stdio.h>

/* Columns begin where numbers of 8 bytes may. */
static inline void page_column_pad(FILE *out, size_t written)
{
	static const char zeros[8];

	fwrite(zeros, 1, -written % sizeof(zeros), out);
}

/* Writes `expression` for each i below count. */
#define PAGE_COLUMN(out, type, count, expression)                                                  \
	do {                                                                                       \
		for (size_t i = 0; i < (count); i++) {                                             \
			type number_ = (type)(expression);                                         \
			fwrite(&number_, sizeof(number_), 1, (out));                               \
		}                                                                                  \
		page_column_pad((out), (count) * sizeof(type));                                    \
	} while (0)

#endif
