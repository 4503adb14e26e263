/* Tells user space what TCP does about losses, connection by connection.
 *
 * A socket is observed from its first loss sign until everything sent by its last retransmission is
 * acknowledged, and some time has passed in which duplicates are reported. Outside of an
 * observation an ACK costs a look at the socket's storage. In one, each ACK goes to user space with
 * its header, and each segment that was sent, with its time, as the socket's retransmission queue
 * shows it.
 */
#include "kernel.h"

char licence[] SEC("license") = "Dual MIT/GPL";

/* What is watched; 0 stands for all. Set by the loader. */
const volatile u32 only_port = 0;
const volatile u32 only_namespace = 0;
const volatile u64 only_cgroup = 0;

#define ESTABLISHED 1
#define SYN_SENT 2
#define SYN_RECV 3
#define CLOSE 7
#define INET6 10

#define CA_OPEN 0
#define CA_CWR 2
#define CA_LOSS 4

#define MILLISECOND 1000000ULL
/* How long after its last loss sign a repaired connection is observed: at least this, and at least
 * two smoothed round trips. */
#define LINGER (500 * MILLISECOND)
/* An observation this old ends with the next ACK that leaves nothing to repair. */
#define LONG (4000 * MILLISECOND)
/* An observation this old ends in any case. */
#define TOO_LONG (30000 * MILLISECOND)
/* The most segments that are told of at once. */
#define MOST_SENT 256
/* A red-black tree of this depth has more nodes than memory has room for segments. */
#define DEPTH 40

enum kind { START = 1, SENT, RETRANSMITTED, ACK, STATE, END };

/* Flags of a fact. */
#define BY_TIMER 1 /* a timer is expiring */
#define AFTER_TIMEOUT 2 /* the first retransmission since the state became Loss */
#define MISSED 4 /* an ACK was not told of */
#define CLOSED 8 /* the connection is over */
#define MORE 16 /* there are more segments than could be told of */

/* Options of a connection. */
#define TIMESTAMPS 1
#define MICROSECONDS 2
#define SACK 4
#define SCALES 8

/* The state of an observation. */
struct watched {
	u64 since;
	u64 last_sign;
	u32 active;
	/* Facts of this observation so far, including those that the ring had no room for. */
	u32 number;
	/* Everything below has been told of. */
	u32 sent_to;
	/* Everything below was sent at the last loss sign. */
	u32 high;
	u32 after_timeout;
	/* Whether the connection is being closed, and its packets are looked for. */
	u32 closing;
	/* Segments of the connection that were sent again, and told of or did not leave. */
	u32 retransmitted;
};

/* What all facts begin with. */
struct head {
	u64 socket;
	u64 nanos;
	u32 number;
	u8 kind;
	u8 ca_state;
	u8 pending;
	u8 flags;
};

struct window {
	u32 una;
	u32 nxt;
	u32 cwnd;
	u32 ssthresh;
	u32 undo_marker;
	s32 undo_retrans;
	u32 ts_recent;
	u32 dsack_dups;
};

struct start {
	struct head head;
	struct window window;
	u32 rcv_nxt;
	u32 rcv_tsecr;
	u32 tsoffset;
	u32 min_rtt_us;
	u32 srtt_us;
	u32 mss;
	u32 sacked_out;
	u32 namespace;
	u64 first_sent_us;
	u16 family;
	u16 port;
	u16 remote_port;
	u8 options;
	u8 scales;
	u8 address[16];
	u8 remote[16];
	struct tcp_sack_block sacks[4];
};

/* A segment in the retransmission queue. `head.nanos` is when it was sent last. */
struct sent {
	struct head head;
	u32 seq;
	u32 end;
	u32 len;
	u32 ts_recent;
	u32 sacked;
	u32 unused;
};

struct fact {
	struct head head;
	struct window window;
	u64 sent_nanos;
	u32 seq;
	u32 end;
	u32 len;
	u8 retransmits;
	u8 tcp_state;
	/* Segments that were sent again since the last fact, and are not told of. */
	u16 missed;
	union {
		/* Of an ACK. */
		u8 header[60];
		/* Of a retransmission: what the timer was computed from. */
		struct {
			u32 srtt_us;
			u32 rttvar_us;
			u8 backoff;
		};
	};
	/* IP identification of an ACK, in the order of its bytes; 0 with IPv6. */
	u16 identification;
	/* How often the kernel has seen the path change the order of packets. */
	u16 reorderings;
};

