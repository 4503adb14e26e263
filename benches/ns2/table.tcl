# One transfer of tables 1 to 3 on ns-2: over a bottleneck with listed spikes, beside a CBR flow or alone.
#
# ns-2 has no Eifel. In its place every timeout of a spike is undone just before the first ACK comes back: the window is
# restored, and sending goes on with the next unsent segment. What follows is ns-2's own recovery.
#
# usage: ns table.tcl agent payload_bytes window_segments segments sender_delay_ms receiver_delay_ms cbr_bytes restore seed
#   hold queue_packets spikes
#   agent        Sack1 or Fack
#   cbr_bytes    size of the CBR flow's packets, which come at 1 Mbit/s with drawn intervals; 0: there is no such flow
#   restore      none, or option-1, option-2 or option-3
#   hold         behind: both directions of the bottleneck stand still; before: the access links do, before its queues
#   queue_packets
#   spikes       start-end pairs in seconds, joined by commas
# prints: DONE time segments_sent
lassign $argv agent payload window segments sender_delay receiver_delay cbr restore seed hold queue spikes

remove-all-packet-headers
# ns-2 writes an RTP header into datagrams whether there is one or not.
add-packet-header IP TCP Flags RTP
ns-random $seed
set ns [new Simulator]
foreach node {from source entry exit to} { set $node [$ns node] }
$ns duplex-link $from $entry 1000Mb ${sender_delay}ms DropTail
$ns duplex-link $source $entry 1000Mb 0ms DropTail
$ns duplex-link $entry $exit 2Mb 150ms DropTail
$ns duplex-link $exit $to 1000Mb ${receiver_delay}ms DropTail
foreach {a b} [list $from $entry $entry $from $source $entry $exit $to $to $exit $exit $entry] {
    $ns queue-limit $a $b 100000
}
$ns queue-limit $entry $exit $queue
set there [new Delayer]
set back [new Delayer]
if {$hold eq "behind"} {
    $ns insert-delayer $entry $exit $there
    $ns insert-delayer $exit $entry $back
    # A delayer holds one packet itself, spike or not.
    $ns queue-limit $entry $exit [expr {$queue - 1}]
} else {
    $ns insert-delayer $from $entry $there
    $ns insert-delayer $to $exit $back
}

Agent/TCP set packetSize_ $payload
Agent/TCP set window_ $window
Agent/TCP set windowInit_ 2
Agent/TCP set timestamps_ true
Agent/TCP set minrto_ 1.0
Agent/TCP set tcpTick_ 0.01
Agent/TCPSink/Sack1/DelAck set interval_ 0.1

if {$restore ne "none"} {
    # Fast retransmits below the recovery point, as the paper has them.
    Agent/TCP set bugFix_ false
}
set tcp [new Agent/TCP/$agent]
set sink [new Agent/TCPSink/Sack1/DelAck]
$ns attach-agent $from $tcp
$ns attach-agent $to $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$tcp proc done {} {
    global ns tcp
    # The SYN is counted too.
    puts "DONE [$ns now] [expr {[$tcp set ndatapack_] - 1}]"
    exit 0
}
if {$cbr > 0} {
    set datagrams [new Agent/UDP]
    set nowhere [new Agent/Null]
    $ns attach-agent $source $datagrams
    $ns attach-agent $exit $nowhere
    $ns connect $datagrams $nowhere
    $datagrams set packetSize_ $cbr
    set constant [new Application/Traffic/CBR]
    $constant set packetSize_ $cbr
    $constant set rate_ 1Mb
    $constant set random_ 1
    $constant attach-agent $datagrams
    $ns at 0.0 "$constant start"
}
set saved ""
proc save {} {
    global tcp saved
    set saved [list [$tcp set cwnd_] [$tcp set ssthresh_]]
}
proc undo {} {
    global tcp saved restore window
    lassign $saved cwnd ssthresh
    # No timeout has changed it.
    if {[$tcp set cwnd_] == $cwnd} return
    set half [expr {int(min($cwnd, $window) / 2)}]
    switch $restore {
        option-1 { $tcp set cwnd_ $cwnd; $tcp set ssthresh_ $ssthresh }
        option-2 { $tcp set cwnd_ $half; $tcp set ssthresh_ $half }
        option-3 { $tcp set cwnd_ 1; $tcp set ssthresh_ $half }
    }
    $tcp set t_seqno_ [expr {[$tcp set maxseq_] + 1}]
}
# ACKs that are on their way when a spike begins have come after 0.6 s, and no timer has expired.
set quiet 0.6
set held_back [expr {$hold eq "behind" ? 0 : $receiver_delay}]
set first_ack [expr {(150 + $sender_delay + $held_back) / 1000.0 - 0.0005}]
foreach spike [split $spikes ,] {
    lassign [split $spike -] start end
    if {$restore ne "none"} {
        $ns at [expr {$start + $quiet}] save
        $ns at [expr {$end + $first_ack}] undo
    }
    $ns at $start "$there block; $back block"
    $ns at $end "$there unblock; $back unblock"
}
$ns at 0.0 "$ftp produce $segments"
$ns at 5000.0 "puts STUCK; exit 1"
$ns run
