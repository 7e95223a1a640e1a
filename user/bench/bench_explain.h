/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a difference is: extra runs with stacks, which are not timed, compared function by
 * function.
 */
#ifndef PKBPF_BENCH_BENCH_EXPLAIN_H
#define PKBPF_BENCH_BENCH_EXPLAIN_H

#include "base/error.h"
#include "base/log.h"
#include "bench/bench_series.h"
#include "diff/comparison.h"

struct bench_profiles; /* of the extra runs */

/* `runs` of each variant, in the random order of the rounds; options as for the timed runs. Ends
 * early when it is stopped. Errors as those of live_capture_start(), -EPIPE. */
int bench_profiles_take(const struct bench *bench, const struct bench_series_options *options,
			uint32_t runs, const struct log *log, struct bench_profiles **ret_profiles,
			struct error *error);
void bench_profiles_free(struct bench_profiles *profiles); /* NULL is fine */

struct bench_explanation {
	struct diff_names names;
	struct measurement sides[DIFF_SIDES];
	struct comparison comparison;
	char titles[DIFF_SIDES][256];
};

/* Of two variants; of one variant (base == new) the slower half of its runs against the faster one.
 * For bench_explanation_done() in any case. -ENOMEM, -EINVAL: nothing to compare; with the
 * sentence. */
int bench_explanation_init(struct bench_explanation *explanation, const struct bench *bench,
			   const struct bench_profiles *profiles, uint32_t base, uint32_t new,
			   struct error *error);
void bench_explanation_done(struct bench_explanation *explanation);

#endif