struct {
	NUMBER(type, MAP_RINGBUF);
	NUMBER(max_entries, 1 << 24);
} facts SEC(".maps");

struct {
	NUMBER(type, MAP_SK_STORAGE);
	NUMBER(map_flags, NO_PREALLOC);
	int *key;
	struct watched *value;
} sockets SEC(".maps");

/* Facts that the ring had no room for, and retransmissions among them. */
struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 2);
	u32 *key;
	u64 *value;
} dropped SEC(".maps");

/* Connections that are being closed while they are observed. No tracepoint of TCP shows their ACKs, so
 * they are found among all packets that come in. */
struct ends {
	u32 namespace;
	u32 local;
	u32 remote;
	u16 port;
	u16 remote_port;
};

struct closing {
	u64 socket;
	u64 missed;
};

struct {
	NUMBER(type, MAP_HASH);
	NUMBER(max_entries, 1 << 14);
	struct ends *key;
	struct closing *value;
} closings SEC(".maps");

/* Their number. While it is 0, a packet costs a look at it. */
u32 closing_now = 0;

INLINE int before(u32 one, u32 other)
{
	return (s32)(one - other) < 0;
}

INLINE void count_dropped(u32 which, u64 more)
{
	u64 *count = bpf_map_lookup_elem(&dropped, &which);
	if (count)
		__sync_fetch_and_add(count, more);
}

INLINE void *reserve(struct watched *w, u64 size, u8 kind)
{
	w->number++;
	void *room = bpf_ringbuf_reserve(&facts, size, 0);
	if (!room) {
		count_dropped(0, 1);
		if (kind == RETRANSMITTED)
			count_dropped(1, 1);
	}
	return room;
}

/* Fills what most facts begin with. The socket may be any address. */
INLINE void fill(struct head *head, struct window *window, u64 socket, u32 number, u8 kind)
{
	struct tcp_sock *tp = (struct tcp_sock *)(unsigned long)socket;
	head->socket = socket;
	head->nanos = bpf_ktime_get_ns();
	head->number = number;
	head->kind = kind;
	head->ca_state = BITS(tp, inet_conn.icsk_ca_state);
	READ(head->pending, tp, inet_conn.icsk_pending);
	head->flags = 0;
	READ(window->una, tp, snd_una);
	READ(window->nxt, tp, snd_nxt);
	READ(window->cwnd, tp, snd_cwnd);
	READ(window->ssthresh, tp, snd_ssthresh);
	READ(window->undo_marker, tp, undo_marker);
	READ(window->undo_retrans, tp, undo_retrans);
	READ(window->ts_recent, tp, rx_opt.ts_recent);
	READ(window->dsack_dups, tp, dsack_dups);
}

/* Whether the socket's timer is expiring, rather than an ACK handled. */
INLINE u8 by_timer(struct tcp_sock *tp)
{
	u64 expires;
	if (FIELD_EXISTS(tp->inet_conn.icsk_inet.sk.tcp_retransmit_timer))
		expires = tp->inet_conn.icsk_inet.sk.tcp_retransmit_timer.expires;
	else
		expires = tp->inet_conn.icsk_retransmit_timer.expires;
	return expires <= bpf_jiffies64() ? BY_TIMER : 0;
}

/* Returns the address of the first segment in a retransmission queue that ends after `seq`; 0 if
 * there is none. A function of its own, so that the verifier reads it once. */
__attribute__((noinline)) u64 first_behind(u64 root, u32 seq)
{
	u64 found = 0;
	struct rb_node *node = (struct rb_node *)(unsigned long)root;
#pragma clang loop unroll(disable)
	for (int depth = 0; depth < DEPTH && node; depth++) {
		/* The node is the first member of the segment. */
		struct sk_buff *skb = (struct sk_buff *)node;
		struct tcp_skb_cb *cb = (struct tcp_skb_cb *)__builtin_preserve_access_index(&skb->cb);
		u32 end = 0;
		if (READ(end, cb, end_seq))
			return 0;
		if (before(seq, end)) {
			found = (u64)(unsigned long)skb;
			READ(node, node, rb_left);
		} else {
			READ(node, node, rb_right);
		}
	}
	return found;
}

