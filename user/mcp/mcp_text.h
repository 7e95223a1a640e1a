/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of JSON reports as text. */
#ifndef PKBPF_MCP_MCP_TEXT_H
#define PKBPF_MCP_MCP_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/mcp_answer.h"

/* A member of members, "cpu.total_ns"; NULL: there is none. */
json_t *mcp_json_at(const json_t *json, const char *path);
const char *mcp_json_text(const json_t *json, const char *path); /* "" */
uint64_t mcp_json_count(const json_t *json, const char *path);	 /* 0 */
double mcp_json_decimal(const json_t *json, const char *path);	 /* 0 */
/* Appends "NAME VALUE, " of a time or of bytes that is not 0. */
void mcp_append_time(char *line, size_t size, const char *name, const json_t *json,
		     const char *path);
void mcp_append_bytes(char *line, size_t size, const char *name, const json_t *json,
		      const char *path);
void mcp_append_count(char *line, size_t size, const char *name, const json_t *json,
		      const char *path);
/* The source and what it is about. */
void mcp_report_head(struct mcp_answer *answer, const json_t *report);
/* What was lost, counted by cause. */
void mcp_report_losses(struct mcp_answer *answer, const json_t *report);

#endif
