/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates of a side with their standard errors, from the scatter between its slices: a circular
 * block bootstrap (Politis and Romano 1992), whose blocks keep neighbouring slices together because
 * they are alike. The same draws serve all values of a side. Same input, same output. */
#ifndef PKBPF_DIFF_RESAMPLING_H
#define PKBPF_DIFF_RESAMPLING_H

#include <stdbool.h>
#include <stddef.h>

#include "diff/measurement.h"

#define RESAMPLING_SEED	 1
#define RESAMPLING_DRAWS 500
/* With fewer slices in a run, their scatter says next to nothing. */
#define RESAMPLING_SLICES_MIN 5

struct resampling;

/* NULL: out of memory. measurement: finished, borrowed. */
struct resampling *resampling_new(const struct measurement *measurement);
void resampling_free(struct resampling *resampling);
/* Slices that move together; 0: too few slices, and no scatter is known. */
size_t resampling_block(const struct resampling *resampling);

/* Of the sum of a series over all slices. */
struct diff_estimate {
	double sum;	   /* over all slices */
	double count;	   /* events behind it */
	double error;	   /* standard error of the sum by slices; 0 without resampling_block() */
	double freedom;	   /* of that error, in degrees */
	double dependence; /* correlation of neighbouring slices; 0: none that is sure */
	double share, share_error; /* of the sum of the whole; 0 without one */
};

/* series NULL: zero in all slices; whole NULL: no share. by_whole: the error is that of the share
 * alone: the sum of the whole is that of a fixed amount of work, and how it is spread over time
 * says nothing of it. */
void resampling_estimate(struct resampling *resampling, const struct diff_series *series,
			 const struct diff_series *whole, bool by_whole,
			 struct diff_estimate *ret_estimate);
/* Adds up, over the runs of a side, squared relative deviations from their mean, of values per time
 * (`per_time`) or per run; and degrees of freedom. Nothing with one run. */
void resampling_between_runs(const struct resampling *resampling, const struct diff_series *series,
			     bool per_time, double *squares, double *freedom);
/* The same of quotients: a run's values over those of another series. */
void resampling_quotients_between_runs(const struct resampling *resampling,
				       const struct diff_series *series,
				       const struct diff_series *whole, double *squares,
				       double *freedom);

#endif
