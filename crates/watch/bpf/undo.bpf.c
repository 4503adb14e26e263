/* The kernel's CUBIC with another undo: a congestion control (struct_ops) that calls CUBIC's functions,
 * and decides what is restored when the kernel takes a loss signal back.
 *
 * When that is so, and the detection, remain the kernel's. It restores ssthresh itself after
 * `undo_cwnd`, up to the one before. So where a rule wants less, ssthresh is set once more at the next
 * call, which comes before anything reads it.
 */
#include "kernel.h"

char licence[] SEC("license") = "Dual MIT/GPL";

/* Set by the loader. */
const volatile u64 only_cookie = 0; /* the network namespace */
const volatile u32 rule = 0;
const volatile u32 restores_epoch = 0;
const volatile u32 family = 0; /* of `prefix`; 0 stands for every destination */
const volatile u32 prefix[4] = {};
const volatile u32 mask[4] = {};
const volatile char name[16] = {};

enum rule { FULL = 0, RFC4015, AS_CARRIED, NONE };

/* Segments that `as-carried` sends at once: what a delayed ACK causes (RFC 5681, section 4.2). */
#define BURST 2
/* RFC 6928, as Linux has it. */
#define INITIAL_WINDOW 10
#define CA_RECOVERY 3
#define CA_LOSS 4
#define INET 2
#define INET6 10
#define SOL_TCP 6
#define TCP_CONGESTION 13
#define ACTIVE_ESTABLISHED 4
#define PASSIVE_ESTABLISHED 5

/* What an ACK brought. */
struct ack_sample {
	u32 pkts_acked;
} KERNELS;

/* A copy of CUBIC's state. Not the type below: the loader moves the members of that one to where the kernel has
 * them. */
struct curve {
	u32 cnt;
	u32 last_max_cwnd;
	u32 last_cwnd;
	u32 last_time;
	u32 bic_origin_point;
	u32 bic_K;
	u32 delay_min;
	u32 epoch_start;
	u32 ack_cnt;
	u32 tcp_cwnd;
};

/* CUBIC's state, in the socket. */
struct bictcp {
	u32 cnt;
	u32 last_max_cwnd;
	u32 last_cwnd;
	u32 last_time;
	u32 bic_origin_point;
	u32 bic_K;
	u32 delay_min;
	u32 epoch_start;
	u32 ack_cnt;
	u32 tcp_cwnd;
} KERNELS;

/* The wanted ssthresh is that which the kernel sets. */
#define KERNELS_OWN (~0U)

/* A connection since its first loss signal. Windows are in segments. */
struct episode {
	struct curve before;
	/* At the last loss signal. */
	u32 flight;
	u32 cwnd;
	u32 ssthresh;
	/* What ssthresh was cut to. */
	u32 reduced;
	/* When that was, in jiffies: the curve stood still since then. */
	u32 since;
	/* Segments that the current ACK acknowledges. */
	u32 acked;
	/* Whether the current ACK has undone something. */
	u32 undone;
	/* The ssthresh that the rule wants, from an undo until it is settled; then 0. */
	u32 wanted;
	u32 cwnd_then;
	u32 ssthresh_then;
	u32 flight_then;
	/* Whether the timer has expired, rather than only fast retransmit begun. */
	u32 timeout;
};

/* An undo. Windows are in segments. */
struct undo {
	u64 nanos;
	u32 cwnd_before;
	u32 cwnd;
	u32 ssthresh_before;
	u32 ssthresh;
	u32 flight;
	u32 acked;
	u32 srtt_us;
	/* Those that begin with `lost` are at the loss signal, which cut ssthresh to `reduced`. */
	u32 lost_cwnd;
	u32 lost_ssthresh;
	u32 lost_flight;
	u32 reduced;
	u32 w_max;
	u32 lost_w_max;
	u32 epoch;
	u32 lost_epoch;
	u32 timeout;
	u32 port;
	u32 remote_port;
};

struct {
	NUMBER(type, MAP_SK_STORAGE);
	NUMBER(map_flags, NO_PREALLOC);
	int *key;
	struct episode *value;
} episodes SEC(".maps");

struct {
	NUMBER(type, MAP_RINGBUF);
	NUMBER(max_entries, 1 << 20);
} undos SEC(".maps");

/* Whether the rule is off: then each undo is the kernel's own, and no connection comes under it. Found
 * by its name, so that another process can write it. And how many connections came under the rule. */
struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 2);
	u32 *key;
	u64 *value;
} eifel_undo SEC(".maps");

/* The kernel's functions: the loader puts theirs in place of these numbers, which are those of
 * `FUNCTIONS` in struct_ops.rs. */
