# One transfer of tables 1 and 2 without Eifel on ns-2: over a bottleneck with listed spikes, beside a CBR flow or alone.
#
# usage: ns plain.tcl agent payload_bytes window_segments segments sender_delay_ms cbr_bytes seed spikes
#   agent        Sack1 or Fack
#   cbr_bytes    size of the CBR flow's packets, which come at 1 Mbit/s with drawn intervals; 0: there is no such flow
#   spikes       start-end pairs in seconds, joined by commas: both directions stand still
# prints: DONE time segments_sent
lassign $argv agent payload window segments sender_delay cbr seed spikes

remove-all-packet-headers
# ns-2 writes an RTP header into datagrams whether there is one or not.
add-packet-header IP TCP Flags RTP
ns-random $seed
set ns [new Simulator]
foreach node {from source entry exit to} { set $node [$ns node] }
$ns duplex-link $from $entry 1000Mb ${sender_delay}ms DropTail
$ns duplex-link $source $entry 1000Mb 0ms DropTail
$ns duplex-link $entry $exit 2Mb 150ms DropTail
$ns duplex-link $exit $to 1000Mb 0ms DropTail
foreach {a b} [list $from $entry $entry $from $source $entry $exit $to $to $exit $exit $entry] {
    $ns queue-limit $a $b 100000
}
$ns queue-limit $entry $exit 75
set there [new Delayer]
set back [new Delayer]
$ns insert-delayer $entry $exit $there
$ns insert-delayer $exit $entry $back

Agent/TCP set packetSize_ $payload
Agent/TCP set window_ $window
Agent/TCP set windowInit_ 2
Agent/TCP set timestamps_ true
Agent/TCP set minrto_ 1.0
Agent/TCP set tcpTick_ 0.01
Agent/TCPSink/Sack1/DelAck set interval_ 0.1

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
foreach spike [split $spikes ,] {
    lassign [split $spike -] start end
    $ns at $start "$there block; $back block"
    $ns at $end "$there unblock; $back unblock"
}
$ns at 0.0 "$ftp produce $segments"
$ns at 3000.0 "puts STUCK; exit 1"
$ns run
