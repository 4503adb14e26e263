"""Servers for many clients at a time: port 80 echoes, 81 never reads, 82 sends without end."""

import os
import resource
import selectors
import socket

limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(limits[1], 4096), limits[1]))
ready = selectors.DefaultSelector()
BLOCK = bytes(1 << 16)
deaf = []


def echo(connection, waiting):
    """Sends what waits, and reads more once nothing does."""
    try:
        if not waiting:
            waiting.extend(connection.recv(1 << 16))
            if not waiting:
                ready.unregister(connection)
                connection.close()
                return
        del waiting[: connection.send(waiting)]
    except BlockingIOError:
        pass
    except OSError:
        ready.unregister(connection)
        connection.close()
        return
    events = selectors.EVENT_WRITE if waiting else selectors.EVENT_READ
    if ready.get_key(connection).events != events:
        ready.modify(connection, events, ready.get_key(connection).data)


def flood(connection):
    try:
        connection.send(BLOCK)
    except BlockingIOError:
        pass
    except OSError:
        ready.unregister(connection)
        connection.close()


def accept(listener, port):
    connection, _ = listener.accept()
    connection.setblocking(False)
    if port == 80:
        waiting = bytearray()
        ready.register(connection, selectors.EVENT_READ, lambda: echo(connection, waiting))
    elif port == 82:
        ready.register(connection, selectors.EVENT_WRITE, lambda: flood(connection))
    else:
        deaf.append(connection)


def serve(port):
    listener = socket.create_server((os.environ["EIFEL_ADDRESS"], port), backlog=2000)
    ready.register(listener, selectors.EVENT_READ, lambda: accept(listener, port))


for port in (81, 82, 80):
    serve(port)
while True:
    for key, _ in ready.select():
        key.data()
