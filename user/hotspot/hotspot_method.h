/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and lines of Java methods, read from a process while it has them loaded. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_METHOD_H
#define PKBPF_HOTSPOT_HOTSPOT_METHOD_H

#include "hotspot/hotspot_layout.h"

#define HOTSPOT_MAX_NAME_BYTES 512 /* of a class; Java allows 65,535 */
#define HOTSPOT_MAX_LINE_BYTES 65536U

struct hotspot_method {
	/* "com.shop.Cart.add": as Java writes classes, then the method; hostile */
	char name[HOTSPOT_MAX_NAME_BYTES + 256];
	char file[256];	    /* "Cart.java"; "": it does not say */
	uint64_t bytecodes; /* address */
	uint32_t bytecode_bytes;
	uint64_t lines; /* address of the line table; 0: it has none */
	bool is_glue;	/* generated code between a call and what it calls, which Java's own tools
			   leave out of stacks */
};

/* method: Method*. -EBADMSG: it is none; or an error of reading. */
int hotspot_method_read(const struct hotspot_memory *memory, const struct hotspot_layout *layout,
			uint64_t method, struct hotspot_method *ret_method);
/* Line of the bytecode at index bci (-1: the first one); 0: not known. */
uint32_t hotspot_method_line(const struct hotspot_memory *memory,
			     const struct hotspot_layout *layout,
			     const struct hotspot_method *method, int32_t bci);

#endif