/* Tells of the segments that were sent since the last time. Returns whether there may be more. */
INLINE int tell_sent(struct sock *sk, struct tcp_sock *tp, struct watched *w)
{
	u64 root = 0;
	u32 nxt = tp->snd_nxt, recent = tp->rx_opt.ts_recent;
	if (!before(w->sent_to, nxt))
		return 0;
	/* As a number, because a function of its own takes no pointer to memory of the kernel. */
	bpf_probe_read_kernel(&root, sizeof(root), &sk->tcp_rtx_queue.rb_node);
#pragma clang loop unroll(disable)
	for (int count = 0; count < MOST_SENT; count++) {
		struct sk_buff *skb = (struct sk_buff *)(unsigned long)first_behind(root, w->sent_to);
		if (!skb)
			return 0;
		struct tcp_skb_cb *cb = (struct tcp_skb_cb *)__builtin_preserve_access_index(&skb->cb);
		u32 seq = 0, end = 0, len = 0;
		u64 nanos = 0;
		u8 sacked = 0;
		READ(seq, cb, seq);
		READ(end, cb, end_seq);
		READ(sacked, cb, sacked);
		READ(len, skb, len);
		READ(nanos, skb, skb_mstamp_ns);
		struct sent *sent = reserve(w, sizeof(*sent), SENT);
		if (sent) {
			sent->head.socket = (u64)(unsigned long)sk;
			sent->head.nanos = nanos;
			sent->head.number = w->number;
			sent->head.kind = SENT;
			sent->head.ca_state = 0;
			sent->head.pending = 0;
			sent->head.flags = 0;
			sent->seq = seq;
			sent->end = end;
			sent->len = len;
			sent->ts_recent = recent;
			sent->sacked = sacked;
			sent->unused = 0;
			bpf_ringbuf_submit(sent, 0);
		}
		w->sent_to = end;
		if (!before(end, nxt))
			return 0;
	}
	return 1;
}

INLINE u32 last_word(const struct in6_addr *address)
{
	u32 word = 0;
	bpf_probe_read_kernel(&word, 4, (const u8 *)address + 12);
	return word;
}

INLINE void ends_of(struct sock *sk, struct ends *ends)
{
	ends->namespace = sk->__sk_common.skc_net.net->ns.inum;
	if (sk->__sk_common.skc_family == INET6) {
		ends->local = last_word(&sk->__sk_common.skc_v6_rcv_saddr);
		ends->remote = last_word(&sk->__sk_common.skc_v6_daddr);
	} else {
		ends->local = sk->__sk_common.skc_rcv_saddr;
		ends->remote = sk->__sk_common.skc_daddr;
	}
	ends->port = __builtin_bswap16(sk->__sk_common.skc_num);
	ends->remote_port = sk->__sk_common.skc_dport;
}

/* Looks for the packets of an observed connection from now on, as it is being closed. */
INLINE void on_closing(struct sock *sk, struct watched *w)
{
	struct ends ends = {};
	struct closing closing = { (u64)(unsigned long)sk, 0 };
	if (w->closing)
		return;
	ends_of(sk, &ends);
	if (bpf_map_update_elem(&closings, &ends, &closing, 0))
		return;
	w->closing = 1;
	__sync_fetch_and_add(&closing_now, 1);
}

/* Ends the search. Returns whether an ACK was missed. */
INLINE int on_closed(struct sock *sk, struct watched *w)
{
	struct ends ends = {};
	if (!w->closing)
		return 0;
	w->closing = 0;
	__sync_fetch_and_add(&closing_now, -1);
	ends_of(sk, &ends);
	struct closing *found = bpf_map_lookup_elem(&closings, &ends);
	int missed = found && found->missed;
	bpf_map_delete_elem(&closings, &ends);
	return missed;
}

INLINE int is_chosen(struct sock *sk)
{
	u32 port = only_port;
	if (port && sk->__sk_common.skc_num != port &&
	    sk->__sk_common.skc_dport != __builtin_bswap16(port))
		return 0;
	if (only_namespace && sk->__sk_common.skc_net.net->ns.inum != only_namespace)
		return 0;
	if (only_cgroup) {
		if (!FIELD_EXISTS(sk->sk_cgrp_data.cgroup))
			return 0;
		struct kernfs_node *kn = 0;
		u64 id = 0;
		struct cgroup *cgroup = sk->sk_cgrp_data.cgroup;
		READ(kn, cgroup, kn);
		READ(id, kn, id);
		return id == only_cgroup;
	}
	return 1;
}

