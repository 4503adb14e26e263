//! A side of the box: a namespace with the box's device, and optionally an eifel host behind it.

use crate::host::Config;
use crate::system::Error;
use crate::system::namespace::Namespace;
use crate::system::tun::Tun;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The name of the box's devices.
const BOX: &str = "hiccup%d";

/// A side, 1 or 2. The kernel there has 10.77.0.1 and fd77::1, or 10.77.0.2 and fd77::2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side(pub u8);

impl Side {
    /// The side of the sender in the scenario's first flow.
    pub const NEAR: Self = Self(1);
    /// The side of the receiver.
    pub const FAR: Self = Self(2);

    /// Returns the side across the box.
    pub fn other(self) -> Self {
        Self(3 - self.0)
    }

    /// Returns the kernel's IPv4 address.
    pub fn v4(self) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, 0, self.0)
    }

    /// Returns the kernel's IPv6 address.
    pub fn v6(self) -> Ipv6Addr {
        Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, u16::from(self.0))
    }

    /// Returns the addresses of the kernels on both sides.
    pub fn addresses() -> Vec<IpAddr> {
        [Self::NEAR, Self::FAR].into_iter().flat_map(|side| [side.v4().into(), side.v6().into()]).collect()
    }

    /// Returns the IPv4 address of an eifel host on this side.
    pub fn host(self) -> Ipv4Addr {
        Ipv4Addr::new(10, 85, self.0, 2)
    }

    /// Makes the box's device in `namespace`. If the namespace is `ours`, packets for all other
    /// addresses are routed into the box, and packets for a host behind the side are forwarded.
    ///
    /// # Errors
    /// Those of the system.
    pub fn device(self, namespace: &Namespace, mtu: u32, ours: bool) -> Result<Tun, Error> {
        let tun = namespace.within(|| Tun::create(BOX))?;
        let (name, own, other) = (tun.name(), self, self.other());
        // Without `addrgenmode none`, a device that comes up gives itself a link-local address and
        // searches for routers.
        let mut commands = format!(
            "link set {name} mtu {mtu} txqueuelen 5000 addrgenmode none\nlink set {name} up\n\
             addr add {} peer {} dev {name}\n\
             addr add {} peer {} dev {name} nodad\n",
            own.v4(),
            other.v4(),
            own.v6(),
            other.v6(),
        );
        if ours {
            commands += &format!("route add default dev {name}\nroute add ::/0 dev {name}\n");
            namespace.set(&[("net/ipv4/ip_forward", "1"), ("net/ipv6/conf/all/forwarding", "1")])?;
        }
        namespace.configure(&commands)?;
        namespace.wait_for_route(other.v6().into())?;
        Ok(tun)
    }

    /// Makes a device for an eifel host behind the side, over IPv4.
    ///
    /// # Errors
    /// Those of the system.
    pub fn behind(self, namespace: &Namespace, secret: [u64; 2]) -> Result<(Tun, Config), Error> {
        let tun = namespace.within(|| Tun::create("eifel%d"))?;
        let (name, host) = (tun.name(), self.host());
        let kernel = Ipv4Addr::from_bits(host.to_bits() ^ 3);
        namespace.configure(&format!(
            "link set {name} mtu 1500 txqueuelen 5000 addrgenmode none\nlink set {name} up\naddr add {kernel} peer {host} dev {name}\n"
        ))?;
        Ok((tun, Config { v4: Some(host), v6: None, mtu: 1500, secret, most_connections: 16 }))
    }
}
