# One association of plain SCTP on ns-2, over one path or two, with listed delay spikes on the first.
#
# usage: ns sctp.tcl paths rate_bps window_bytes seconds alternate spikes TRACE LATE LATE_S SEED
#   alternate: alive, or dead (its links drop everything from 5 s on)
#   spikes:    start-end,start-end ... in s; they hold the transmitters of both directions
#   TRACE:     where the queues' trace is kept
#   LATE:      the share of packets that come LATE_S late to the first path's queue
# It begins at 0 s. Prints for each packet with data that enters a link: SEND time path tsn
lassign $argv paths rate window seconds alternate spikes trace late late_s seed
ns-random $seed

Trace set show_sctphdr_ 1
Agent/SCTP set initialRwnd_ $window
Agent/SCTP set initialSsthresh_ $window
Agent/SCTP set mtu_ 1500
Agent/SCTP set dataChunkSize_ 1448
Agent/SCTP set numOutStreams_ 1

set ns [new Simulator]
set hops {}
if {$paths == 1} {
    set from [$ns node]
    set to [$ns node]
    lappend hops [list $from $to]
} else {
    foreach side {from to} {
        set $side [$ns node]
        for {set path 0} {$path < $paths} {incr path} {
            set interface($side,$path) [$ns node]
            $ns multihome-add-interface [set $side] $interface($side,$path)
        }
    }
    for {set path 0} {$path < $paths} {incr path} {
        lappend hops [list $interface(from,$path) $interface(to,$path)]
    }
}

set file [open $trace w]
foreach hop $hops {
    lassign $hop a b
    $ns duplex-link $a $b $rate 100ms DropTail
    $ns queue-limit $a $b 100
    $ns queue-limit $b $a 100
}
# A spike holds both directions of the first path, between queue and transmitter.
lassign [lindex $hops 0] a b
set boxes [list [new Delayer] [new Delayer]]
$ns insert-delayer $a $b [lindex $boxes 0]
$ns insert-delayer $b $a [lindex $boxes 1]
# A late packet takes a detour around the others, and joins the queue behind those that have passed.
if {$late ne "0"} {
    set chosen [new ErrorModel]
    $chosen set rate_ $late
    $chosen unit pkt
    $chosen ranvar [new RandomVariable/Uniform]
    $ns lossmodel $chosen $a $b
    set detour [new DelayLink]
    $detour set bandwidth_ 1e12
    $detour set delay_ $late_s
    $detour target [$chosen target]
    # A link's delay needs a queue that calls it.
    set entry [new Queue/DropTail]
    $entry set limit_ 1000
    $entry target $detour
    $chosen drop-target $entry
}
foreach hop $hops {
    lassign $hop a b
    $ns trace-queue $a $b $file
}
foreach spike [split $spikes ,] {
    lassign [split $spike -] start end
    foreach box $boxes {
        $ns at $start "$box block"
        $ns at $end "$box unblock"
    }
}
if {$alternate eq "dead"} {
    lassign [lindex $hops 1] a b
    foreach {x y} [list $a $b $b $a] {
        # Behind the queue, so that its trace shows what is lost.
        set loss [new ErrorModel]
        $loss set rate_ 0.0
        $loss unit pkt
        $loss ranvar [new RandomVariable/Uniform]
        $loss drop-target [new Agent/Null]
        $ns link-lossmodel $loss $x $y
        $ns at 5.0 "$loss set rate_ 1.0"
    }
}

set sender [new Agent/SCTP]
set receiver [new Agent/SCTP]
if {$paths == 1} {
    $ns attach-agent $from $sender
    $ns attach-agent $to $receiver
} else {
    $ns multihome-attach-agent $from $sender
    $ns multihome-attach-agent $to $receiver
}
$ns connect $sender $receiver
if {$paths > 1} {
    $sender set-primary-destination $interface(to,0)
}
set ftp [new Application/FTP]
$ftp attach-agent $sender

foreach hop $hops {
    lassign $hop a b
    lappend ends "[$a id] [$b id]"
}
$ns at 0.0 "$ftp start"
$ns at $seconds {
    close $file
    set file [open $trace]
    while {[gets $file line] >= 0} {
        lassign $line event time a b kind size flags flow source target number tsn
        if {$event eq "+" && $kind eq "sctp" && $size > 1000} {
            puts "SEND $time [lsearch $ends "$a $b"] [lindex $line 11]"
        }
    }
    exit 0
}
$ns run
