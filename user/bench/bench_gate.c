// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_gate.h"

#include <stdio.h>

void bench_gate_check(const struct bench_comparison *comparison,
		      const struct bench_judgement *judgement, double limit, const char *label,
		      struct bench_gate_result *ret_result)
{
	struct bench_gate_result result = {.outcome = BENCH_GATE_PASSED};
	char verdict[BENCH_SENTENCE_SIZE];

	bench_verdict_text(comparison, judgement, verdict, sizeof(verdict));
	if (!comparison->counts[0] || !comparison->change_interval.known)
		result.outcome = BENCH_GATE_NOT_CHECKED;
	else if (comparison->has_ratio && comparison->ratio > limit &&
		 bench_is_significant(comparison))
		result.outcome = BENCH_GATE_FAILED;
	snprintf(result.name, sizeof(result.name), "%.200s", label);
	snprintf(result.sentence, sizeof(result.sentence),
		 "--fail-if-slower: %s of %.200s: %s; the limit is %.3g %%",
		 bench_figures[comparison->figure].title, label, verdict, 100 * limit);
	*ret_result = result;
}
