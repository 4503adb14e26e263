# One SCTP association with endless data on ns-2, untraced, for the comparison of speed.
#
# usage: ns sctp_speed.tcl seconds seed
# 1 Mbit/s, 100 ms and 100 packets of queue each way. Both directions stand still for 3 to 10 s, with 10 to 20 s between.
lassign $argv seconds seed

set ns [new Simulator]
set here [$ns node]
set there [$ns node]
$ns duplex-link $here $there 1Mb 100ms DropTail
$ns queue-limit $here $there 100
$ns queue-limit $there $here 100
set holds {}
foreach {from to} [list $here $there $there $here] {
    set hold [new Delayer]
    $ns insert-delayer $from $to $hold
    lappend holds $hold
}

Agent/SCTP set initialRwnd_ 65536
Agent/SCTP set initialSsthresh_ 65536
Agent/SCTP set dataChunkSize_ 1468
Agent/SCTP set numOutStreams_ 1
set sender [new Agent/SCTP]
set receiver [new Agent/SCTP]
$ns attach-agent $here $sender
$ns attach-agent $there $receiver
$ns connect $sender $receiver
set source [new Application/FTP]
$source attach-agent $sender

set random [new RNG]
$random seed $seed
proc between {low high} {
    global random
    return [$random uniform $low $high]
}
proc spike {} {
    global ns holds
    set until [expr {[$ns now] + [between 3 10]}]
    foreach hold $holds {
        $hold block
        $ns at $until "$hold unblock"
    }
    $ns at [expr {$until + [between 10 20]}] spike
}

$ns at 0 "$source start"
$ns at [between 10 20] spike
$ns at $seconds {exit 0}
$ns run
