/* SPDX-License-Identifier: BSD-2-Clause */
/* What the report says of one kind of event beside what it says of all: text_kind_<name> in
 * kind/<name>.c. */
#ifndef PKBPF_REPORT_TEXT_KIND_H
#define PKBPF_REPORT_TEXT_KIND_H

#include "report/text_sections.h"

#define TEXT_KIND_SECTIONS 4

struct text_kind {
	/* " (cycles at 99 Hz)", after its name among the events that were recorded; NULL: nothing.
	 */
	void (*describe)(const struct profile_info *info, FILE *out);
	/* Its events have no stacks: there is nothing but its sections. */
	bool without_stacks;
	/* Behind its stacks, when it has any; the last one is NULL. */
	int (*sections[TEXT_KIND_SECTIONS + 1])(const struct text_report *report);
};

#define X(constant, number, name) extern const struct text_kind text_kind_##name;
PKBPF_PROFILE_KIND_LIST(X)
#undef X

/* kind is below PKBPF_PROFILE_KINDS. */
const struct text_kind *text_kind_of(enum pkbpf_profile_kind kind);

#endif
