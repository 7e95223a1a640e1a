/* SPDX-License-Identifier: BSD-2-Clause */
/* The papers that are made from the tables of commands, options, kinds of events, formats, figures
 * and rules. Errors of a stream are the caller's to find. */
#ifndef PKBPF_MANUAL_PAPERS_H
#define PKBPF_MANUAL_PAPERS_H

#include <stdio.h>

/* Copies the template (mdoc) and replaces its lines of the form "@OPTIONS@". */
void manual_write(FILE *template, FILE *out);
/* Completions. */
void completion_bash_write(FILE *out);
void completion_fish_write(FILE *out);
void completion_zsh_write(FILE *out);

#endif
