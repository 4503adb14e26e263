/* The fields of the kernel's structures that the programs read, and its helpers.
 *
 * Offsets are those of the running kernel: the loader looks them up by name in its BTF. So these
 * structures are not complete, and their fields are in no particular order.
 */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define KERNELS __attribute__((preserve_access_index))

/* What the loader can say about a field of the running kernel. */
#define FIELD_OFFSET(field) __builtin_preserve_field_info(field, 0)
#define FIELD_SIZE(field) __builtin_preserve_field_info(field, 1)
#define FIELD_EXISTS(field) __builtin_preserve_field_info(field, 2)
#define FIELD_LEFT(field) __builtin_preserve_field_info(field, 4)
#define FIELD_RIGHT(field) __builtin_preserve_field_info(field, 5)

struct in6_addr {
	u8 bytes[16];
};

struct rb_node {
	struct rb_node *rb_right;
	struct rb_node *rb_left;
} KERNELS;

struct rb_root {
	struct rb_node *rb_node;
} KERNELS;

struct ns_common {
	u32 inum;
} KERNELS;

struct net {
	struct ns_common ns;
} KERNELS;

typedef struct {
	struct net *net;
} possible_net_t;

struct kernfs_node {
	u64 id;
} KERNELS;

struct cgroup {
	struct kernfs_node *kn;
} KERNELS;

struct sock_cgroup_data {
	struct cgroup *cgroup;
} KERNELS;

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
} KERNELS;

struct timer_list {
	unsigned long expires;
} KERNELS;

struct sock {
	struct sock_common __sk_common;
	struct rb_root tcp_rtx_queue;
	struct sock_cgroup_data sk_cgrp_data;
	/* Since Linux 6.19; before, `icsk_retransmit_timer`. */
	struct timer_list tcp_retransmit_timer;
} KERNELS;

struct inet_sock {
	struct sock sk;
} KERNELS;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u64 icsk_ca_priv[13];
	struct timer_list icsk_retransmit_timer;
	u8 icsk_ca_state : 5;
	u8 icsk_retransmits;
	u8 icsk_backoff;
	u8 icsk_pending;
} KERNELS;

struct tcp_options_received {
	u32 ts_recent;
	u32 rcv_tsecr;
	u16 tstamp_ok : 1;
	u16 wscale_ok : 1;
	u16 sack_ok : 3;
	u16 snd_wscale : 4;
	u16 rcv_wscale : 4;
} KERNELS;

struct minmax_sample {
	u32 t;
	u32 v;
} KERNELS;

struct minmax {
	struct minmax_sample s[3];
} KERNELS;

struct tcp_sack_block {
	u32 start_seq;
	u32 end_seq;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 tsoffset;
	u32 mss_cache;
	u32 snd_cwnd;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	/* Since Linux 6.7. */
	u8 tcp_usec_ts : 1;
	u32 retrans_out;
	u32 snd_ssthresh;
	struct minmax rtt_min;
	u32 rcv_nxt;
	u32 snd_nxt;
	u32 snd_una;
	u32 srtt_us;
	u32 rttvar_us;
	struct tcp_options_received rx_opt;
	u64 first_tx_mstamp;
	u32 dsack_dups;
	struct tcp_sack_block recv_sack_cache[4];
	u32 undo_marker;
	s32 undo_retrans;
	u32 total_retrans;
	u32 reord_seen;
} KERNELS;

struct net_device {
	possible_net_t nd_net;
} KERNELS;

struct sk_buff {
	struct net_device *dev;
	u64 skb_mstamp_ns;
	char cb[48];
	u32 len;
	u16 network_header;
	u16 transport_header;
	unsigned char *head;
	unsigned char *data;
} KERNELS;

struct tcp_skb_cb {
	u32 seq;
	u32 end_seq;
	u8 sacked;
	u16 tcp_gso_segs;
} KERNELS;

/* Maps are described to the loader by the types of their members. */
#define NUMBER(name, value) int(*name)[value]
#define MAP_HASH 1
#define MAP_ARRAY 2
#define MAP_SK_STORAGE 24
#define MAP_RINGBUF 27
#define NO_PREALLOC 1
#define STORAGE_CREATE 1

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static void *(*bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static long (*bpf_probe_read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static u64 (*bpf_jiffies64)(void) = (void *)118;
static void *(*bpf_ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*bpf_ringbuf_submit)(void *data, u64 flags) = (void *)132;
static struct tcp_sock *(*bpf_skc_to_tcp_sock)(void *sk) = (void *)137;

/* Reads a field behind a pointer that the verifier does not know. */
#define READ(to, from, field) \
	bpf_probe_read_kernel(&(to), sizeof(to), __builtin_preserve_access_index(&(from)->field))

/* Reads a field of some bits behind a pointer of any kind. The offset of `field` is that from what `from`
 * points to, which has to be the outermost structure. */
#define BITS(from, field)                                                                      \
	({                                                                                     \
		u64 bits = 0;                                                                  \
		bpf_probe_read_kernel(&bits, FIELD_SIZE((from)->field),                        \
				      (const u8 *)(from) + FIELD_OFFSET((from)->field));       \
		bits << FIELD_LEFT((from)->field) >> FIELD_RIGHT((from)->field);               \
	})
