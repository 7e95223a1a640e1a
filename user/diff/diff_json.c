// SPDX-License-Identifier: BSD-2-Clause
/* Writes all rows but stacks as one JSON document, described by diff.schema.json. */
#include "diff/diff_format.h"
#include "diff/diff_words.h"
#include "export/json/json_writer.h"
#include "profile/kind_table.h"

/* Rises when a key changes its meaning or goes; not when one is added. */
#define SCHEMA_VERSION 1

static void write_side(struct json_writer *writer, const char *key,
		       const struct diff_document *document, enum diff_side number)
{
	const struct measurement *side = document->comparison->sides[number];

	json_writer_object_begin(writer, key);
	json_writer_string(writer, "title", document->titles[number]);
	json_writer_string(writer, "host", side->host);
	json_writer_string(writer, "targets", side->targets);
	json_writer_i64(writer, "start_unix_ns", side->start_unix_ns);
	json_writer_u64(writer, "duration_ns", measurement_length_ns(side));
	json_writer_u64(writer, "slices", side->slices.count);
	json_writer_u64(writer, "runs", side->run_count);
	json_writer_u64(writer, "lost", side->lost);
	json_writer_u64(writer, "slices_per_block", document->comparison->blocks[number]);
	json_writer_object_end(writer);
}

static void write_head(struct json_writer *writer, const struct diff_document *document)
{
	const struct comparison *comparison = document->comparison;

	json_writer_u64(writer, "schema_version", SCHEMA_VERSION);
	json_writer_object_begin(writer, "tool");
	json_writer_string(writer, "name", "pkbpf");
	json_writer_string(writer, "version", PKBPF_VERSION);
	json_writer_object_end(writer);
	write_side(writer, "base", document, DIFF_BASE);
	write_side(writer, "new", document, DIFF_NEW);
	json_writer_object_begin(writer, "per");
	json_writer_string(writer, "unit", diff_words_per(&comparison->work));
	if (comparison->work.per == DIFF_PER_WORK) {
		json_writer_real(writer, "base", comparison->work.base);
		json_writer_real(writer, "new", comparison->work.new);
	}
	json_writer_object_end(writer);
	json_writer_object_begin(writer, "method");
	json_writer_string(writer, "name", "circular block bootstrap");
	json_writer_u64(writer, "seed", RESAMPLING_SEED);
	json_writer_u64(writer, "draws", RESAMPLING_DRAWS);
	json_writer_real(writer, "risk", DIFF_RISK);
	json_writer_real(writer, "least_change", DIFF_LEAST_CHANGE);
	json_writer_object_end(writer);
}

static void write_amount(struct json_writer *writer, const char *key,
			 const struct diff_amount *amount)
{
	json_writer_object_begin(writer, key);
	json_writer_real(writer, "value", amount->value);
	json_writer_real(writer, "standard_error", amount->error);
	json_writer_real(writer, "events", amount->count);
	json_writer_real(writer, "share", amount->share);
	json_writer_real(writer, "share_standard_error", amount->share_error);
	json_writer_object_end(writer);
}

static void write_judgement(struct json_writer *writer, const struct diff_row *row)
{
	static const char *const evidences[] = {
		[DIFF_BY_SLICES] = "slices",
		[DIFF_BY_SAMPLING] = "sampling",
		[DIFF_BY_NOTHING] = "none",
	};
	bool judged = row->evidence != DIFF_BY_NOTHING;

	json_writer_string(writer, "verdict", diff_verdict_names[row->verdict]);
	json_writer_string(writer, "evidence", evidences[row->evidence]);
	json_writer_real(writer, "change", row->change);
	if (judged) {
		json_writer_real(writer, "change_low", row->low);
		json_writer_real(writer, "change_high", row->high);
	}
	if (row->has_ratio) {
		json_writer_real(writer, "ratio", row->ratio);
		if (judged) {
			json_writer_real(writer, "ratio_low", row->ratio_low);
			json_writer_real(writer, "ratio_high", row->ratio_high);
		}
	}
	if (judged) {
		json_writer_real(writer, "probability", row->probability);
		json_writer_real(writer, "risk", row->risk);
	}
}

static void write_row(struct json_writer *writer, const struct comparison *comparison,
		      const struct diff_row *row)
{
	const struct kind_ops *kind = kind_ops_of((enum pkbpf_profile_kind)row->key.kind);

	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "kind", kind->name);
	json_writer_string(writer, "level", diff_level_names[row->key.level]);
	if (row->key.level != DIFF_ALL)
		json_writer_string(writer, "name", diff_row_name(comparison, row));
	json_writer_string(writer, "unit", diff_words_unit(&row->key));
	write_judgement(writer, row);
	write_amount(writer, "base", &row->sides[DIFF_BASE]);
	write_amount(writer, "new", &row->sides[DIFF_NEW]);
	json_writer_object_end(writer);
}

static void write_conditions(struct json_writer *writer, const struct diff_document *document)
{
	static const char *const outcomes[] = {
		[DIFF_CONDITION_PASSED] = "passed",	  [DIFF_CONDITION_HELD] = "failed",
		[DIFF_CONDITION_ABSENT] = "absent",	  [DIFF_CONDITION_NO_KIND] = "no_events",
		[DIFF_CONDITION_UNJUDGED] = "not_judged",
	};

	json_writer_array_begin(writer, "conditions");
	for (size_t i = 0; i < document->condition_count; i++) {
		const struct diff_condition_result *result = &document->conditions[i];

		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "expression", result->expression);
		json_writer_string(writer, "outcome", outcomes[result->outcome]);
		json_writer_string(writer, "text", result->sentence);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static int json_write(const struct diff_document *document, FILE *out)
{
	struct json_writer writer = {.out = out};
	char notes[DIFF_NOTES_MAX][512];
	size_t count = diff_words_notes(document->comparison, notes);

	json_writer_object_begin(&writer, NULL);
	write_head(&writer, document);
	json_writer_array_begin(&writer, "notes");
	for (size_t i = 0; i < count; i++)
		json_writer_string(&writer, NULL, notes[i]);
	json_writer_array_end(&writer);
	write_conditions(&writer, document);
	json_writer_array_begin(&writer, "rows");
	array_foreach(&document->comparison->rows, row)
		if (row->key.level != DIFF_STACK)
			write_row(&writer, document->comparison, row);
	json_writer_array_end(&writer);
	json_writer_object_end(&writer);
	fputc('\n', out);
	return 0;
}

const struct diff_format_ops diff_format_json = {
	.file = {"json", ".json", "all rows with intervals, described by diff.schema.json"},
	.write = json_write,
};