#define KERNEL_FUNCTION(number) ((void *)(0x7f000000UL + (number)))
static void (*cubictcp_init)(struct tcp_sock *) = KERNEL_FUNCTION(0);
static u32 (*cubictcp_recalc_ssthresh)(struct tcp_sock *) = KERNEL_FUNCTION(1);
static void (*cubictcp_cong_avoid)(struct tcp_sock *, u32, u32) = KERNEL_FUNCTION(2);
static void (*cubictcp_state)(struct tcp_sock *, u8) = KERNEL_FUNCTION(3);
static void (*cubictcp_cwnd_event)(struct tcp_sock *, u32) = KERNEL_FUNCTION(4);
static void (*cubictcp_acked)(struct tcp_sock *, const struct ack_sample *) = KERNEL_FUNCTION(5);
static u32 (*tcp_reno_undo_cwnd)(struct tcp_sock *) = KERNEL_FUNCTION(6);

#define STRUCT_OPS SEC("socket")
#define SOCKET(ctx) ((struct tcp_sock *)(ctx)[0])

INLINE u32 less(u32 one, u32 other)
{
	return one < other ? one : other;
}

INLINE u32 more(u32 one, u32 other)
{
	return one > other ? one : other;
}

INLINE struct bictcp *cubic(struct tcp_sock *tp)
{
	return (struct bictcp *)tp->inet_conn.icsk_ca_priv;
}

INLINE struct episode *episode_of(struct tcp_sock *tp)
{
	return bpf_sk_storage_get(&episodes, tp, 0, 0);
}

INLINE u64 *word(u32 number)
{
	return bpf_map_lookup_elem(&eifel_undo, &number);
}

INLINE int is_off(void)
{
	u64 *off = word(0);
	return off && *off;
}

/* The flight as the window counts it. */
INLINE u32 in_flight(struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* Completes an undo, once the kernel has done its part of it, and tells of it. */
INLINE void settle(struct tcp_sock *tp, struct episode *e)
{
	if (!e->wanted)
		return;
	if (e->wanted != KERNELS_OWN)
		tp->snd_ssthresh = e->wanted;
	e->wanted = 0;
	struct undo *undo = bpf_ringbuf_reserve(&undos, sizeof(*undo), 0);
	if (!undo)
		return;
	undo->nanos = bpf_ktime_get_ns();
	undo->cwnd_before = e->cwnd_then;
	undo->cwnd = tp->snd_cwnd;
	undo->ssthresh_before = e->ssthresh_then;
	undo->ssthresh = tp->snd_ssthresh;
	undo->flight = e->flight_then;
	undo->acked = e->acked;
	undo->srtt_us = tp->srtt_us >> 3;
	undo->lost_cwnd = e->cwnd;
	undo->lost_ssthresh = e->ssthresh;
	undo->lost_flight = e->flight;
	undo->reduced = e->reduced;
	undo->w_max = cubic(tp)->last_max_cwnd;
	undo->lost_w_max = e->before.last_max_cwnd;
	undo->epoch = cubic(tp)->epoch_start;
	undo->lost_epoch = e->before.epoch_start;
	undo->timeout = e->timeout;
	undo->port = tp->inet_conn.icsk_inet.sk.__sk_common.skc_num;
	undo->remote_port = __builtin_bswap16(tp->inet_conn.icsk_inet.sk.__sk_common.skc_dport);
	bpf_ringbuf_submit(undo, 0);
}

STRUCT_OPS void init(u64 *ctx)
{
	cubictcp_init(SOCKET(ctx));
}

STRUCT_OPS u32 ssthresh(u64 *ctx)
{
	struct tcp_sock *tp = SOCKET(ctx);
	struct bictcp *now = cubic(tp);
	struct episode *e = bpf_sk_storage_get(&episodes, tp, 0, STORAGE_CREATE);
	if (!e)
		return cubictcp_recalc_ssthresh(tp);
	settle(tp, e);
	e->flight = tp->packets_out;
	e->cwnd = tp->snd_cwnd;
	e->ssthresh = tp->snd_ssthresh;
	e->since = bpf_jiffies64();
	e->before.cnt = now->cnt;
	e->before.last_max_cwnd = now->last_max_cwnd;
	e->before.last_cwnd = now->last_cwnd;
	e->before.last_time = now->last_time;
	e->before.bic_origin_point = now->bic_origin_point;
	e->before.bic_K = now->bic_K;
	e->before.delay_min = now->delay_min;
	e->before.epoch_start = now->epoch_start;
	e->before.ack_cnt = now->ack_cnt;
	e->before.tcp_cwnd = now->tcp_cwnd;
	e->reduced = cubictcp_recalc_ssthresh(tp);
	return e->reduced;
}

/* RFC 9438, section 4.9. The time since the loss signal does not count: the curve goes on where it
 * was left. */
INLINE void restore_curve(struct tcp_sock *tp, struct episode *e)
{
	struct bictcp *now = cubic(tp);
	u32 stood = (u32)bpf_jiffies64() - e->since;
	now->cnt = e->before.cnt;
	now->last_max_cwnd = e->before.last_max_cwnd;
	now->last_cwnd = e->before.last_cwnd;
	now->last_time = e->before.last_time;
	now->bic_origin_point = e->before.bic_origin_point;
	now->bic_K = e->before.bic_K;
	now->delay_min = e->before.delay_min;
	now->epoch_start = e->before.epoch_start ? e->before.epoch_start + stood : 0;
	now->ack_cnt = e->before.ack_cnt;
	now->tcp_cwnd = e->before.tcp_cwnd;
}

STRUCT_OPS u32 undo_cwnd(u64 *ctx)
{
	struct tcp_sock *tp = SOCKET(ctx);
	struct episode *e = episode_of(tp);
	u32 cwnd = tp->snd_cwnd, flight = in_flight(tp);
	if (!e || is_off())
		return tcp_reno_undo_cwnd(tp);
	e->cwnd_then = cwnd;
	e->ssthresh_then = tp->snd_ssthresh;
	e->flight_then = flight;
	e->wanted = KERNELS_OWN;
	/* Section 4.9.2: only where cwnd is below that at the loss signal. */
	if (restores_epoch && cwnd < e->cwnd)
		restore_curve(tp, e);
	switch (rule) {
	case RFC4015: {
		/* Section 3.1, step 9; after a fast retransmit no more than before it. */
		u32 restored = flight + less(e->acked, INITIAL_WINDOW);
		e->wanted = more(e->flight, e->ssthresh);
		e->undone = 1;
		return more(e->timeout ? restored : less(restored, e->cwnd), 1);
	}
	case AS_CARRIED:
		e->wanted = more(less(e->flight, e->cwnd), e->reduced);
		e->undone = 1;
		return more(less(flight + less(e->acked, BURST), e->cwnd), 1);
	case NONE:
		e->wanted = e->ssthresh_then;
		return cwnd;
	default:
		return tcp_reno_undo_cwnd(tp);
	}
}

STRUCT_OPS void cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = SOCKET(ctx);
	struct episode *e = episode_of(tp);
	if (e) {
		settle(tp, e);
		/* RFC 4015, section 3.4: an ACK that sets the window does not change it any further. */
		if (e->undone)
			return;
	}
	cubictcp_cong_avoid(tp, ctx[1], ctx[2]);
}

