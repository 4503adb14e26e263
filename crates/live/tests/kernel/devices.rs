//! The devices that commands make, as the commands in their namespaces see them.

use crate::behind_the_box::folder;
use crate::rig::{allowed, has};
use crate::{PROGRAM, live};
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns a shell script that writes the state of its namespace into a file: devices, addresses,
/// default routes, forwarding, its environment, and its input.
fn looks(file: &Path) -> String {
    let commands = [
        "ip -d -o link show",
        "ip -o addr show",
        "ip route show default",
        "ip -6 route show default",
        "cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding",
        "env | grep ^EIFEL_ADDRESS | sort",
        "env | grep ^EIFEL_PEER | sort",
        "readlink /proc/self/fd/0",
        "echo on standard output",
    ];
    let all = commands.map(|command| format!("{command} >>{}", file.display()));
    // The last command writes to standard output instead of the file.
    all.join("; ").replace(&format!("output >>{}", file.display()), "output")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

/// Nothing listens there, so that the call is refused as soon as the peer has looked around.
#[test]
fn a_device_has_the_requested_name_addresses_and_mtu() {
    if !allowed() || !has("ip") {
        return;
    }
    let folder = folder();
    let asked = "--device mine --mtu 1400 --address 10.99.1.2 --address6 fd99::6";
    let cases = [
        (asked, ["mine", "1400", "10.99.1.1", "10.99.1.2", "fd99::5", "fd99::6"], "vnet_hdr off"),
        ("--offload", ["eifel0", "1500", "10.85.0.1", "10.85.0.2", "fd85::1", "fd85::2"], "vnet_hdr on"),
    ];
    for (options, [device, mtu, v4, peer_v4, v6, peer_v6], offload) in cases {
        let file = folder.join(device);
        let target = format!("{v4}:5");
        let output = live()
            .args(["send", "--bytes", "1"])
            .args(options.split(' '))
            .args([&target, "--", "sh", "-c", &format!("{}; sleep 60", looks(&file))])
            .stdin(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.ends_with(&format!("{target}: connection refused; nothing listens at this port\n")), "{said}");
        assert_eq!(output.stdout, b"", "what the peer prints is left out");
        let found = read(&file);
        let expected = [
            format!(": {device}: <POINTOPOINT,MULTICAST,NOARP,UP,LOWER_UP> mtu {mtu} "),
            "qlen 5000".to_owned(),
            offload.to_owned(),
            format!("{device}    inet {v4} peer {peer_v4}/32 "),
            format!("{device}    inet6 {v6} peer {peer_v6}/128 scope global nodad"),
            format!(
                "EIFEL_ADDRESS6={v6}\nEIFEL_ADDRESS={v4}\nEIFEL_PEER6={peer_v6}\nEIFEL_PEER={peer_v4}\n/dev/null\n"
            ),
        ];
        for part in expected {
            assert!(found.contains(&part), "{options}: no {part:?} in\n{found}");
        }
        // The loopback device is the only other one, and no device has given itself an address.
        assert_eq!(found.matches(" mtu ").count(), 2, "{found}");
        assert!(!found.contains("fe80::"), "{found}");
    }
}

#[test]
fn both_sides_of_the_box_have_its_device_as_their_way_to_others_and_forward() {
    if !allowed() || !has("ip") {
        return;
    }
    let folder = folder();
    let [near, far] = ["near", "far"].map(|name| folder.join(name));
    // The far command is killed when the near one ends.
    let waits = format!("while ! grep -q ^EIFEL_PEER= {0}; do sleep 0.02; done; {1}", far.display(), looks(&near));
    let output = live()
        .args(["hiccup", "--mtu", "1400", "--peer", &looks(&far)])
        .arg(folder.join("plain.toml"))
        .args(["--", "sh", "-c", &waits])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "on standard output\n", "the near command's");
    for (file, own, other) in [(near, 1, 2), (far, 2, 1)] {
        let found = read(&file);
        let expected = [
            ": hiccup0: <POINTOPOINT,MULTICAST,NOARP,UP,LOWER_UP> mtu 1400 ".to_owned(),
            "qlen 5000".to_owned(),
            "vnet_hdr off".to_owned(),
            format!("hiccup0    inet 10.77.0.{own} peer 10.77.0.{other}/32 "),
            format!("hiccup0    inet6 fd77::{own} peer fd77::{other}/128 scope global nodad"),
            "default dev hiccup0 scope link \ndefault dev hiccup0 metric 1024 ".to_owned(),
            "\n1\n1\nEIFEL_ADDRESS".to_owned(),
        ];
        for part in expected {
            assert!(found.contains(&part), "{own}: no {part:?} in\n{found}");
        }
        assert!(!found.contains("fe80::"), "{found}");
    }
}

/// Without a peer the other side is the caller's namespace. Its default routes and its forwarding
/// stay unchanged.
#[test]
fn the_callers_namespace_gets_only_a_device() {
    if !allowed() || !has("ip") {
        return;
    }
    let folder = folder();
    let file = folder.join("caller");
    let near = format!(
        "{} live hiccup {} -- sh -c 'while ! test -e {}.done; do sleep 0.02; done'",
        PROGRAM,
        folder.join("plain.toml").display(),
        file.display()
    );
    let looks = looks(&file);
    let script = format!(
        "for file in ipv4/ip_forward ipv6/conf/all/forwarding; do echo 0 >/proc/sys/net/$file; done; \
         {near} & while ! ip addr show dev hiccup0 2>/dev/null | grep -q inet6; do sleep 0.02; done; {looks}; \
         touch {}.done; wait",
        file.display()
    );
    let output = Command::new("timeout").args(["20", "unshare", "--net", "sh", "-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = read(&file);
    let expected =
        [": hiccup0: <", "hiccup0    inet 10.77.0.2 peer 10.77.0.1/32 ", "fd77::2 peer fd77::1/128", "\n0\n0\n"];
    assert!(expected.iter().all(|part| found.contains(part)) && !found.contains("default dev"), "{found}");
}
