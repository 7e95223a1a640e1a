/* SPDX-License-Identifier: BSD-2-Clause */
/* Offsets of V8's descriptions of functions and lines, by version. Values that a build exports
 * (v8dbg_*) must match. */
#ifndef PKBPF_V8_V8_LAYOUT_H
#define PKBPF_V8_V8_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/v8.h>

/* Offsets in bytes from an object's first word; types are values of Map.instance_type. */
struct v8_layout {
	uint8_t major, minor;
	struct pkbpf_v8_process kernel;
	uint16_t code_type, bytecode_type;
	uint8_t bytecode_positions;
	/* Code; start: the address of its instructions, 0: they are in the object, at inline_start
	 */
	uint8_t code_start, inline_start, code_size, code_flags, code_positions, code_deopt;
	uint8_t header; /* bytes before instructions; 8 of it on is a reference to the Code */
	uint8_t baseline_kind;
	/* indices in the deoptimisation data */
	uint8_t deopt_literals, deopt_shared, deopt_positions;
	bool wraps_shared;	/* functions in it are behind a wrapper */
	uint8_t position_flags; /* bits below the code offsets of tables of source positions */
};

/* NULL: not known. */
const struct v8_layout *v8_layout_find(uint32_t major, uint32_t minor);
/* What published values say of a layout; all 0 to begin with. */
struct v8_agreement {
	uint32_t matches;
	bool has_script, has_shared; /* the types of these two */
	bool differs;		     /* at least one value */
};

/* Compares a published value ("type_Script__SCRIPT_TYPE"). Values that the layout does not have
 * change nothing. */
void v8_layout_compare(const struct v8_layout *layout, const char *name, int32_t value,
		       struct v8_agreement *agreement);
/* Whether the values that were compared prove the layout: a version alone does not, since other
 * programs build V8 in other ways. */
bool v8_layout_agrees(const struct v8_agreement *agreement);

#endif
