/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that conditions of all kinds have in common: comparisons, and quantities with units. */
#ifndef PKBPF_FINDING_QUANTITY_H
#define PKBPF_FINDING_QUANTITY_H

#include <stdbool.h>

#include "rows/figure.h"
#include "rows/human.h"

enum condition_comparison {
	CONDITION_ABOVE,
	CONDITION_AT_LEAST,
	CONDITION_BELOW,
	CONDITION_AT_MOST
};

/* "10ms", "64MiB", "80%", "1000", up to the end of text; blanks behind it are fine. *ret_example:
 * one of this unit, always. -EINVAL. */
int quantity_parse(const char *text, enum figure_unit unit, double *ret_value,
		   const char **ret_example);
void quantity_format(char buffer[HUMAN_SIZE], enum figure_unit unit, double value);
bool comparator_holds(enum condition_comparison comparison, double value, double limit);
/* The last "<" or ">": names before it may hold any character. NULL: none. */
const char *comparator_find(const char *text, enum condition_comparison *ret_comparison);
/* The text behind it and its blanks. */
const char *comparator_value(const char *comparison);

#endif
