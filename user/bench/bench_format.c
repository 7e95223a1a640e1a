// SPDX-License-Identifier: BSD-2-Clause
/* Finds formats by name or by the end of a path; makes what they write. */
#include "bench/bench_format.h"

#include <errno.h>
#include <string.h>

#include "base/text_append.h"

#define BENCH_FORMAT_ADDRESS(name) &bench_format_##name,
static const struct bench_format_ops *const formats[] = {BENCH_FORMATS(BENCH_FORMAT_ADDRESS)};
#undef BENCH_FORMAT_ADDRESS

const struct file_format *bench_format_at(size_t index)
{
	return index < ARRAY_SIZE(formats) ? &formats[index]->file : NULL;
}

const struct bench_format_ops *bench_format_of(const struct file_format *file)
{
	return (const struct bench_format_ops *)file;
}

/* ---- the document ---- */

const struct bench *bench_document_base(const struct bench_document *document)
{
	return document->baseline ? document->baseline : document->bench;
}

/* A second look has a risk of its own, which is kept small. */
#define SECOND_LOOK_PART 0.2

static int decide(const struct bench_document *document, struct bench_pair *pair)
{
	struct bench_judgement strict = document->judgement;
	const struct bench_sides sides = {bench_document_base(document), pair->base,
					  document->bench, pair->new};
	struct bench_comparison cpu;
	int err;

	pair->decision = pair->figures[bench_main_figure(document->bench)];
	if (pair->decision.verdict != BENCH_UNKNOWN || pair->decision.figure != BENCH_WALL)
		return 0;
	strict.risk *= SECOND_LOOK_PART;
	err = bench_compare(&sides, BENCH_CPU, &strict, &cpu);
	if (err == 0 && (cpu.verdict == BENCH_SLOWER || cpu.verdict == BENCH_FASTER))
		pair->decision = cpu;
	return err;
}

static int add_pair(struct bench_document *document, uint32_t base, uint32_t new)
{
	const struct bench_sides sides = {bench_document_base(document), base, document->bench,
					  new};
	struct bench_pair *pair = array_add(&document->pairs);
	int err = pair ? 0 : -ENOMEM;

	if (err < 0)
		return err;
	pair->base = base;
	pair->new = new;
	for (int figure = 0; figure < BENCH_FIGURES && err == 0; figure++)
		err = bench_compare(&sides, (enum bench_figure)figure, &document->judgement,
				    &pair->figures[figure]);
	if (err == 0)
		err = decide(document, pair);
	if (err == 0)
		err = bench_verdict_states(&sides, &document->judgement, pair->states,
					   sizeof(pair->states));
	return err;
}

/* The variant of the baseline with the same command; else, when both have one alone, that. */
static bool find_base(const struct bench_document *document, uint32_t new, uint32_t *ret_base)
{
	const struct bench *baseline = document->baseline;
	const char *label = document->bench->variants.items[new].label;

	for (uint32_t i = 0; i < baseline->variants.count; i++) {
		if (strcmp(baseline->variants.items[i].label, label) != 0)
			continue;
		*ret_base = i;
		return true;
	}
	*ret_base = 0;
	return baseline->variants.count == 1 && document->bench->variants.count == 1;
}

static int add_pairs(struct bench_document *document)
{
	uint32_t count = (uint32_t)document->bench->variants.count, base = 0;
	int err = 0;

	for (uint32_t i = document->baseline ? 0 : 1; i < count && err == 0; i++)
		if (!document->baseline || find_base(document, i, &base))
			err = add_pair(document, base, i);
	return err;
}

int bench_document_init(struct bench_document *document, const struct bench *bench,
			const struct bench *baseline, double threshold, double risk)
{
	size_t pairs = bench->variants.count - (baseline ? 0 : 1);
	int err;

	*document = (struct bench_document){
		.bench = bench,
		.baseline = baseline,
		/* So that any of them is wrong with this risk alone (Bonferroni). */
		.judgement = {threshold, pairs > 1 ? risk / (double)pairs : risk},
		.trend = bench_trend(bench),
	};
	err = outliers_find(bench, &document->outliers);
	if (err == 0)
		err = add_pairs(document);
	return err;
}

void bench_decision_text(const struct bench_document *document, const struct bench_pair *pair,
			 char *ret_text, size_t size)
{
	char wall[BENCH_SENTENCE_SIZE];

	bench_verdict_text(&pair->decision, &document->judgement, ret_text, size);
	if (pair->decision.figure != BENCH_CPU)
		return;
	bench_verdict_text(&pair->figures[BENCH_WALL], &document->judgement, wall, sizeof(wall));
	text_append(ret_text, size, " in CPU time; wall time: %s", wall);
}

void bench_document_done(struct bench_document *document)
{
	array_free(&document->pairs);
	array_free(&document->gates);
	array_foreach(&document->explanations, explanation)
		bench_explanation_done(explanation);
	array_free(&document->explanations);
	free(document->outliers.items);
	document->outliers = (struct outliers){0};
}
