/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptions of common terminals, for machines that have none. */
#ifndef PKBPF_TOP_TERMINAL_NAMES_H
#define PKBPF_TOP_TERMINAL_NAMES_H

/* Prepares the environment for newterm(), which has failed: sets TERMINFO to a description that is
 * in this program. An unknown terminal is taken for an xterm. Returns its name; NULL: there is no
 * description, or the terminal cannot move its cursor (dumb). */
const char *terminal_names_describe(const char *name);

#endif
