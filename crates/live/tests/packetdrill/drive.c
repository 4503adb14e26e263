// Drives packetdrill's plugin as packetdrill does: loads it, opens sockets, sends and receives packets. No root, no device.
//   drive PLUGIN.so
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
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

// packetdrill's table. Members that are called here have their types; the others only fill their
// places.
struct table {
	void *user;
	void (*free)(void *);
	int (*socket)(void *, int, int, int);
	int (*bind)(void *, int, const struct sockaddr *, socklen_t);
	int (*listen)(void *, int, int);
	int (*accept)(void *, int, struct sockaddr *, socklen_t *);
	int (*connect)(void *, int, const struct sockaddr *, socklen_t);
	ssize_t (*read)(void *, int, void *, size_t);
	void *readv, *recv, *recvfrom, *recvmsg;
	ssize_t (*write)(void *, int, const void *, size_t);
	ssize_t (*writev)(void *, int, const struct iovec *, int);
	void *send, *sendto, *sendmsg;
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
	void *epoll_create, *epoll_ctl, *epoll_wait;
	int (*pipe)(void *, int *);
	void *splice;
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
	size_t len;
	uint8_t data[1500];
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
static void inject(uint16_t from, uint16_t to, uint32_t seq, uint32_t ack, uint8_t flags, const char *data)
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
	put16(p + 34, 65535);
	memcpy(p + 40, data, len);
	put16(p + 36, folded(sum(p + 12, 8) + IPPROTO_TCP + tcp + sum(p + 20, tcp)));
	EXPECT(t.netdev_send(t.user, p, 20 + tcp) == 0);
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
	memcpy(got.data, p + 20 + header, got.len);
	return got;
}

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };

static void answers(void)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(8080) }, peer;
	socklen_t len = sizeof peer;
	int one = 1, l = t.socket(t.user, AF_INET, SOCK_STREAM, 0);
	EXPECT(l >= 0);
	EXPECT(t.setsockopt(t.user, l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
	EXPECT(t.bind(t.user, l, (void *)&own, sizeof own) == 0);
	EXPECT(t.listen(t.user, l, 1) == 0);
	struct pollfd set = { .fd = l, .events = POLLIN };
	EXPECT(t.poll(t.user, &set, 1, 0) == 0);

	inject(1234, 8080, 0, 0, SYN, "");
	struct packet got = sniff();
	EXPECT(got.flags == (SYN | ACK) && got.ack == 1 && got.to == 1234);
	uint32_t nxt = got.seq + 1;
	inject(1234, 8080, 1, nxt, ACK, "");
	EXPECT(t.poll(t.user, &set, 1, -1) == 1 && set.revents == POLLIN);
	int s = t.accept(t.user, l, (void *)&peer, &len);
	EXPECT(s >= 0 && s != l);
	EXPECT(ntohl(peer.sin_addr.s_addr) == OURS && ntohs(peer.sin_port) == 1234);

	EXPECT(t.fcntl(t.user, s, F_SETFL, O_RDWR | O_NONBLOCK) == 0);
	EXPECT(t.fcntl(t.user, s, F_GETFL) & O_NONBLOCK);
	char room[100];
	EXPECT(t.read(t.user, s, room, sizeof room) == -1 && errno == EAGAIN);
	inject(1234, 8080, 1, nxt, ACK | PSH, "hello");
	EXPECT(t.read(t.user, s, room, sizeof room) == 5 && memcmp(room, "hello", 5) == 0);
	got = sniff();
	EXPECT(got.flags == ACK && got.ack == 6);

	// Without an acknowledgement the same bytes leave again, but not before the minimum
	// retransmission timeout.
	struct iovec two[] = { { "wor", 3 }, { "ld", 2 } };
	EXPECT(t.writev(t.user, s, two, 2) == 5);
	struct packet first = sniff();
	EXPECT(first.len == 5 && first.seq == nxt && memcmp(first.data, "world", 5) == 0);
	struct packet again = sniff();
	EXPECT(again.len == 5 && again.seq == nxt && memcmp(again.data, "world", 5) == 0);
	EXPECT(again.time_us - first.time_us >= 190000);
	inject(1234, 8080, 6, nxt + 5, ACK, "");
	struct timeval now;
	EXPECT(t.gettimeofday(t.user, &now, NULL) == 0);
	EXPECT(now.tv_sec * 1000000LL + now.tv_usec >= again.time_us);

	inject(1234, 8080, 6, nxt + 5, FIN | ACK, "");
	EXPECT(sniff().ack == 7);
	EXPECT(t.read(t.user, s, room, sizeof room) == 0);
	EXPECT(t.close(t.user, s) == 0);
	got = sniff();
	EXPECT(got.flags & FIN && got.seq == nxt + 5);
	EXPECT(t.read(t.user, s, room, sizeof room) == -1 && errno == EBADF);
	EXPECT(t.close(t.user, l) == 0);
}

static void calls(void)
{
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(80), .sin_addr.s_addr = htonl(OURS) };
	int s = t.socket(t.user, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	EXPECT(t.connect(t.user, s, (void *)&peer, sizeof peer) == -1 && errno == EINPROGRESS);
	struct packet syn = sniff();
	EXPECT(syn.flags == SYN && syn.to == 80);
	inject(80, syn.from, 0, syn.seq + 1, RST | ACK, "");
	struct pollfd set = { .fd = s, .events = POLLOUT };
	EXPECT(t.poll(t.user, &set, 1, -1) == 1 && set.revents & POLLERR);
	int error = 0;
	socklen_t len = sizeof error;
	EXPECT(t.getsockopt(t.user, s, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == ECONNREFUSED);
	EXPECT(t.socket(t.user, AF_INET, SOCK_DGRAM, 0) == -1 && errno == EPROTONOSUPPORT);
	int two[2];
	EXPECT(t.pipe(t.user, two) == -1 && errno == ENOSYS);
}

int main(int count, char **words)
{
	void *plugin = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | RTLD_DEEPBIND) : NULL;
	if (!plugin) {
		fprintf(stderr, "%s\n", count == 2 ? dlerror() : "usage: drive PLUGIN.so");
		return 1;
	}
	void (*init)(const char *, struct table *) = dlsym(plugin, "packetdrill_interface_init");
	EXPECT(init);
	init("local=192.168.0.1", &t);
	answers();
	calls();
	t.free(t.user);
	puts("ok");
	return 0;
}
