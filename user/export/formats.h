/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of exporter_table.c, each defined by the file that writes the format. */
#ifndef PKBPF_EXPORT_FORMATS_H
#define PKBPF_EXPORT_FORMATS_H

#include "export/exporter.h"

extern const struct exporter_ops exporter_folded;

#endif
