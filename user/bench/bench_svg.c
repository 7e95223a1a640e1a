// SPDX-License-Identifier: BSD-2-Clause
/* The differential flame graph of CPU time of the first comparison. */
#include <errno.h>

#include "bench/bench_format.h"
#include "diff/diff_format.h"

static int svg_write(const struct bench_document *document, FILE *out)
{
	const struct bench_explanation *explanation = document->explanations.items;
	struct diff_document stacks;

	if (!explanation)
		return -EINVAL;
	stacks = (struct diff_document){
		.comparison = &explanation->comparison,
		.titles = {explanation->titles[0], explanation->titles[1]},
		.kind = PKBPF_PROFILE_CPU,
	};

	return diff_format_svg.write(&stacks, out);
}

const struct bench_format_ops bench_format_svg = {
	.file = {"svg", ".svg", "with --explain: differential flame graph of the first comparison"},
	.needs_explanation = true,
	.write = svg_write,
};
