/* SPDX-License-Identifier: BSD-2-Clause */
/* Escaping of untrusted names for terminals, CSV, JSON and markup; bytes as text. */
#ifndef PKBPF_BASE_ESCAPE_H
#define PKBPF_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Copies text with C0/C1 controls, DEL and invalid UTF-8 replaced by '?', cut at a character
 * boundary to fit size (with its NUL). Bidirectional overrides and zero-width characters are
 * replaced too. Returns dst. */
char *escape_terminal(char *dst, size_t size, const char *text);
/* Writes "text" with quotes, as JSON: invalid UTF-8 becomes U+FFFD, '<' becomes \u003c, invisible
 * characters \uXXXX. */
void escape_json(FILE *out, const char *text);
/* Writes one RFC 4180 cell, quoted where needed, with a leading ' when it begins with = + - @, tab
 * or CR; other controls and invisible characters become '?', invalid UTF-8 U+FFFD. */
void escape_csv(FILE *out, const char *text);
/* Writes text with & < > " ' as entities, controls and invisible characters as '?', invalid UTF-8
 * as U+FFFD. */
void escape_markup(FILE *out, const char *text);
/* The same as text of Markdown: nothing in it is emphasis, a link, an image or the end of a cell.
 */
void escape_markdown(FILE *out, const char *text);
/* Writes `text` as code of Markdown that may stand in a table, cut to 200 bytes: a ` becomes a
 * quote. */
void escape_markdown_code(FILE *out, const char *text);
/* Appends text to the string in uri, size bytes with its NUL: letters, digits, "-._~" and the
 * characters in also as they are, others as %XX (RFC 3986). false: it does not fit; uri is cut. */
bool escape_uri(char *uri, size_t size, const char *text, const char *also);
/* Writes bytes as base64 (RFC 4648), padded. */
void escape_base64(FILE *out, const void *bytes, size_t size);

#endif
