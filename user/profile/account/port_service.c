// SPDX-License-Identifier: BSD-2-Clause
/* Names as in /etc/services, with what has become usual since. */
#include "profile/account/port_service.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"

#define TCP 1
#define UDP 2

struct service {
	uint16_t port;
	uint8_t protocols;
	const char *name;
};

/* By port. */
static const struct service services[] = {
	{21, TCP, "ftp"},
	{22, TCP, "ssh"},
	{23, TCP, "telnet"},
	{25, TCP, "smtp"},
	{53, TCP | UDP, "domain"},
	{67, UDP, "dhcp"},
	{69, UDP, "tftp"},
	{80, TCP, "http"},
	{88, TCP | UDP, "kerberos"},
	{110, TCP, "pop3"},
	{111, TCP | UDP, "sunrpc"},
	{123, UDP, "ntp"},
	{137, UDP, "netbios-ns"},
	{143, TCP, "imap"},
	{161, UDP, "snmp"},
	{389, TCP | UDP, "ldap"},
	{443, TCP | UDP, "https"},
	{445, TCP, "smb"},
	{465, TCP, "submissions"},
	{514, TCP | UDP, "syslog"},
	{587, TCP, "submission"},
	{636, TCP, "ldaps"},
	{853, TCP | UDP, "domain-s"},
	{873, TCP, "rsync"},
	{993, TCP, "imaps"},
	{995, TCP, "pop3s"},
	{1433, TCP, "ms-sql"},
	{1521, TCP, "oracle"},
	{1883, TCP, "mqtt"},
	{2049, TCP | UDP, "nfs"},
	{2181, TCP, "zookeeper"},
	{2375, TCP, "docker"},
	{2379, TCP, "etcd"},
	{2380, TCP, "etcd"},
	{3260, TCP, "iscsi"},
	{3306, TCP, "mysql"},
	{3389, TCP, "rdp"},
	{4222, TCP, "nats"},
	{4317, TCP, "otlp-grpc"},
	{4318, TCP, "otlp-http"},
	{5060, TCP | UDP, "sip"},
	{5353, UDP, "mdns"},
	{5432, TCP, "postgresql"},
	{5672, TCP, "amqp"},
	{6379, TCP, "redis"},
	{6432, TCP, "pgbouncer"},
	{6443, TCP, "kubernetes"},
	{7687, TCP, "bolt"},
	{8125, UDP, "statsd"},
	{9042, TCP, "cassandra"},
	{9092, TCP, "kafka"},
	{9200, TCP, "elasticsearch"},
	{10250, TCP, "kubelet"},
	{11211, TCP | UDP, "memcached"},
	{26379, TCP, "redis-sentinel"},
	{27017, TCP, "mongodb"},
	{33060, TCP, "mysqlx"},
};

static int compare(const void *key, const void *item)
{
	return (int)*(const uint16_t *)key - (int)((const struct service *)item)->port;
}

const char *port_service(uint16_t port, bool is_udp)
{
	const struct service *found =
		bsearch(&port, services, ARRAY_SIZE(services), sizeof(services[0]), compare);

	return found && found->protocols & (is_udp ? UDP : TCP) ? found->name : NULL;
}
