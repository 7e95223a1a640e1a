/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of peers that the report and its page have in common. */
#ifndef PKBPF_REPORT_TEXT_PEERS_H
#define PKBPF_REPORT_TEXT_PEERS_H

#include "report/text_sections.h"
#include "rows/peers.h"

/* Messages and times to answer of the first `shown` peers. -ENOMEM. */
int text_peer_messages(const struct text_report *report, const struct peer_rows *rows,
		       size_t shown);

#endif
