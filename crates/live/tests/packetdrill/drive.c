// Drives packetdrill's plugin as packetdrill does: loads it, opens sockets, sends and receives packets. No root, no device.
//   drive PLUGIN.so SCRIPT.pkt
#include "table.h"

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
	inject(1234, 8080, 7, nxt + 6, ACK, "");
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
	EXPECT(t.getsockopt(t.user, s, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0);
	EXPECT(t.close(t.user, s) == 0);
}

// Opens a connection to a listener at the port, and returns its descriptor.
static int accepted(uint16_t from, int l, uint16_t port, uint32_t *nxt)
{
	inject(from, port, 0, 0, SYN, "");
	*nxt = sniff().seq + 1;
	inject(from, port, 1, *nxt, ACK, "");
	return t.accept(t.user, l, NULL, NULL);
}

static int listener(uint16_t port)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(THEIRS) };
	int l = t.socket(t.user, AF_INET, SOCK_STREAM, IPPROTO_TCP);
	EXPECT(t.bind(t.user, l, (void *)&own, sizeof own) == 0);
	EXPECT(t.listen(t.user, l, 1) == 0);
	return l;
}

// Every way to write and to read, and the counts between them.
static void moves_data(void)
{
	uint32_t nxt;
	int l = listener(8081), s = accepted(1235, l, 8081, &nxt), count = 0;
	char room[8] = "";
	struct iovec two[] = { { room, 2 }, { room + 2, 6 } };
	struct msghdr message = { .msg_iov = two, .msg_iovlen = 2, .msg_namelen = 9, .msg_controllen = 9, .msg_flags = 9 };
	struct sockaddr_in peer;
	socklen_t len = sizeof peer;

	inject(1235, 8081, 1, nxt, ACK | PSH, "abcdefghijklmno");
	EXPECT(sniff().ack == 16);
	EXPECT(t.ioctl(t.user, s, FIONREAD, &count) == 0 && count == 15);
	EXPECT(t.recv(t.user, s, room, 3, 0) == 3 && memcmp(room, "abc", 3) == 0);
	EXPECT(t.readv(t.user, s, two, 1) == 2 && memcmp(room, "de", 2) == 0);
	EXPECT(t.recvfrom(t.user, s, room, 2, 0, (void *)&peer, &len) == 2 && memcmp(room, "fg", 2) == 0 && len == 0);
	EXPECT(t.recvmsg(t.user, s, &message, 0) == 8 && memcmp(room, "hijklmno", 8) == 0);
	EXPECT(message.msg_namelen == 0 && message.msg_controllen == 0 && message.msg_flags == 0);
	EXPECT(t.recv(t.user, s, room, 8, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	EXPECT(t.recv(t.user, s, room, 8, MSG_OOB) == -1 && errno == EOPNOTSUPP);

	message.msg_iovlen = 1;
	EXPECT(t.send(t.user, s, "ab", 2, MSG_MORE) == 2);
	EXPECT(t.sendto(t.user, s, "c", 1, MSG_MORE, NULL, 0) == 1);
	EXPECT(t.sendmsg(t.user, s, &message, 0) == 2);
	EXPECT(t.send(t.user, s, "d", 1, MSG_OOB) == -1 && errno == EOPNOTSUPP);
	struct packet got = sniff();
	EXPECT(got.len == 5 && memcmp(got.data, "abchi", 5) == 0);
	EXPECT(t.ioctl(t.user, s, TIOCOUTQ, &count) == 0 && count == 5);
	inject(1235, 8081, 16, nxt + 5, ACK, "");
	EXPECT(t.ioctl(t.user, s, TIOCOUTQ, &count) == 0 && count == 0);

	EXPECT(t.shutdown(t.user, s, SHUT_WR) == 0);
	EXPECT(sniff().flags & FIN);
	EXPECT(t.write(t.user, s, "a", 1) == -1 && errno == EPIPE);
	inject(1235, 8081, 16, nxt + 6, ACK | PSH, "after");
	EXPECT(t.read(t.user, s, room, 8) == 5);
	EXPECT(sniff().ack == 21);
	inject(1235, 8081, 21, nxt + 6, RST | ACK, "");
	EXPECT(t.read(t.user, s, room, 8) == -1 && errno == ECONNRESET);
	EXPECT(t.read(t.user, s, room, 8) == 0);
	EXPECT(t.close(t.user, s) == 0 && t.close(t.user, l) == 0);

	// Without its listener, the port is closed.
	inject(1236, 8081, 0, 0, SYN, "");
	EXPECT(sniff().flags == (RST | ACK));
}

static void takes_options(void)
{
	uint32_t nxt;
	int on = 1, bytes = 600, ms = 300, read = 0, l = listener(8082);
	socklen_t len = sizeof read;
	struct linger none = { .l_onoff = 1, .l_linger = 0 };
	EXPECT(t.setsockopt(t.user, l, IPPROTO_TCP, TCP_MAXSEG, &bytes, sizeof bytes) == 0);
	EXPECT(t.getsockopt(t.user, l, IPPROTO_TCP, TCP_MAXSEG, &read, &len) == 0 && read == 600 && len == 4);
	EXPECT(t.setsockopt(t.user, l, SOL_SOCKET, SO_PRIORITY, &on, sizeof on) == 0);
	EXPECT(t.setsockopt(t.user, l, IPPROTO_IP, IP_TOS, &on, 1) == 0);
	EXPECT(t.setsockopt(t.user, l, SOL_SOCKET, SO_RCVLOWAT, &on, sizeof on) == -1 && errno == ENOPROTOOPT);
	EXPECT(t.setsockopt(t.user, l, SOL_SOCKET, SO_LINGER, &none, sizeof on) == -1 && errno == EINVAL);
	inject(1237, 8082, 0, 0, SYN, "");
	struct packet got = sniff();
	EXPECT(got.options[0] == 2 && got.options[1] == 4 && (got.options[2] << 8 | got.options[3]) == 600);
	inject(1237, 8082, 1, got.seq + 1, ACK, "");
	int s = t.accept(t.user, l, NULL, NULL);
	EXPECT(t.setsockopt(t.user, s, IPPROTO_TCP, TCP_MAXSEG, &bytes, sizeof bytes) == -1 && errno == EINVAL);
	EXPECT(t.setsockopt(t.user, s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
	EXPECT(t.setsockopt(t.user, s, SOL_SOCKET, SO_LINGER, &none, sizeof none) == 0);
	EXPECT(t.close(t.user, s) == 0);
	EXPECT(sniff().flags & RST);

	s = accepted(1238, l, 8082, &nxt);
	EXPECT(t.setsockopt(t.user, s, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms) == 0);
	EXPECT(t.setsockopt(t.user, s, IPPROTO_TCP, TCP_CORK, &on, sizeof on) == 0);
	EXPECT(t.write(t.user, s, "a", 1) == 1 && t.write(t.user, s, "b", 1) == 1);
	on = 0;
	EXPECT(t.setsockopt(t.user, s, IPPROTO_TCP, TCP_CORK, &on, sizeof on) == 0);
	EXPECT(sniff().len == 2);
	struct pollfd set = { .fd = s, .events = POLLIN };
	EXPECT(t.poll(t.user, &set, 1, 5000) == 1 && set.revents & POLLERR);
	EXPECT(t.write(t.user, s, "c", 1) == -1 && errno == ETIMEDOUT);
	EXPECT(t.close(t.user, s) == 0 && t.close(t.user, l) == 0);
}

static void connects_again(void)
{
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(81), .sin_addr.s_addr = htonl(OURS) };
	int s = t.socket(t.user, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	EXPECT(t.connect(t.user, s, (void *)&peer, sizeof peer) == -1 && errno == EINPROGRESS);
	EXPECT(t.connect(t.user, s, (void *)&peer, sizeof peer) == -1 && errno == EALREADY);
	struct packet syn = sniff();
	inject(81, syn.from, 0, syn.seq + 1, SYN | ACK, "");
	EXPECT(sniff().flags == ACK);
	EXPECT(t.connect(t.user, s, (void *)&peer, sizeof peer) == 0);
	EXPECT(t.connect(t.user, s, (void *)&peer, sizeof peer) == -1 && errno == EISCONN);

	for (int code = 2; code <= 3; code++) {
		int c = t.socket(t.user, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), error = 0;
		socklen_t len = sizeof error;
		EXPECT(t.connect(t.user, c, (void *)&peer, sizeof peer) == -1 && errno == EINPROGRESS);
		syn = sniff();
		unreachable(code, syn.from, 81, syn.seq);
		EXPECT(t.getsockopt(t.user, c, SOL_SOCKET, SO_ERROR, &error, &len) == 0);
		EXPECT(error == (code == 3 ? ECONNREFUSED : EHOSTUNREACH));
	}
}

// A socket of IPv6 may carry IPv4.
static void maps_addresses(void)
{
	struct sockaddr_in6 own = { .sin6_family = AF_INET6, .sin6_port = htons(8083) }, peer;
	socklen_t len = sizeof peer;
	inet_pton(AF_INET6, "::ffff:192.168.0.1", &own.sin6_addr);
	int l = t.socket(t.user, AF_INET6, SOCK_STREAM, 0);
	EXPECT(t.bind(t.user, l, (void *)&own, sizeof own) == 0 && t.listen(t.user, l, 1) == 0);
	inject(1239, 8083, 0, 0, SYN, "");
	inject(1239, 8083, 1, sniff().seq + 1, ACK, "");
	EXPECT(t.accept(t.user, l, (void *)&peer, &len) >= 0 && len == sizeof peer);
	char text[INET6_ADDRSTRLEN];
	EXPECT(strcmp(inet_ntop(AF_INET6, &peer.sin6_addr, text, sizeof text), "::ffff:192.0.2.1") == 0);
}

static void refuses(void)
{
	int two[2], s = t.socket(t.user, AF_INET, SOCK_STREAM, 0);
	EXPECT(t.socket(t.user, AF_INET, SOCK_DGRAM, 0) == -1 && errno == EPROTONOSUPPORT);
	EXPECT(t.pipe(t.user, two) == -1 && errno == ENOSYS);
	EXPECT(t.epoll_create(t.user, 1) == -1 && errno == ENOSYS);
	EXPECT(t.epoll_ctl(t.user, 1, 1, s, NULL) == -1 && errno == ENOSYS);
	EXPECT(t.epoll_wait(t.user, 1, NULL, 1, 0) == -1 && errno == ENOSYS);
	EXPECT(t.splice(t.user, s, NULL, s, NULL, 1, 0) == -1 && errno == ENOSYS);
	EXPECT(t.ioctl(t.user, s, FIONREAD, two) == -1 && errno == ENOTCONN);

	// Addresses that are not the host's: without them packetdrill waits for an answer that never comes.
	struct sockaddr_in other = { .sin_family = AF_INET, .sin_port = htons(8084), .sin_addr.s_addr = htonl(THEIRS + 1) };
	EXPECT(t.bind(t.user, s, (void *)&other, sizeof other) == -1 && errno == EADDRNOTAVAIL);
	uint8_t p[40] = { 0x45, 0, 0, 40, 0, 0, 0, 0, 64, IPPROTO_TCP };
	put32(p + 12, OURS);
	put32(p + 16, THEIRS + 1);
	put16(p + 10, folded(sum(p, 20)));
	EXPECT(t.netdev_send(t.user, p, sizeof p) == -1 && errno == EADDRNOTAVAIL);
}

// A packet that never leaves ends packetdrill's wait with no bytes. A failure would make it ask again for ever.
static void ends_waiting(void)
{
	uint8_t p[100];
	size_t len = sizeof p;
	long long first, last;
	struct timeval now;
	EXPECT(t.gettimeofday(t.user, &now, NULL) == 0);
	first = now.tv_sec * 1000000LL + now.tv_usec;
	EXPECT(t.usleep(t.user, 2000) == 0);
	EXPECT(t.netdev_receive(t.user, p, &len, &last) == 0 && len == 0);
	EXPECT(last - first >= 2000 && last - first < 5000000);
}

// A write into a closed window sends nothing, and starts the timer of the first probe.
static void probes_a_closed_window(void)
{
	int l = listener(8086);
	inject(1241, 8086, 0, 0, SYN, "");
	uint32_t nxt = sniff().seq + 1;
	inject_window(1241, 8086, 1, nxt, ACK, "", 0);
	int s = t.accept(t.user, l, NULL, NULL);
	EXPECT(t.write(t.user, s, "a", 1) == 1);
	struct timeval now;
	EXPECT(t.gettimeofday(t.user, &now, NULL) == 0);
	struct packet probe = sniff();
	EXPECT(probe.time_us - (now.tv_sec * 1000000LL + now.tv_usec) < 5000000);
	inject(1241, 8086, 1, nxt, RST | ACK, "");
	EXPECT(t.close(t.user, s) == 0 && t.close(t.user, l) == 0);
}

// packetdrill closes the descriptors of sockets that a script leaves open, and frees the stack afterwards.
static void gives_real_descriptors(void)
{
	int s = t.socket(t.user, AF_INET, SOCK_STREAM, 0), gone = t.socket(t.user, AF_INET, SOCK_STREAM, 0), error = 0;
	socklen_t len = sizeof error;
	EXPECT(fcntl(s, F_GETFD) >= 0 && s != gone);
	// packetdrill asks the system for TCP_INFO. It must not get that of another socket.
	EXPECT(getsockopt(s, IPPROTO_TCP, TCP_INFO, &error, &len) == -1 && errno == ENOTSOCK);
	EXPECT(t.close(t.user, gone) == 0);
	EXPECT(fcntl(gone, F_GETFD) == -1 && errno == EBADF);
	EXPECT(close(s) == 0);
	int reused = open("/dev/null", O_RDONLY);
	while (reused < s)
		reused = open("/dev/null", O_RDONLY);
	EXPECT(reused == s);
	t.free(t.user);
	EXPECT(fcntl(reused, F_GETFD) >= 0);
}

// The settings of a script, whose full segments have 700 bytes.
static void takes_settings(void)
{
	listener(8085);
	inject(1240, 8085, 0, 0, SYN, "");
	struct packet got = sniff();
	EXPECT((got.options[2] << 8 | got.options[3]) == 700 && got.header == 24);
	t.free(t.user);
}

int main(int count, char **words)
{
	void *plugin = count == 3 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | RTLD_DEEPBIND) : NULL;
	if (!plugin) {
		fprintf(stderr, "%s\n", count == 3 ? dlerror() : "usage: drive PLUGIN.so SCRIPT.pkt");
		return 1;
	}
	void (*init)(const char *, struct table *) = dlsym(plugin, "packetdrill_interface_init");
	EXPECT(init);
	init("local=192.168.0.1", &t);
	answers();
	calls();
	moves_data();
	takes_options();
	connects_again();
	maps_addresses();
	refuses();
	probes_a_closed_window();
	ends_waiting();
	gives_real_descriptors();
	char flags[5000];
	snprintf(flags, sizeof flags, "local=192.168.0.1,script=%s", words[2]);
	init(flags, &t);
	takes_settings();
	puts("ok");
	return 0;
}
