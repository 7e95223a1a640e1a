// SPDX-License-Identifier: BSD-2-Clause
/* Writes who talks to whom, busiest first. */
#include "base/cleanup.h"
#include "report/summary.h"
#include "report/text_peers.h"

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
	text_heading(&summary->report, "Network, busiest peers first (response: last message to "
				       "the answer)");
	err = text_peer_messages(&summary->report, &rows, shown);
	if (!err && lines > shown + 2)
		text_more(&summary->report, rows.count - shown, "peers");
	return err;
}