STRUCT_OPS void set_state(u64 *ctx)
{
	struct tcp_sock *tp = SOCKET(ctx);
	struct episode *e = episode_of(tp);
	u8 state = ctx[1];
	if (e) {
		settle(tp, e);
		if (state == CA_RECOVERY || state == CA_LOSS)
			e->timeout = state == CA_LOSS;
	}
	cubictcp_state(tp, state);
}

STRUCT_OPS void cwnd_event(u64 *ctx)
{
	cubictcp_cwnd_event(SOCKET(ctx), ctx[1]);
}

/* The first call of an ACK. */
STRUCT_OPS void pkts_acked(u64 *ctx)
{
	struct tcp_sock *tp = SOCKET(ctx);
	const struct ack_sample *sample = (const struct ack_sample *)ctx[1];
	struct episode *e = episode_of(tp);
	if (e) {
		settle(tp, e);
		e->undone = 0;
		e->acked = sample->pkts_acked;
	}
	cubictcp_acked(tp, sample);
}

/* What a program for sockets of a control group sees; a part of the system's interface. */
struct bpf_sock_ops {
	u32 op;
	u32 args[4];
	u32 family;
	u32 remote_ip4;
	u32 local_ip4;
	u32 remote_ip6[4];
};

static u64 (*bpf_get_netns_cookie)(void *ctx) = (void *)122;
static long (*bpf_setsockopt)(void *ctx, int level, int option, const void *value, int length) = (void *)49;

INLINE int is_chosen(struct bpf_sock_ops *ctx)
{
	if (bpf_get_netns_cookie(ctx) != only_cookie)
		return 0;
	if (!family)
		return 1;
	u32 of = ctx->family;
	u32 remote[4] = { ctx->remote_ip6[0], ctx->remote_ip6[1], ctx->remote_ip6[2], ctx->remote_ip6[3] };
	/* IPv4 of a socket for both. */
	int mapped = of == INET6 && !remote[0] && !remote[1] && remote[2] == __builtin_bswap32(0xffff);
	if (of == INET || mapped)
		return family == INET && (ctx->remote_ip4 & mask[0]) == prefix[0];
	return of == INET6 && family == INET6 && (remote[0] & mask[0]) == prefix[0] &&
	       (remote[1] & mask[1]) == prefix[1] && (remote[2] & mask[2]) == prefix[2] &&
	       (remote[3] & mask[3]) == prefix[3];
}

/* Puts a connection under the rule before it has sent data. */
SEC("sockops") int chooses(struct bpf_sock_ops *ctx)
{
	u32 op = ctx->op;
	if ((op != ACTIVE_ESTABLISHED && op != PASSIVE_ESTABLISHED) || !is_chosen(ctx) || is_off())
		return 1;
	u64 *count = word(1);
	if (!bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, (const void *)name, sizeof(name)) && count)
		__sync_fetch_and_add(count, 1);
	return 1;
}
