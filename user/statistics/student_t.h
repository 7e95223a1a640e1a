/* SPDX-License-Identifier: BSD-2-Clause */
/* Student's t distribution. */
#ifndef PKBPF_STATISTICS_STUDENT_T_H
#define PKBPF_STATISTICS_STUDENT_T_H

/* Degrees of freedom above this are as good as infinitely many. */
#define STUDENT_T_MANY 10000.0

/* Probability of a value at least as far from 0 as t, in either direction. freedom > 0. */
double student_t_probability(double t, double freedom);
/* The t > 0 of that probability; 0 < probability < 1. */
double student_t_quantile(double probability, double freedom);

#endif
