/* SPDX-License-Identifier: BSD-2-Clause */
/* Shows a live view on the terminal of stdin and stdout, from a thread of its own: a terminal that
 * hangs stops no capture. */
#ifndef PKBPF_TOP_TOP_TERMINAL_H
#define PKBPF_TOP_TOP_TERMINAL_H

#include "base/error.h"
#include "top/top.h"

struct top_terminal;

/* top: borrowed, and the thread's until top_terminal_free(). quit(context) is called from that
 * thread when the user wants to leave, or the terminal is gone. */
struct top_terminal *top_terminal_new(struct top *top, bool color, void (*quit)(void *context),
				      void *context, struct error *error);
/* Takes over a slice that slice_new() made. From any one thread. -ENOMEM: it is not shown. */
int top_terminal_add(struct top_terminal *terminal, struct profile *slice);
/* Gives the terminal the settings it had, from the thread of a dying program. */
void top_terminal_abandon(struct top_terminal *terminal);
/* Leaves the screen as it was before. NULL is fine. */
void top_terminal_free(struct top_terminal *terminal);

#endif
