# One transfer over a bottleneck on ns-2, for comparison with the same scenario on eifel.
#
# usage: ns transfer.tcl agent rate_bps delay_ms queue_packets window_segments segments spikes
#   agent    Sack1, Fack, Newreno or Reno
#   spikes   start-end pairs in seconds, joined by commas, or none: both directions stand still
# prints, for every data segment that leaves the sender: SEND time segment
#         for every expiry of the retransmission timer:  TIMEOUT time
#         and at the end: DONE time segments_sent
lassign $argv agent rate delay_ms queue window segments spikes

remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns duplex-link $from $to $rate ${delay_ms}ms DropTail
$ns queue-limit $from $to $queue
$ns queue-limit $to $from 100000
set there [new Delayer]
set back [new Delayer]
$ns insert-delayer $from $to $there
$ns insert-delayer $to $from $back

Agent/TCP set packetSize_ 1000
Agent/TCP set window_ $window
Agent/TCP set windowInit_ 2
Agent/TCP set timestamps_ true
Agent/TCP set minrto_ 1.0
Agent/TCP set tcpTick_ 0.01
Agent/TCPSink/DelAck set interval_ 0.1
Agent/TCPSink/Sack1/DelAck set interval_ 0.1

set tcp [new Agent/TCP/$agent]
set sink [new Agent/TCPSink[expr {$agent in {Sack1 Fack} ? "/Sack1" : ""}]/DelAck]
$ns attach-agent $from $tcp
$ns attach-agent $to $sink
$ns connect $tcp $sink

# A queue's trace file tells of every packet that is handed to the link.
set pipe [open "|awk {\$1 == \"+\" && \$5 == \"tcp\" {print \"SEND\", \$2, \$11}}" w]
$ns trace-queue $from $to $pipe

set ftp [new Application/FTP]
$ftp attach-agent $tcp
$tcp proc done {} {
    global ns tcp pipe
    close $pipe
    puts "DONE [$ns now] [$tcp set ndatapack_]"
    exit 0
}
foreach spike [expr {$spikes eq "none" ? "" : [split $spikes ,]}] {
    lassign [split $spike -] start end
    $ns at $start "$there block; $back block"
    $ns at $end "$there unblock; $back unblock"
}
$ns at 0.0 "$ftp produce $segments"
$ns at 3000.0 "puts STUCK; exit 1"
$ns run
