# One transfer over a bottleneck on ns-2, for comparison with the same scenario on eifel.
#
# usage: ns transfer.tcl key value ...
#   agent           Sack1, Fack, Newreno or Reno
#   rate_bps, delay_ms, queue_packets, window_segments, segments
#   spikes          start-end pairs in seconds, joined by commas: both directions stand still
#   drops           numbers of data segments, joined by commas: the first copy of each is lost before the queue
#   ack_every       1 or 2 segments
#   f_rto           1: F-RTO, with SACK where the agent has it
#   response        what follows a spurious timeout: 1, 2 or 3 of ns-2's spurious_response_
# prints, for every data segment that leaves the sender: SEND time segment
#         and at the end: DONE time segments_sent
array set asked {spikes "" drops "" ack_every 2 f_rto 0 response 1}
array set asked $argv

remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
set from [$ns node]
set entry [$ns node]
set to [$ns node]
# The first link takes no time: its trace shows what leaves the sender, lost or not.
$ns duplex-link $from $entry 1000000Gb 0ms DropTail
$ns duplex-link $entry $to $asked(rate_bps) $asked(delay_ms)ms DropTail
foreach {a b} [list $from $entry $entry $from $to $entry] { $ns queue-limit $a $b 100000 }
$ns queue-limit $entry $to $asked(queue_packets)
if {$asked(spikes) ne ""} {
    set there [new Delayer]
    set back [new Delayer]
    $ns insert-delayer $entry $to $there
    $ns insert-delayer $to $entry $back
    # A delayer holds one packet itself, spike or not.
    $ns queue-limit $entry $to [expr {$asked(queue_packets) - 1}]
}

Agent/TCP set packetSize_ 1000
Agent/TCP set window_ $asked(window_segments)
Agent/TCP set windowInit_ 2
Agent/TCP set timestamps_ true
Agent/TCP set minrto_ 1.0
Agent/TCP set tcpTick_ 0.01
Agent/TCP set frto_enabled_ $asked(f_rto)
Agent/TCP set sfrto_enabled_ $asked(f_rto)
Agent/TCP set spurious_response_ $asked(response)
Agent/TCPSink/DelAck set interval_ 0.1
Agent/TCPSink/Sack1/DelAck set interval_ 0.1

set agent $asked(agent)
set sack [expr {$agent in {Sack1 Fack} ? "/Sack1" : ""}]
set delay [expr {$asked(ack_every) == 2 ? "/DelAck" : ""}]
set tcp [new Agent/TCP/$agent]
set sink [new Agent/TCPSink$sack$delay]
$ns attach-agent $from $tcp
$ns attach-agent $to $sink
$ns connect $tcp $sink

if {$asked(drops) ne ""} {
    # The SYN is the packet 0, and each copy of a segment is a packet: so the numbers must be below the first
    # retransmission of any other kind.
    set losses [new ErrorModel/List]
    $losses droplist [split $asked(drops) ,]
    $losses drop-target [new Agent/Null]
    $ns lossmodel $losses $entry $to
}

# A queue's trace file tells of every packet that is handed to the link.
set pipe [open "|awk {\$1 == \"+\" && \$5 == \"tcp\" {print \"SEND\", \$2, \$11}}" w]
$ns trace-queue $from $entry $pipe

set ftp [new Application/FTP]
$ftp attach-agent $tcp
$tcp proc done {} {
    global ns tcp pipe
    close $pipe
    puts "DONE [$ns now] [$tcp set ndatapack_]"
    exit 0
}
foreach spike [split $asked(spikes) ,] {
    lassign [split $spike -] start end
    $ns at $start "$there block; $back block"
    $ns at $end "$there unblock; $back unblock"
}
$ns at 0.0 "$ftp produce $asked(segments)"
$ns at 3000.0 "puts STUCK; exit 1"
$ns run
