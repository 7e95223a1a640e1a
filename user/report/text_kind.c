// SPDX-License-Identifier: BSD-2-Clause
/* The kinds of events of the report, a row of PKBPF_PROFILE_KIND_LIST each. */
#include "report/text_kind.h"

static const struct text_kind *const kinds[PKBPF_PROFILE_KINDS] = {
#define X(constant, number, name) [number] = &text_kind_##name,
	PKBPF_PROFILE_KIND_LIST(X)
#undef X
};

const struct text_kind *text_kind_of(enum pkbpf_profile_kind kind)
{
	return kinds[kind];
}
