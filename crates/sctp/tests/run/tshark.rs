//! Packets of the association, read by Wireshark's dissectors with all checksums verified.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use eifel_base::time::Duration;
use eifel_packet::ip::{self, Addresses};
use eifel_packet::{pcapng, sctp};
use eifel_sctp::{Delivery, Phase, TimestampChunk};

use crate::talk::{Dice, World, address, ms};

/// Writes all packets that both ends sent.
fn write(world: &World, path: &Path) -> std::io::Result<()> {
    let mut writer = pcapng::Writer::new(std::fs::File::create(path)?, "eifel test")?;
    let interface = writer.interface("both ends")?;
    for (at, from, path, packet) in &world.log {
        let addresses = Addresses::new(address(*from, *path), address(1 - from, *path)).expect("one version");
        let mut bytes = Vec::new();
        ip::emit(&ip::Header::new(addresses), sctp::PROTOCOL, packet.len(), &mut bytes).expect("fits");
        bytes.extend_from_slice(packet);
        let wire_len = bytes.len() as u32;
        writer.packet(interface, at.as_nanos(), pcapng::Packet { bytes: &bytes, wire_len, comment: None })?;
    }
    writer.finish()?.sync_all()
}

/// Returns rows of fields. Returns `None`, with a message on stderr, if tshark is not installed.
fn tshark(path: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-n", "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,"]);
    command.args(["-o", "sctp.checksum:CRC-32C", "-o", "ip.check_checksum:TRUE"]);
    fields.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let line =
                "\n*** SKIPPED: associations were not read by Wireshark's dissectors: tshark is not installed ***\n";
            let _ = std::io::stderr().write_all(line.as_bytes());
            return None;
        }
        Err(error) => panic!("tshark does not run: {error}"),
    };
    assert!(output.status.success(), "tshark: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("tshark writes UTF-8");
    Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

#[test]
fn wireshark_reads_a_whole_life_without_complaint() {
    let change = |_: usize, settings: &mut eifel_sctp::Settings| {
        settings.timestamp_chunk = TimestampChunk::Agreed;
        settings.retransmit_bit = true;
        settings.association_max_retransmits = 50;
    };
    let mut dice = Dice(5);
    let fate = Box::new(move |_: &crate::talk::Sent<'_>| {
        if dice.once_in(15) { vec![] } else { vec![ms(10 + dice.below(20)); 1 + usize::from(dice.once_in(20))] }
    });
    let mut world = World::new(2, change, fate);
    world.open();
    world.transfer(0, 200, 1000);
    world.transfer(1, 20, 9000);
    world.end(1).unwrap().send(Delivery { unordered: true, ..Delivery::default() }, *b"last").unwrap();
    world.caller.shutdown();
    world.run_until(Duration::from_secs(600), |world| world.caller.phase() == Phase::Closed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("association.pcapng");
    write(&world, &path).unwrap();
    let fields = ["frame.number", "sctp.checksum.status", "_ws.malformed", "_ws.expert.severity", "_ws.expert.message"];
    let Some(rows) = tshark(&path, &fields) else { return };
    assert_eq!(rows.len(), world.log.len());
    const NOTE: u32 = 0x0040_0000;
    for row in rows {
        assert_eq!((row[1].as_str(), row[2].as_str()), ("1", ""), "frame {}", row[0]);
        let messages: Vec<&str> = row[4].split(',').collect();
        for (severity, message) in row[3].split(',').filter(|severity| !severity.is_empty()).zip(messages) {
            let severity: u32 = severity.parse().expect("a number");
            // On this path, spurious retransmissions and reports of duplicates are expected.
            let expected = ["Retransmitted", "retransmission", "Duplicate", "acked prior"];
            assert!(
                severity <= NOTE || expected.iter().any(|part| message.contains(part)),
                "frame {}: {message}",
                row[0]
            );
        }
    }
}
