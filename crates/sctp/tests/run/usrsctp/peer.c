// usrsctp as a peer over UDP on loopback:
//   peer listen LOCAL_UDP SCTP_PORT            takes one association and echoes every message on its stream
//   peer call LOCAL_UDP REMOTE_UDP SCTP_PORT COUNT SIZE STREAMS close|abort
//                                              sends COUNT messages of SIZE bytes, waits for their echoes, and ends
// Prints a line when it is ready, and what it counted when it is done.
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <usrsctp.h>

enum { LARGEST = 1 << 20 };
static char buffer[LARGEST];

static void quiet(const char *format, ...) { (void)format; }

static void fail(const char *what) {
  perror(what);
  _exit(1);
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static struct socket *open_socket(void) {
  struct socket *s = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, 0, 0, 0, 0);
  if (!s) fail("socket");
  struct sctp_initmsg init = {.sinit_num_ostreams = 16, .sinit_max_instreams = 16};
  usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_INITMSG, &init, sizeof init);
  int on = 1;
  usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on);
  usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on);
  return s;
}

static void send_message(struct socket *s, size_t size, int stream, unsigned ppid) {
  struct sctp_sndinfo info = {.snd_sid = stream, .snd_ppid = htonl(ppid)};
  if (usrsctp_sendv(s, buffer, size, 0, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0) fail("send");
}

// Reads a whole message. Returns its length, or 0 at the end.
static size_t read_message(struct socket *s, int *stream, unsigned *ppid) {
  size_t length = 0;
  for (;;) {
    struct sctp_rcvinfo info;
    struct sockaddr_in from;
    socklen_t from_length = sizeof from, info_length = sizeof info;
    unsigned type = 0;
    int flags = 0;
    ssize_t got = usrsctp_recvv(s, buffer + length, LARGEST - length, (struct sockaddr *)&from, &from_length, &info,
                                &info_length, &type, &flags);
    if (got <= 0) return 0;
    if (flags & MSG_NOTIFICATION) continue;
    length += got;
    *stream = info.rcv_sid;
    *ppid = ntohl(info.rcv_ppid);
    if (flags & MSG_EOR) return length;
  }
}

static void report(unsigned long messages, unsigned long long bytes) {
  struct sctpstat stat;
  usrsctp_get_stat(&stat);
  printf("messages=%lu bytes=%llu duplicates=%u bad_checksums=%u\n", messages, bytes, stat.sctps_recvdupdata,
         stat.sctps_checksumerrors);
  fflush(stdout);
}

static int listen_and_echo(int port) {
  struct socket *listener = open_socket();
  struct sockaddr_in local = loopback(port);
  if (usrsctp_bind(listener, (struct sockaddr *)&local, sizeof local) || usrsctp_listen(listener, 1)) fail("listen");
  puts("ready");
  fflush(stdout);
  struct socket *s = usrsctp_accept(listener, 0, 0);
  if (!s) fail("accept");
  unsigned long messages = 0;
  unsigned long long bytes = 0;
  int stream;
  unsigned ppid;
  size_t length;
  while ((length = read_message(s, &stream, &ppid))) {
    messages++;
    bytes += length;
    send_message(s, length, stream, ppid);
  }
  report(messages, bytes);
  return 0;
}

static int call(char **v) {
  struct socket *s = open_socket();
  struct sctp_udpencaps encaps;
  memset(&encaps, 0, sizeof encaps);
  encaps.sue_address.ss_family = AF_INET;
  encaps.sue_port = htons(atoi(v[3]));
  usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof encaps);
  // A fixed port, so that consecutive processes are the same end.
  struct sockaddr_in local = loopback(5001);
  if (usrsctp_bind(s, (struct sockaddr *)&local, sizeof local)) fail("bind");
  struct sockaddr_in remote = loopback(atoi(v[4]));
  if (usrsctp_connect(s, (struct sockaddr *)&remote, sizeof remote)) fail("connect");
  unsigned long count = strtoul(v[5], 0, 10), messages = 0;
  unsigned long long bytes = 0;
  size_t size = strtoul(v[6], 0, 10);
  int streams = atoi(v[7]), stream;
  unsigned ppid;
  for (unsigned long i = 0; i < count; i++) {
    memset(buffer, (int)(i & 0xff), size);
    send_message(s, size, i % streams, i);
  }
  while (messages < count) {
    size_t length = read_message(s, &stream, &ppid);
    if (!length) fail("the echo ended early");
    if ((unsigned char)buffer[0] != (ppid & 0xff) || stream != (int)(ppid % streams)) fail("a wrong echo");
    messages++;
    bytes += length;
  }
  if (!strcmp(v[8], "crash")) {
    report(messages, bytes);
    _exit(0);
  }
  if (!strcmp(v[8], "abort")) {
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    usrsctp_setsockopt(s, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    usrsctp_close(s);
    usleep(200000);
  } else {
    usrsctp_shutdown(s, SHUT_WR);
    while (read_message(s, &stream, &ppid)) {
    }
  }
  report(messages, bytes);
  // The last packet may have been lost, so the process answers until stdin is closed.
  while (getchar() != EOF) {
  }
  return 0;
}

int main(int c, char **v) {
  if (c < 4) return 2;
  usrsctp_init(atoi(v[2]), 0, quiet);
  usrsctp_sysctl_set_sctp_blackhole(0);
  usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
  usrsctp_sysctl_set_sctp_ecn_enable(0);
  int status = 2;
  if (!strcmp(v[1], "listen")) status = listen_and_echo(atoi(v[3]));
  if (!strcmp(v[1], "call") && c == 9) status = call(v);
  _exit(status);
}
