// SPDX-License-Identifier: BSD-2-Clause
/* Writes functions as comma-separated values: a record for each kind of events and function,
 * largest self weight first. */
#include "base/cleanup.h"
#include "base/unused.h"
#include "export/csv_cells.h"
#include "export/formats.h"
#include "profile/kind_table.h"
#include "rows/tally.h"

static const char *type_of(const struct function *function)
{
	static const char *const types[] = {
		[FUNCTION_PLAIN] = "native",	[FUNCTION_KERNEL] = "kernel",
		[FUNCTION_INLINED] = "inlined", [FUNCTION_JIT] = "jit",
		[FUNCTION_PYTHON] = "python",	[FUNCTION_TRUNCATED] = "none",
	};

	return function->is_ruby ? "ruby" : types[function->mark];
}

static void write_function(struct csv_cells *cells, const struct tally *tally,
			   const struct tally_function *row)
{
	const struct function *function = function_table_get(tally->functions, row->function);
	const struct kind_ops *kind = kind_ops_of(tally->kind);

	csv_text(cells, kind->name);
	csv_text(cells, function->name);
	csv_text(cells, type_of(function));
	csv_text(cells, function->module);
	csv_text(cells, function->path);
	csv_text(cells, csv_unit(kind->weight));
	csv_u64(cells, row->self);
	csv_u64(cells, row->total);
	csv_u64(cells, row->python);
	csv_percent(cells, row->self, tally->weight);
	csv_percent(cells, row->total, tally->weight);
	csv_percent(cells, row->python, tally->weight);
	csv_end(cells);
}

static int write_kind(struct csv_cells *cells, const struct profile *profile,
		      enum pkbpf_profile_kind kind)
{
	struct tally tally;
	int err = tally_init(&tally, profile, kind, false);

	if (err)
		return err;
	/* The table has the functions of all kinds. */
	for (size_t i = 0; i < tally.function_count; i++)
		if (tally.by_self[i].total)
			write_function(cells, &tally, &tally.by_self[i]);
	tally_done(&tally);
	return 0;
}

static int write_functions(struct results *results, _unused_ const struct format_options *options,
			   FILE *out)
{
	uint32_t recorded = profile_info_read(results->profile)->kinds_mask;
	struct csv_cells cells = {.out = out};
	int err = 0;

	fputs("kind,function,type,module,file,unit,self,total,python_self,self_percent,"
	      "total_percent,python_self_percent" CSV_LINE_END,
	      out);
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS && !err; kind++)
		if (recorded & 1U << kind)
			err = write_kind(&cells, results->profile, kind);
	return err;
}

const struct format_ops format_csv_functions = {
	.file = {"csv-functions", ".functions.csv", "functions of each kind of events"},
	.only_stacks = true,
	.write = write_functions,
};
