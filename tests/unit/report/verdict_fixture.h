/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests ask of the findings of a profile. */
#ifndef PKBPF_TEST_VERDICT_FIXTURE_H
#define PKBPF_TEST_VERDICT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fake_profile.h"
#include "report/verdict.h"

/* Of a profile that has ended; it is gone afterwards. */
static inline struct verdict verdict_of(struct fake_profile *fake)
{
	struct resource_rows rows;
	struct verdict verdict;

	assert_int_equal(resource_rows_init(&rows, fake->profile, REPORT_BY_PROCESS), 0);
	verdict_find(&rows, &verdict);
	resource_rows_done(&rows);
	fake_profile_done(fake);
	return verdict;
}

/* NULL: there is none. */
static inline const struct finding *finding_of(const struct verdict *verdict, const char *rule)
{
	for (size_t i = 0; i < verdict->count; i++)
		if (!strcmp(verdict->findings[i].rule, rule))
			return &verdict->findings[i];
	return NULL;
}

static inline void expect(const struct verdict *verdict, const char *rule, const char *text)
{
	const struct finding *finding = finding_of(verdict, rule);

	if (!finding)
		fail_msg("no finding %s", rule);
	assert_string_equal(finding->text, text);
}

#endif