/* Begins an observation. Returns its state; 0 if the socket is not watched, or the ring is full. */
INLINE struct watched *begin(struct sock *sk, struct tcp_sock *tp)
{
	if (!is_chosen(sk))
		return 0;
	struct watched *w = bpf_sk_storage_get(&sockets, sk, 0, STORAGE_CREATE);
	if (!w)
		return 0;
	w->number = 0;
	w->after_timeout = 0;
	w->closing = 0;
	w->retransmitted = tp->total_retrans;
	w->since = w->last_sign = bpf_ktime_get_ns();
	w->sent_to = tp->snd_una;
	w->high = tp->snd_nxt;
	struct start *start = reserve(w, sizeof(*start), START);
	if (!start)
		return 0;
	fill(&start->head, &start->window, (u64)(unsigned long)sk, w->number, START);
	start->rcv_nxt = tp->rcv_nxt;
	start->rcv_tsecr = tp->rx_opt.rcv_tsecr;
	start->tsoffset = tp->tsoffset;
	start->min_rtt_us = tp->rtt_min.s[0].v;
	start->srtt_us = tp->srtt_us >> 3;
	start->mss = tp->mss_cache;
	start->sacked_out = tp->sacked_out;
	start->namespace = sk->__sk_common.skc_net.net->ns.inum;
	start->first_sent_us = tp->first_tx_mstamp;
	u16 family = sk->__sk_common.skc_family;
	start->family = family;
	start->port = sk->__sk_common.skc_num;
	start->remote_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	u8 options = 0;
	if (BITS(tp, rx_opt.tstamp_ok))
		options |= TIMESTAMPS;
	if (FIELD_EXISTS(tp->tcp_usec_ts) && BITS(tp, tcp_usec_ts))
		options |= MICROSECONDS;
	if (BITS(tp, rx_opt.sack_ok))
		options |= SACK;
	if (BITS(tp, rx_opt.wscale_ok))
		options |= SCALES;
	start->options = options;
	start->scales = BITS(tp, rx_opt.snd_wscale) | BITS(tp, rx_opt.rcv_wscale) << 4;
	__builtin_memset(start->address, 0, 32);
	if (family == INET6) {
		bpf_probe_read_kernel(start->address, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_probe_read_kernel(start->remote, 16, &sk->__sk_common.skc_v6_daddr);
	} else {
		bpf_probe_read_kernel(start->address, 4, &sk->__sk_common.skc_rcv_saddr);
		bpf_probe_read_kernel(start->remote, 4, &sk->__sk_common.skc_daddr);
	}
	bpf_probe_read_kernel(start->sacks, sizeof(start->sacks), &tp->recv_sack_cache);
	bpf_ringbuf_submit(start, 0);
	w->active = 1;
	u8 state = sk->__sk_common.skc_state;
	if (state != ESTABLISHED && state != SYN_SENT && state != SYN_RECV)
		on_closing(sk, w);
	return w;
}

INLINE struct watched *observed(struct sock *sk)
{
	struct watched *w = bpf_sk_storage_get(&sockets, sk, 0, 0);
	return w && w->active ? w : 0;
}

/* Returns a fact of the socket with the rest 0; 0 if the ring is full.
 *
 * The kernel may leave out a program, as where it would interrupt itself. The socket's own count shows it. */
INLINE struct fact *next_fact(struct sock *sk, struct watched *w, u8 kind)
{
	struct tcp_sock *tp = (struct tcp_sock *)(unsigned long)sk;
	u32 all = 0;
	READ(all, tp, total_retrans);
	u32 missed = all - w->retransmitted;
	w->retransmitted = all;
	struct fact *fact = reserve(w, sizeof(*fact), kind);
	if (fact) {
		__builtin_memset(fact, 0, sizeof(*fact));
		fill(&fact->head, &fact->window, (u64)(unsigned long)sk, w->number, kind);
		fact->missed = missed > 0xffff ? 0xffff : missed;
		u32 reorderings = 0;
		READ(reorderings, tp, reord_seen);
		fact->reorderings = reorderings > 0xffff ? 0xffff : reorderings;
	} else {
		/* No later fact tells of them. */
		count_dropped(1, missed);
	}
	return fact;
}

INLINE void finish(struct sock *sk, struct watched *w, u8 flags)
{
	if (on_closed(sk, w))
		flags |= MISSED;
	struct fact *fact = next_fact(sk, w, END);
	w->active = 0;
	if (!fact)
		return;
	fact->head.flags = flags;
	bpf_ringbuf_submit(fact, 0);
}

/* Returns the observation that a loss sign belongs to. Another one begins if there is none, or if the
 * connection has been repaired for so long; 0 if that cannot be. */
INLINE struct watched *observed_at_sign(struct sock *sk, struct tcp_sock *tp)
{
	struct watched *w = observed(sk);
	if (w && !before(tp->snd_una, w->high) && bpf_ktime_get_ns() - w->last_sign > LINGER) {
		finish(sk, w, 0);
		w = 0;
	}
	return w ? w : begin(sk, tp);
}

INLINE u16 segments_of(struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = (struct tcp_skb_cb *)__builtin_preserve_access_index(&skb->cb);
	u16 segments = 0;
	READ(segments, cb, tcp_gso_segs);
	return segments;
}

INLINE int on_retransmission(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	struct tcp_skb_cb *cb = (struct tcp_skb_cb *)__builtin_preserve_access_index(&skb->cb);
	u16 segments = segments_of(skb);
	struct watched *w = observed(sk);
	if (w)
		w->retransmitted += segments;
	w = observed_at_sign(sk, tp);
	if (!w)
		return 0;
	u8 more = tell_sent(sk, tp, w) ? MORE : 0;
	struct fact *fact = next_fact(sk, w, RETRANSMITTED);
	if (fact) {
		fact->head.flags = more | by_timer(tp) | (w->after_timeout ? AFTER_TIMEOUT : 0);
		READ(fact->seq, cb, seq);
		READ(fact->end, cb, end_seq);
		fact->len = skb->len;
		fact->sent_nanos = skb->skb_mstamp_ns;
		fact->retransmits = tp->inet_conn.icsk_retransmits;
		fact->srtt_us = tp->srtt_us >> 3;
		fact->rttvar_us = tp->rttvar_us;
		fact->backoff = tp->inet_conn.icsk_backoff;
		fact->tcp_state = sk->__sk_common.skc_state;
		bpf_ringbuf_submit(fact, 0);
	}
	w->after_timeout = 0;
	w->last_sign = bpf_ktime_get_ns();
	w->high = tp->snd_nxt;
	u8 state = sk->__sk_common.skc_state;
	if (state == SYN_SENT || state == SYN_RECV)
		finish(sk, w, 0);
	return 0;
}

/* The third argument came with Linux 6.18. Before, nothing is told of what did not leave. */
SEC("tp_btf/tcp_retransmit_skb") int retransmitted(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	if (!ctx[2])
		return on_retransmission(sk, (struct sk_buff *)ctx[1]);
	struct watched *w = observed(sk);
	struct tcp_sock *tp = (struct tcp_sock *)(unsigned long)sk;
	u32 all = 0;
	u16 segments = segments_of((struct sk_buff *)ctx[1]);
	/* Linux counts those that the device refused, but not those that it did not try. */
	if (w && !READ(all, tp, total_retrans) && all - w->retransmitted >= segments)
		w->retransmitted += segments;
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb") int retransmitted_before_6_18(u64 *ctx)
{
	return on_retransmission((struct sock *)ctx[0], (struct sk_buff *)ctx[1]);
}

SEC("tp_btf/tcp_cong_state_set") int state_set(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	u8 state = ctx[1];
	int is_sign = state != CA_OPEN && state != CA_CWR;
	struct watched *w = observed(sk);
	if (!w && !is_sign)
		return 0;
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	if (is_sign)
		w = observed_at_sign(sk, tp);
	if (!w)
		return 0;
	tell_sent(sk, tp, w);
	if (is_sign) {
		w->after_timeout = state == CA_LOSS;
		w->last_sign = bpf_ktime_get_ns();
		w->high = tp->snd_nxt;
	}
	struct fact *fact = next_fact(sk, w, STATE);
	if (!fact)
		return 0;
	/* The tracepoint comes before the change. */
	fact->head.ca_state = state;
	fact->head.flags = by_timer(tp);
	bpf_ringbuf_submit(fact, 0);
	return 0;
}

/* Called with each segment of an established connection, before it is handled. */
SEC("tp_btf/tcp_probe") int acknowledged(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct sk_buff *skb = (struct sk_buff *)ctx[1];
	struct watched *w = observed(sk);
	if (!w)
		return 0;
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	int more = tell_sent(sk, tp, w);
	struct fact *fact = next_fact(sk, w, ACK);
	if (fact) {
		fact->len = skb->len;
		bpf_probe_read_kernel(fact->header, sizeof(fact->header), skb->head + skb->transport_header);
		u8 ip[6] = {};
		bpf_probe_read_kernel(ip, sizeof(ip), skb->head + skb->network_header);
		if (ip[0] >> 4 == 4)
			__builtin_memcpy(&fact->identification, ip + 4, 2);
		bpf_ringbuf_submit(fact, 0);
	}
	u64 now = bpf_ktime_get_ns(), trips = tp->srtt_us * 250ULL, age = now - w->since;
	int repaired = !before(tp->snd_una, w->high) && !tp->retrans_out && !tp->sacked_out && !more;
	int over = now - w->last_sign > (trips > LINGER ? trips : LINGER) &&
		   BITS(tp, inet_conn.icsk_ca_state) == CA_OPEN;
	if ((repaired && (over || age > LONG)) || age > TOO_LONG)
		finish(sk, w, 0);
	return 0;
}

SEC("tp_btf/inet_sock_set_state") int closing(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct watched *w = observed(sk);
	if (!w)
		return 0;
	/* Its counts are still those of the connection: a reset of its own side clears them next. */
	if ((int)ctx[2] == CLOSE)
		finish(sk, w, CLOSED);
	else if ((int)ctx[1] == ESTABLISHED)
		on_closing(sk, w);
	return 0;
}

/* The headers of IPv4 and IPv6 up to the addresses, without options and extensions. */
#define HEADER_V4 20
#define HEADER_V6 40
#define PROTOCOL_TCP 6

/* Called with every packet that comes in. */
SEC("tp_btf/netif_receive_skb") int acknowledged_while_closing(u64 *ctx)
{
	if (!closing_now)
		return 0;
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	u8 ip[HEADER_V6] = {};
	struct ends ends = {};
	u32 header = HEADER_V4, len;
	if (bpf_probe_read_kernel(ip, sizeof(ip), skb->data))
		return 0;
	if (ip[0] == 0x45 && ip[9] == PROTOCOL_TCP) {
		len = (ip[2] << 8 | ip[3]) - HEADER_V4;
		__builtin_memcpy(&ends.remote, ip + 12, 4);
		__builtin_memcpy(&ends.local, ip + 16, 4);
	} else if (ip[0] >> 4 == 6 && ip[6] == PROTOCOL_TCP) {
		header = HEADER_V6;
		len = ip[4] << 8 | ip[5];
		__builtin_memcpy(&ends.remote, ip + 20, 4);
		__builtin_memcpy(&ends.local, ip + 36, 4);
	} else {
		return 0;
	}
	ends.namespace = skb->dev->nd_net.net->ns.inum;
	u16 ports[2] = {};
	bpf_probe_read_kernel(ports, sizeof(ports), skb->data + header);
	ends.remote_port = ports[0];
	ends.port = ports[1];
	struct closing *found = bpf_map_lookup_elem(&closings, &ends);
	if (!found)
		return 0;
	struct fact *fact = bpf_ringbuf_reserve(&facts, sizeof(*fact), 0);
	if (!fact) {
		count_dropped(0, 1);
		found->missed = 1;
		return 0;
	}
	__builtin_memset(fact, 0, sizeof(*fact));
	/* Without a number: nothing else is told of under the socket's lock here. */
	fill(&fact->head, &fact->window, found->socket, 0, ACK);
	fact->len = len;
	if (header == HEADER_V4)
		__builtin_memcpy(&fact->identification, ip + 4, 2);
	bpf_probe_read_kernel(fact->header, sizeof(fact->header), skb->data + header);
	bpf_ringbuf_submit(fact, 0);
	return 0;
}
