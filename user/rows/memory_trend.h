/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects growth of fluctuating memory by its minima: memory that is freed each time is no leak.
 * The time is divided into eight parts; the minima of these have to rise with a risk of less than
 * 1 % that their order is one of chance (Mann 1945), and in the second half of the time, too, in
 * which a start or a cache that fills is over. Growth is the median of the slopes between minima
 * (Theil 1950, Sen 1968).
 */
#ifndef PKBPF_ROWS_MEMORY_TREND_H
#define PKBPF_ROWS_MEMORY_TREND_H

#include "rows/memory_series.h"

/* Bytes from the first to the last point, of private memory and swap; 0: no growth, or fewer than
 * 16 points, from which nothing is known. */
uint64_t memory_trend_growth(const struct memory_row *row);

#endif
