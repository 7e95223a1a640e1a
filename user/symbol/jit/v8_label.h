/* SPDX-License-Identifier: BSD-2-Clause */
/* How a JavaScript function is called in reports: its name, file and line. */
#ifndef PKBPF_SYMBOL_JIT_V8_LABEL_H
#define PKBPF_SYMBOL_JIT_V8_LABEL_H

#include <stdint.h>

#define V8_LABEL_BYTES 512

/* "render (view.js:12)". name "": "(anonymous)", as Node's own profiler has it. The file is
 * without its directories, except those of Node's own modules ("node:internal/fs"). path "":
 * none (eval(), new Function()), or it could not be read: the name alone. line 0: not known. */
void v8_label_write(char label[V8_LABEL_BYTES], const char *name, const char *path, uint32_t line);

#endif
