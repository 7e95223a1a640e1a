// SPDX-License-Identifier: BSD-2-Clause
#include "push/otlp_fields.h"

#include <stddef.h>

/* ---- common ---- */

static const struct otlp_field any_value[] = {
	{"stringValue", 1, OTLP_TEXT, NULL},
	{"intValue", 3, OTLP_CHOSEN, NULL},
	{0},
};
static const struct otlp_field key_value[] = {
	{"key", 1, OTLP_TEXT, NULL},
	{"value", 2, OTLP_MESSAGE, any_value},
	{0},
};
static const struct otlp_field scope[] = {
	{"name", 1, OTLP_TEXT, NULL},
	{"version", 2, OTLP_TEXT, NULL},
	{0},
};
static const struct otlp_field resource[] = {
	{"attributes", 1, OTLP_MESSAGE, key_value},
	{0},
};

/* ---- metrics ---- */

static const struct otlp_field data_point[] = {
	{"startTimeUnixNano", 2, OTLP_FIXED, NULL},
	{"timeUnixNano", 3, OTLP_FIXED, NULL},
	{"asDouble", 4, OTLP_REAL, NULL},
	{"attributes", 7, OTLP_MESSAGE, key_value},
	{0},
};
static const struct otlp_field gauge[] = {
	{"dataPoints", 1, OTLP_MESSAGE, data_point},
	{0},
};
static const struct otlp_field sum[] = {
	{"dataPoints", 1, OTLP_MESSAGE, data_point},
	{"aggregationTemporality", 2, OTLP_NUMBER, NULL},
	{"isMonotonic", 3, OTLP_FLAG, NULL},
	{0},
};
static const struct otlp_field metric[] = {
	{"name", 1, OTLP_TEXT, NULL},
	{"gauge", 5, OTLP_MESSAGE, gauge},
	{"sum", 7, OTLP_MESSAGE, sum},
	{0},
};
static const struct otlp_field scope_metrics[] = {
	{"scope", 1, OTLP_MESSAGE, scope},
	{"metrics", 2, OTLP_MESSAGE, metric},
	{0},
};
static const struct otlp_field resource_metrics[] = {
	{"resource", 1, OTLP_MESSAGE, resource},
	{"scopeMetrics", 2, OTLP_MESSAGE, scope_metrics},
	{0},
};
const struct otlp_field otlp_metrics_request[] = {
	{"resourceMetrics", 1, OTLP_MESSAGE, resource_metrics},
	{0},
};

/* ---- profiles ---- */

static const struct otlp_field value_type[] = {
	{"typeStrindex", 1, OTLP_NUMBER, NULL},
	{"unitStrindex", 2, OTLP_NUMBER, NULL},
	{0},
};
static const struct otlp_field sample[] = {
	{"stackIndex", 1, OTLP_NUMBER, NULL},
	{"values", 2, OTLP_NUMBER, NULL},
	{"attributeIndices", 3, OTLP_NUMBER, NULL},
	{0},
};
static const struct otlp_field profile[] = {
	{"sampleType", 1, OTLP_MESSAGE, value_type},
	{"samples", 2, OTLP_MESSAGE, sample},
	{"timeUnixNano", 3, OTLP_FIXED, NULL},
	{"durationNano", 4, OTLP_NUMBER, NULL},
	{"periodType", 5, OTLP_MESSAGE, value_type},
	{"period", 6, OTLP_NUMBER, NULL},
	{"profileId", 7, OTLP_HEX, NULL},
	{0},
};
static const struct otlp_field scope_profiles[] = {
	{"scope", 1, OTLP_MESSAGE, scope},
	{"profiles", 2, OTLP_MESSAGE, profile},
	{0},
};
static const struct otlp_field resource_profiles[] = {
	{"resource", 1, OTLP_MESSAGE, resource},
	{"scopeProfiles", 2, OTLP_MESSAGE, scope_profiles},
	{0},
};
static const struct otlp_field mapping[] = {
	{"filenameStrindex", 4, OTLP_NUMBER, NULL},
	{"attributeIndices", 5, OTLP_NUMBER, NULL},
	{0},
};
static const struct otlp_field line[] = {
	{"functionIndex", 1, OTLP_NUMBER, NULL},
	{"line", 2, OTLP_NUMBER, NULL},
	{0},
};
static const struct otlp_field location[] = {
	{"mappingIndex", 1, OTLP_NUMBER, NULL},
	{"address", 2, OTLP_NUMBER, NULL},
	{"lines", 3, OTLP_MESSAGE, line},
	{"attributeIndices", 4, OTLP_NUMBER, NULL},
	{0},
};
static const struct otlp_field function[] = {
	{"nameStrindex", 1, OTLP_NUMBER, NULL},
	{"filenameStrindex", 3, OTLP_NUMBER, NULL},
	{0},
};
static const struct otlp_field link[] = {{0}};
static const struct otlp_field attribute[] = {
	{"keyStrindex", 1, OTLP_NUMBER, NULL},
	{"value", 2, OTLP_MESSAGE, any_value},
	{0},
};
static const struct otlp_field stack[] = {
	{"locationIndices", 1, OTLP_NUMBER, NULL},
	{0},
};
static const struct otlp_field dictionary[] = {
	{"mappingTable", 1, OTLP_MESSAGE, mapping},
	{"locationTable", 2, OTLP_MESSAGE, location},
	{"functionTable", 3, OTLP_MESSAGE, function},
	{"linkTable", 4, OTLP_MESSAGE, link},
	{"stringTable", 5, OTLP_TEXT, NULL},
	{"attributeTable", 6, OTLP_MESSAGE, attribute},
	{"stackTable", 7, OTLP_MESSAGE, stack},
	{0},
};
const struct otlp_field otlp_profiles_request[] = {
	{"resourceProfiles", 1, OTLP_MESSAGE, resource_profiles},
	{"dictionary", 2, OTLP_MESSAGE, dictionary},
	{0},
};
