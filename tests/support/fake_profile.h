/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole user side on paper: records of a fake machine go in, a symbolized profile and its
 * documents come out. */
#ifndef PKBPF_TEST_FAKE_PROFILE_H
#define PKBPF_TEST_FAKE_PROFILE_H

#include "export/format.h"
#include "fake_machine.h"
#include "fake_symbols.h"
#include "profile/aggregator.h"

struct fake_profile {
	struct mapped_file_table *files;
	struct process_table *processes;
	struct profile *profile;
	struct aggregator *aggregator;
	struct symbolizer *symbolizer; /* NULL before fake_profile_name() */
};

/* options NULL: user and kernel frames, threads together, ten slow requests. All of these abort the
 * test program when out of memory. */
void fake_profile_init(struct fake_profile *fake, const struct aggregator_options *options);
void fake_profile_done(struct fake_profile *fake);
/* Plays every record of the machine and names the frames. */
void fake_profile_run(struct fake_profile *fake, const struct fake_machine *machine,
		      const struct fake_symbol *symbols, size_t symbol_count);
void fake_profile_name(struct fake_profile *fake, const struct fake_symbol *symbols,
		       size_t symbol_count);
/* The document as text; the caller frees it. options NULL: the usual ones, CPU, the full report. */
char *fake_profile_write(const struct fake_profile *fake, const char *format,
			 const struct format_options *options);
char *fake_profile_write_by(const struct fake_profile *fake, const char *format, enum rows_by by,
			    const struct format_options *options);

#endif
