// SPDX-License-Identifier: BSD-2-Clause
/* Writes who talks to whom, busiest first. */
#include "base/cleanup.h"
#include "report/summary.h"
#include "report/text_peers.h"
#include "rows/human.h"

/* The heading says what no row has. */
static void write_heading(const struct text_report *report)
{
	uint64_t spliced =
		profile_info_read(report->profile)->counters[PKBPF_COUNTER_NETWORK_SPLICED];
	char number[HUMAN_SIZE];

	if (spliced)
		text_heading(report,
			     "Network, busiest peers first; without %s that splice() received",
			     human_bytes(number, spliced));
	else
		text_heading(report, "Network, busiest peers first (response: last message to the "
				     "answer)");
}

int summary_network(const struct summary *summary, size_t lines)
{
	_cleanup_(peer_rows_done) struct peer_rows rows = {0};
	size_t shown;
	int err = peer_rows_init(&rows, summary->report.profile);

	if (err || !rows.count || lines < 3)
		return err;
	shown = lines - 2;
	if (shown > rows.count)
		shown = rows.count;
	else if (shown < rows.count && shown > 1)
		shown--;
	write_heading(&summary->report);
	err = text_peer_messages(&summary->report, &rows, shown);
	if (!err && lines > shown + 2)
		text_more(&summary->report, rows.count - shown, "peers");
	return err;
}
