// usrsctp as a peer behind a TUN device:
//   peer listen UDP PORT                       takes one association, prints the number of its bytes
//   peer call UDP ADDRESS PORT COUNT SIZE      sends COUNT messages of SIZE bytes, and ends the association
// UDP is the peer's own UDP port; the other side has 9899. With 0, SCTP is native, through a raw
// socket.
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <usrsctp.h>

static char buffer[1 << 18];

static void quiet(const char *format, ...) { (void)format; }

static void fail(const char *what) {
  perror(what);
  _exit(1);
}

static ssize_t take(struct socket *s) {
  for (;;) {
    struct sctp_rcvinfo info;
    struct sockaddr_in from;
    socklen_t from_length = sizeof from, info_length = sizeof info;
    unsigned type = 0;
    int flags = 0;
    ssize_t got = usrsctp_recvv(s, buffer, sizeof buffer, (struct sockaddr *)&from, &from_length, &info, &info_length,
                                &type, &flags);
    if (!(flags & MSG_NOTIFICATION)) return got;
  }
}

int main(int count, char **words) {
  if (count < 4) return 2;
  int udp = atoi(words[2]);
  usrsctp_init(udp, 0, quiet);
  usrsctp_sysctl_set_sctp_blackhole(0);
  struct socket *s = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, 0, 0, 0, 0);
  if (!s) fail("socket");
  struct sockaddr_in address = {.sin_family = AF_INET};
  if (!strcmp(words[1], "listen")) {
    address.sin_port = htons(atoi(words[3]));
    if (usrsctp_bind(s, (struct sockaddr *)&address, sizeof address) || usrsctp_listen(s, 1)) fail("listen");
    struct socket *one = usrsctp_accept(s, 0, 0);
    unsigned long long bytes = 0;
    for (ssize_t got; (got = take(one)) > 0;) bytes += got;
    fprintf(stderr, "usrsctp took %llu bytes\n", bytes);
    sleep(1);
    return 0;
  }
  if (count < 7) return 2;
  if (udp) {
    struct sctp_udpencaps encaps;
    memset(&encaps, 0, sizeof encaps);
    encaps.sue_address.ss_family = AF_INET;
    encaps.sue_port = htons(9899);
    usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof encaps);
  }
  inet_pton(AF_INET, words[3], &address.sin_addr);
  address.sin_port = htons(atoi(words[4]));
  if (usrsctp_connect(s, (struct sockaddr *)&address, sizeof address)) fail("connect");
  struct sctp_sndinfo info = {0};
  for (long left = atol(words[5]); left > 0; left--)
    if (usrsctp_sendv(s, buffer, atoi(words[6]), 0, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0) fail("send");
  usrsctp_shutdown(s, SHUT_WR);
  while (take(s) > 0) {
  }
  sleep(1);
  return 0;
}
