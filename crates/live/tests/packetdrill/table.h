// packetdrill's table, and packets on both sides of it.
#pragma once
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

// packetdrill's table.
struct table {
	void *user;
	void (*free)(void *);
	int (*socket)(void *, int, int, int);
	int (*bind)(void *, int, const struct sockaddr *, socklen_t);
	int (*listen)(void *, int, int);
	int (*accept)(void *, int, struct sockaddr *, socklen_t *);
	int (*connect)(void *, int, const struct sockaddr *, socklen_t);
	ssize_t (*read)(void *, int, void *, size_t);
	ssize_t (*readv)(void *, int, const struct iovec *, int);
	ssize_t (*recv)(void *, int, void *, size_t, int);
	ssize_t (*recvfrom)(void *, int, void *, size_t, int, struct sockaddr *, socklen_t *);
	ssize_t (*recvmsg)(void *, int, struct msghdr *, int);
	ssize_t (*write)(void *, int, const void *, size_t);
	ssize_t (*writev)(void *, int, const struct iovec *, int);
	ssize_t (*send)(void *, int, const void *, size_t, int);
	ssize_t (*sendto)(void *, int, const void *, size_t, int, const struct sockaddr *, socklen_t);
	ssize_t (*sendmsg)(void *, int, const struct msghdr *, int);
	int (*fcntl)(void *, int, int, ...);
	int (*ioctl)(void *, int, unsigned long, ...);
	int (*close)(void *, int);
	int (*shutdown)(void *, int, int);
	int (*getsockopt)(void *, int, int, int, void *, socklen_t *);
	int (*setsockopt)(void *, int, int, int, const void *, socklen_t);
	int (*poll)(void *, struct pollfd *, nfds_t, int);
	int (*netdev_send)(void *, const void *, size_t);
	int (*netdev_receive)(void *, void *, size_t *, long long *);
	int (*usleep)(void *, useconds_t);
	int (*gettimeofday)(void *, struct timeval *, struct timezone *);
	int (*epoll_create)(void *, int);
	int (*epoll_ctl)(void *, int, int, int, struct epoll_event *);
	int (*epoll_wait)(void *, int, struct epoll_event *, int, int);
	int (*pipe)(void *, int *);
	ssize_t (*splice)(void *, int, loff_t *, int, loff_t *, size_t, unsigned);
};

#define EXPECT(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "line %d: expected %s (errno %d)\n", __LINE__, #what, errno); \
			exit(1); \
		} \
	} while (0)

static struct table t;
static const uint32_t OURS = 0xc0000201, THEIRS = 0xc0a80001; // 192.0.2.1 calls 192.168.0.1

struct packet {
	uint16_t from, to;
	uint32_t seq, ack;
	uint8_t flags;
	size_t len, header;
	uint8_t options[40], data[1500];
	long long time_us;
};

static uint32_t sum(const uint8_t *at, size_t len)
{
	uint32_t total = 0;
	for (size_t i = 0; i < len; i++)
		total += i % 2 ? at[i] : at[i] << 8;
	return total;
}

static uint16_t folded(uint32_t total)
{
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return ~total;
}

static void put32(uint8_t *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, 4);
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

// Gives the host a packet without options.
static void inject_window(uint16_t from, uint16_t to, uint32_t seq, uint32_t ack, uint8_t flags, const char *data, uint16_t window)
{
	uint8_t p[1500] = { 0x45 };
	size_t len = strlen(data), tcp = 20 + len;
	put16(p + 2, 20 + tcp);
	p[8] = 64;
	p[9] = IPPROTO_TCP;
	put32(p + 12, OURS);
	put32(p + 16, THEIRS);
	put16(p + 10, folded(sum(p, 20)));
	put16(p + 20, from);
	put16(p + 22, to);
	put32(p + 24, seq);
	put32(p + 28, ack);
	p[32] = 5 << 4;
	p[33] = flags;
	put16(p + 34, window);
	memcpy(p + 40, data, len);
	put16(p + 36, folded(sum(p + 12, 8) + IPPROTO_TCP + tcp + sum(p + 20, tcp)));
	EXPECT(t.netdev_send(t.user, p, 20 + tcp) == 0);
}

static void inject(uint16_t from, uint16_t to, uint32_t seq, uint32_t ack, uint8_t flags, const char *data)
{
	inject_window(from, to, seq, ack, flags, data, 65535);
}

// Gives the host an ICMP message of type 3 about its segment.
static void unreachable(uint8_t code, uint16_t from, uint16_t to, uint32_t seq)
{
	uint8_t p[56] = { 0x45 };
	put16(p + 2, sizeof p);
	p[8] = 64;
	p[9] = IPPROTO_ICMP;
	put32(p + 12, OURS);
	put32(p + 16, THEIRS);
	put16(p + 10, folded(sum(p, 20)));
	p[20] = 3;
	p[21] = code;
	p[28] = 0x45;
	put16(p + 30, 40);
	p[36] = 64;
	p[37] = IPPROTO_TCP;
	put32(p + 40, THEIRS);
	put32(p + 44, OURS);
	put16(p + 38, folded(sum(p + 28, 20)));
	put16(p + 48, from);
	put16(p + 50, to);
	put32(p + 52, seq);
	put16(p + 22, folded(sum(p + 20, 36)));
	EXPECT(t.netdev_send(t.user, p, sizeof p) == 0);
}

// Returns the next packet that leaves. Its checksum has to be right.
static struct packet sniff(void)
{
	uint8_t p[2000];
	struct packet got;
	size_t len = sizeof p;
	EXPECT(t.netdev_receive(t.user, p, &len, &got.time_us) == 0);
	EXPECT(len >= 40 && p[0] == 0x45 && p[9] == IPPROTO_TCP);
	size_t header = (p[32] >> 4) * 4, tcp = len - 20;
	EXPECT(folded(sum(p + 12, 8) + IPPROTO_TCP + tcp + sum(p + 20, tcp)) == 0);
	got.from = p[20] << 8 | p[21];
	got.to = p[22] << 8 | p[23];
	memcpy(&got.seq, p + 24, 4);
	memcpy(&got.ack, p + 28, 4);
	got.seq = ntohl(got.seq);
	got.ack = ntohl(got.ack);
	got.flags = p[33];
	got.len = tcp - header;
	got.header = header;
	memcpy(got.options, p + 40, header - 20);
	memcpy(got.data, p + 20 + header, got.len);
	return got;
}

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };
