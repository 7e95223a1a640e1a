/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests ask of the findings of a profile. */
#ifndef PKBPF_TEST_FINDING_FIXTURE_H
#define PKBPF_TEST_FINDING_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fake_profile.h"
#include "finding/finding.h"

/* Of a profile that has ended; it is gone afterwards. */
static inline struct findings findings_of(struct fake_profile *fake)
{
	struct resource_rows rows;
	struct findings findings;

	assert_int_equal(resource_rows_init(&rows, fake->profile, ROWS_BY_PROCESS), 0);
	findings_find(&rows, &findings);
	/* What is said when nothing is wrong has tests of its own. */
	while (findings.count && !strcmp(findings.findings[findings.count - 1].rule, "healthy"))
		findings.count--;
	resource_rows_done(&rows);
	fake_profile_done(fake);
	return findings;
}

/* NULL: there is none. */
static inline const struct finding *finding_of(const struct findings *findings, const char *rule)
{
	for (size_t i = 0; i < findings->count; i++)
		if (!strcmp(findings->findings[i].rule, rule))
			return &findings->findings[i];
	return NULL;
}

static inline void expect(const struct findings *findings, const char *rule, const char *text)
{
	const struct finding *finding = finding_of(findings, rule);

	if (!finding)
		fail_msg("no finding %s", rule);
	assert_string_equal(finding->text, text);
}

#endif
