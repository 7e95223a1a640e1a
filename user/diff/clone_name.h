/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that compilers give to copies and parts of a function: those of two builds of one program
 * differ in them. */
#ifndef PKBPF_DIFF_CLONE_NAME_H
#define PKBPF_DIFF_CLONE_NAME_H

#include <stddef.h>

/* Length of the name of the function that it is a copy or part of: without ".constprop.0",
 * ".isra.0.cold", " [clone .part.0]" and the like. */
size_t clone_name_length(const char *name);

#endif
