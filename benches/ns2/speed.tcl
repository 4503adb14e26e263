# Bulk transfers over one bottleneck on ns-2, untraced, for the comparison of speed.
#
# usage: ns speed.tcl flows rate_mbps delay_ms queue_packets seconds
# One flow crosses the bottleneck alone; several have access links of 1 Gbit/s and 0.1 ms at both ends.
# prints: segments sent and segments acknowledged, of all flows
lassign $argv flows rate delay queue seconds

remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]

proc link {a b rate delay queue} {
    global ns
    $ns duplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b $queue
    $ns queue-limit $b $a $queue
}

Agent/TCP set window_ 100000
Agent/TCP set packetSize_ 1000
Agent/TCP set minrto_ 1.0
Agent/TCP set timestamps_ true

set entry [$ns node]
set exit [$ns node]
link $entry $exit ${rate}Mb ${delay}ms $queue
for {set i 0} {$i < $flows} {incr i} {
    set from $entry
    set to $exit
    if {$flows > 1} {
        set from [$ns node]
        set to [$ns node]
        link $from $entry 1000Mb 0.1ms 10000
        link $exit $to 1000Mb 0.1ms 10000
    }
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $tcp set fid_ $i
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr {0.01 * $i}] "$ftp start"
    lappend senders $tcp
}
$ns at $seconds {
    set sent 0
    set acked 0
    foreach tcp $senders {
        incr sent [$tcp set ndatapack_]
        incr acked [$tcp set ack_]
    }
    puts "$sent $acked"
    exit 0
}
$ns run
