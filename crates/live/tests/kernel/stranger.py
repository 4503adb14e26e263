"""Sends what a stranger can send who knows addresses and ports, but no tag and no sequence number.

stranger.py only OWN PEER   once, about port OWN of the host and PEER of this end
stranger.py keep OWN PEER   the same until it is killed
stranger.py sink PORT       takes a connection, sends it, and answers with the number of bytes taken
stranger.py source PORT     calls the host, and sends it amid 1 MB
"""

import itertools
import os
import random
import socket
import struct
import sys

HERE = [os.environ["EIFEL_ADDRESS"], os.environ["EIFEL_ADDRESS6"]]
HOST = [os.environ["EIFEL_PEER"], os.environ["EIFEL_PEER6"]]
ELSEWHERE = ["198.51.100.7", "2001:db8::7"]
ICMP = [1, 58]
TCP, UDP, SCTP = 6, 17, 132
UDP_PORT = 9899
draw = random.Random(1)


def octets(address):
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", ~total & 0xFFFF)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def packet(source, target, protocol, content):
    if ":" in source:
        return struct.pack(">IHBB", 0x60000000, len(content), protocol, 64) + octets(source) + octets(target) + content
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(content), 1, 0, 64, protocol, 0)
    return head + octets(source) + octets(target) + content


def summed(source, target, protocol, content, at):
    """Puts the checksum into a content, with the pseudo-header except for ICMP over IPv4."""
    pseudo = octets(source) + octets(target) + struct.pack(">II", len(content), protocol)
    total = checksum((b"" if protocol == 1 else pseudo) + content)
    return packet(source, target, protocol, content[:at] + total + content[at + 2 :])


def number():
    return draw.getrandbits(32)


def tcp(ports, flags):
    return struct.pack(">HHIIBBHHH", *ports, number(), number(), 0x50, flags, 1000, 0, 0)


def sctp(ports, chunk, tag=None):
    head = struct.pack(">HHI", *ports, number() if tag is None else tag)
    return head + crc32c(head + bytes(4) + chunk) + chunk


def chunks():
    """INIT, and with a wrong tag ABORT, SHUTDOWN, SHUTDOWN COMPLETE, COOKIE ECHO, DATA, SACK, and two broken ones."""
    init = struct.pack(">BBHIIHHI", 1, 0, 20, number(), 65536, 1, 1, number())
    yield init, 0
    for kind, body in [(6, b""), (7, bytes(4)), (14, b""), (10, bytes(8)), (0, bytes(16)), (3, bytes(12))]:
        yield struct.pack(">BBH", kind, 0, 4 + len(body)) + body, None
    yield b"\x06\x00\xff\xff", None
    yield b"\x06", None


def quoted(version, own, peer):
    """What an ICMP message quotes: nothing, half a header, and packets that the host has not sent."""
    yield b""
    yield bytes(8)
    flow = HOST[version], HERE[version]
    init = struct.pack(">BBHIIHHI", 1, 0, 20, number(), 65536, 1, 1, number())
    for protocol, content in [
        (TCP, tcp((own, peer), 16)),
        (SCTP, sctp((own, peer), bytes(16))),
        (SCTP, sctp((own, peer), init, 0)),
        (UDP, struct.pack(">HHHH", UDP_PORT, UDP_PORT, 40, 0) + sctp((own, peer), init, 0)),
        (99, bytes(20)),
    ]:
        whole = packet(*flow, protocol, content)
        yield whole
        yield whole[: len(whole) - len(content) + 4]


def messages(own, peer):
    kinds = [
        [(3, 0), (3, 1), (3, 2), (3, 3), (3, 4), (3, 13), (4, 0), (5, 0), (11, 0), (12, 0)],
        [(1, 0), (1, 1), (1, 3), (1, 4), (2, 0), (3, 0), (4, 0), (4, 1), (137, 0)],
    ]
    for version, source in itertools.product((0, 1), (HERE, ELSEWHERE)):
        ends = source[version], HOST[version]
        for kind, code in kinds[version]:
            for quote in quoted(version, own, peer):
                yield summed(*ends, ICMP[version], struct.pack(">BBHI", kind, code, 0, 68) + quote, 2)
        yield packet(*ends, ICMP[version], b"\x03\x02")
        for flags in (0, 1, 2, 4, 16, 18, 20, 63):
            yield summed(*ends, TCP, tcp((peer, own), flags), 16)
        yield packet(*ends, TCP, b"\x03\x02")
        for chunk, tag in chunks():
            content = sctp((peer, own), chunk, tag)
            yield packet(*ends, SCTP, content)
            datagram = struct.pack(">HHHH", UDP_PORT, UDP_PORT, 8 + len(content), 0) + content
            yield summed(*ends, UDP, datagram, 6)
        for protocol in (SCTP, UDP, 99):
            yield packet(*ends, protocol, b"\x03\x02")


def send(own, peer):
    raw = [
        socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
        socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW),
    ]
    for message in messages(own, peer):
        version = int(message[0] >> 4 == 6)
        raw[version].sendto(message, (HOST[version], 0))


def main(task, *ports):
    ports = [int(port) for port in ports]
    if task == "only":
        send(*ports)
    elif task == "keep":
        while True:
            send(*ports)
    elif task == "sink":
        connection, (_, port) = socket.create_server((HERE[0], ports[0])).accept()
        send(port, ports[0])
        count = 0
        while taken := connection.recv(65536):
            count += len(taken)
        send(port, ports[0])
        connection.sendall(b"%d" % count)
    else:
        connection = socket.create_connection((HOST[0], ports[0]))
        for _ in range(2):
            connection.sendall(bytes(500_000))
            send(ports[0], connection.getsockname()[1])
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


main(*sys.argv[1:])
