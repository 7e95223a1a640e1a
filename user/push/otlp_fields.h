/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and numbers of the fields of OTLP requests, as far as we write them. */
#ifndef PKBPF_PUSH_OTLP_FIELDS_H
#define PKBPF_PUSH_OTLP_FIELDS_H

#include <stdint.h>

enum otlp_type {
	OTLP_TEXT,
	OTLP_HEX,    /* bytes; in JSON their digits */
	OTLP_NUMBER, /* a varint, left out when 0; an array of them is packed */
	OTLP_CHOSEN, /* a varint that is one of several fields, so that 0 is written */
	OTLP_FIXED,  /* fixed64 */
	OTLP_REAL,   /* double, written when 0, too */
	OTLP_FLAG,
	OTLP_MESSAGE,
};

struct otlp_field {
	const char *name; /* in JSON; NULL: the end */
	uint8_t number, type;
	const struct otlp_field *message; /* of OTLP_MESSAGE: its fields */
};

extern const struct otlp_field otlp_metrics_request[], otlp_profiles_request[];

#endif
