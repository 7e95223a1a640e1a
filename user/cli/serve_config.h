/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration file of `pkbpf serve` (base/ini.h): long options before the first section,
 * which the command line overrides, and sections for alerts and those who are told.
 */
#ifndef PKBPF_CLI_SERVE_CONFIG_H
#define PKBPF_CLI_SERVE_CONFIG_H

#include "alert/alert_rule.h"
#include "cli/command_table.h"
#include "http/http_client.h"
#include "push/notifier.h"
#include "push/push_target.h"
#include "web/hour_report.h"

#define SERVE_CONFIG_MAX_BYTES (1U << 20)

/* What the front needs. */
struct serve_config {
	struct alert_rules rules;
	struct notify_targets notify;
	struct push_targets push;
	struct objectives objectives;
	struct hour_report_settings report;
	char url[256]; /* of the page, for those who are told; "": by the address */
};

/* text: of the file; NULL: none, which leaves the rules that are on by default. -EINVAL with the
 * sentence. ret_config is for serve_config_done() all the same. */
int serve_config_read(const char *text, struct serve_config *ret_config, struct error *error);
void serve_config_done(struct serve_config *config);
/* The address of the page, which ends in a slash: of the configuration, or by where it listens. */
void serve_page_url(const struct serve_config *config, const char *listen, uint16_t port,
		    char *ret_url, size_t size);
/* Sets the options of the file that the command line does not have. Takes text apart; options
 * borrow from it. -EINVAL with the sentence. */
int serve_config_apply(const struct command_row *command, char *text, struct cli_options *options,
		       struct error *error);

#endif
