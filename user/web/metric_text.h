/* SPDX-License-Identifier: BSD-2-Clause */
/* The text format of Prometheus (0.0.4). */
#ifndef PKBPF_WEB_METRIC_TEXT_H
#define PKBPF_WEB_METRIC_TEXT_H

#include <stdint.h>
#include <stdio.h>

#define METRIC_LABEL_SIZE 256

void metric_text_head(FILE *out, const char *name, const char *type, const char *help);
/* A comment: the counter in the next line counts since then, and was 0. */
#define METRIC_TEXT_BEGIN "# BEGIN "
void metric_text_begin(FILE *out, int64_t unix_ns);
/* A label's value, escaped; what is beyond METRIC_LABEL_SIZE is cut. */
void metric_text_label(FILE *out, const char *text);

#endif
