/* SPDX-License-Identifier: BSD-2-Clause */
/* What to do about functions that have no name in stacks of node, Java and Python. */
#ifndef PKBPF_REPORT_TEXT_ADVICE_H
#define PKBPF_REPORT_TEXT_ADVICE_H

#include "report/text_sections.h"

#define TEXT_ADVICE_SIZE 320

/* "Advice: 45.1% of samples are in JavaScript functions without names; …"; false: nothing is to be
 * done. */
bool text_advice(const struct text_report *report, char ret_text[TEXT_ADVICE_SIZE]);

#endif
