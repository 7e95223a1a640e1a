/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between two sides, and what of it is more than noise. Each row gets a share of the
 * risk of being reported although nothing changed, by its size (a weighted Bonferroni correction),
 * so that the risk that any row of the whole comparison is reported wrongly stays below 5 %, and
 * large rows are not drowned by many small ones. A row is significant when its interval at that
 * level leaves out "no change" and the change is at least 1 %.
 */
#ifndef PKBPF_DIFF_COMPARISON_H
#define PKBPF_DIFF_COMPARISON_H

#include "base/error.h"
#include "diff/measurement.h"
#include "diff/resampling.h"

/* Less than half of the 5 % that are promised, for with few slices that depend on each other errors
 * are underestimated. */
#define DIFF_RISK 0.02
/* Smaller changes are not worth a sentence. */
#define DIFF_LEAST_CHANGE 0.01
/* Relative standard deviation from run to run that is assumed when a side has one run: clocks,
 * placement in memory. */
#define DIFF_RUN_SCATTER 0.005

enum diff_per {
	DIFF_PER_SECOND, /* of the interval */
	DIFF_PER_RUN,	 /* of a command, or each recording */
	DIFF_PER_WORK,	 /* a number that the user gave */
};

struct diff_work {
	enum diff_per per;
	char name[64]; /* "requests" */
	double base, new;
};

enum diff_side { DIFF_BASE, DIFF_NEW, DIFF_SIDES };

enum diff_verdict {
	DIFF_SAME, /* no significant change */
	DIFF_GREW,
	DIFF_SHRANK,
	DIFF_APPEARED, /* grew from nothing */
	DIFF_VANISHED,
	DIFF_UNJUDGED, /* the noise is not known */
};

extern const char *const diff_verdict_names[];

/* What the interval of a row rests on. */
enum diff_evidence {
	DIFF_BY_SLICES,	  /* scatter between slices, and runs where there are several */
	DIFF_BY_SAMPLING, /* sampling error alone: the least there can be */
	DIFF_BY_NOTHING,
};

struct diff_amount {
	double value;		   /* per unit of work; of levels their mean over slices */
	double error;		   /* standard error */
	double count;		   /* events behind it; 0: not sampled */
	double share, share_error; /* of all of its kind on this side, 0 to 1 */
};

struct diff_row {
	struct diff_key key;
	struct diff_amount sides[DIFF_SIDES];
	double change, low, high; /* new - base, and its interval */
	/* new / base - 1; known only when base is */
	bool has_ratio;
	double ratio, ratio_low, ratio_high;
	double probability; /* of such a change by chance; of this row alone */
	double freedom;	    /* degrees of freedom of that */
	double risk;	    /* its share of DIFF_RISK */
	enum diff_evidence evidence;
	enum diff_verdict verdict;
};

struct comparison {
	const struct diff_names *names;
	const struct measurement *sides[DIFF_SIDES];
	struct diff_work work;
	ARRAY_OF(struct diff_row) rows; /* by kind and level; in these by size of the change */
	size_t blocks[DIFF_SIDES];	/* of slices; 0: no scatter known */
	uint32_t kinds_mask;		/* on both sides */
};

/* Both finished and borrowed, of the same names. -ENOMEM, or -EINVAL: nothing in common; with the
 * sentence. */
int comparison_init(struct comparison *comparison, const struct measurement *base,
		    const struct measurement *new, const struct diff_work *work,
		    struct error *error);
void comparison_done(struct comparison *comparison);

bool diff_is_significant(const struct diff_row *row);
/* Name of a process, container or function; "" of DIFF_ALL and stacks. Not escaped. */
const char *diff_row_name(const struct comparison *comparison, const struct diff_row *row);
const struct diff_row *comparison_find(const struct comparison *comparison,
				       const struct diff_key *key);

#endif
