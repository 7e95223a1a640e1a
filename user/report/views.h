/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of report_table.c, each defined by the file that writes the view. */
#ifndef PKBPF_REPORT_VIEWS_H
#define PKBPF_REPORT_VIEWS_H

#include "report/report.h"

extern const struct report_ops report_text;
extern const struct report_ops report_json;
extern const struct report_ops report_csv;

#endif
