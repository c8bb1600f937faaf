"""Measures how long a page's reader waits while other clients abuse the server, and how much memory the server needs.

usage: serve_stress.py GRAPNEL MODEL... [--seconds N] [--most-seconds N] [--most-mb N]

A second process requests the page, its script and documents of the first model repeatedly, each on a new connection. Meanwhile 16
clients send a request's headers byte by byte, 16 a body, 16 read an answer byte by byte, 100 send endless bodies (without the token,
and with it in chunks), 8 send gzip that unpacks to gigabytes, 8 send JSON nested a million deep, 1000 request runs and passes of the
first model, and 16 connect and disconnect. Memory is the increase of the server's peak. Exit 1: a request took longer than
--most-seconds, memory exceeded --most-mb, or the server ended, or did not end within a second of Ctrl-C.

Clients close connections with a reset: a thousand regular closes per second fill the system's table of closed connections (a minute
each), and then it drops new connections, which are retried a second later. Prints how many were dropped.
"""
import argparse
import asyncio
import gzip
import http.client
import json
import multiprocessing
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.parse
import urllib.request


def peak_mb(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024


def begun_again():
    """How often this machine has retried a connection so far; each of the reader's own costs it a second."""
    with open("/proc/net/netstat") as file:
        lines = [line.split() for line in file if line.startswith("TcpExt:")]
    return int(dict(zip(*lines))["TCPSynRetrans"])


def end_by_reset(connected):
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Target:
    def __init__(self, url):
        self.port = urllib.parse.urlsplit(url).port
        self.token = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["token"][0]
        self.own = f"Host: 127.0.0.1:{self.port}\r\nOrigin: http://127.0.0.1:{self.port}\r\n"
        self.known = self.own + f"X-Grapnel-Token: {self.token}\r\n"

    def request(self, path, body=None):
        headers = {"X-Grapnel-Token": self.token, "Origin": f"http://127.0.0.1:{self.port}", "Accept-Encoding": "gzip"}
        return urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body, headers=headers)


def ask(target, path, number):
    """Uses changing addresses: reusing a port that was closed less than a minute ago may take the system a second."""
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=30, source_address=(f"127.0.2.{number % 250 + 1}", 0))
    request = target.request(path)
    connection.connect()
    end_by_reset(connection.sock)
    connection.request("GET", path, headers=dict(request.header_items(), Connection="close"))
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise OSError(f"{answer.status} {answer.reason}")


def probe(target, end, results):
    """Seconds by path, until that time; each answer must be correct."""
    paths = ["/?token=" + target.token, "/page.js", "/api/version", "/api/0/model", "/api/0/scope/0"]
    longest, total, failed = dict.fromkeys(paths, 0.0), 0, []
    while time.time() < end.value:
        for path in paths:
            began = time.time()
            try:
                ask(target, path, total)
            except (OSError, http.client.HTTPException) as error:
                failed.append(f"{path}: {error}")
            longest[path] = max(longest[path], time.time() - began)
            total += 1
    results.put((longest, total, failed))


def pulse(end, pauses):
    """How much longer the machine let a process wait that requested 10 ms of sleep: the reader cannot have been served sooner."""
    longest = 0.0
    while time.time() < end.value:
        began = time.time()
        time.sleep(0.01)
        longest = max(longest, time.time() - began - 0.01)
    pauses.put(longest)


class Attack:
    """Clients that reconnect until the time is up, and count the answers."""

    def __init__(self, target, end):
        self.target, self.end, self.answers, self.connections = target, end, {}, 0

    def is_over(self):
        return time.time() >= self.end.value

    async def again(self, name, client):
        while not self.is_over():
            status = "cut off"
            try:
                # From separate addresses: reusing a port that was closed less than a minute ago may take the system a second,
                # and the reader would wait for that.
                self.connections += 1
                reader, writer = await asyncio.open_connection("127.0.0.1", self.target.port,
                                                               local_addr=(f"127.0.1.{self.connections % 250 + 1}", 0))
                end_by_reset(writer.get_extra_info("socket"))
                try:
                    status = await client(reader, writer) or status
                finally:
                    writer.close()
            except (OSError, asyncio.IncompleteReadError, ValueError):
                pass
            counts = self.answers.setdefault(name, {})
            counts[status] = counts.get(status, 0) + 1
            await asyncio.sleep(0.01)

    async def status_of(self, reader, seconds=70):
        try:
            line = await asyncio.wait_for(reader.readline(), seconds)
        except OSError:
            return None
        return int(line.split()[1]) if line else None

    async def byte_by_byte(self, head, reader, writer):
        writer.write(head.encode())
        answer = asyncio.ensure_future(self.status_of(reader))
        while not answer.done() and not self.is_over():
            writer.write(b"x")
            await asyncio.sleep(1)
        return await answer if answer.done() else "went on"

    async def slow_headers(self, reader, writer):
        return await self.byte_by_byte("GET / HTTP/1.1\r\n" + self.target.known + "X: ", reader, writer)

    async def slow_body(self, reader, writer):
        return await self.byte_by_byte("POST /api/0/passes HTTP/1.1\r\n" + self.target.known + "Content-Length: 100000\r\n\r\n", reader, writer)

    async def slow_reader(self, reader, writer):
        ask = "GET /api/0/model HTTP/1.1\r\n" + self.target.known + "\r\nGET /graph_view.js HTTP/1.1\r\n" + self.target.known + "\r\n"
        writer.write(ask.encode() * 400)
        while not self.is_over() and await reader.read(1):
            await asyncio.sleep(1)
        return "went on"

    async def endless(self, head, piece, reader, writer):
        writer.write(head.encode())
        answer = asyncio.ensure_future(self.status_of(reader))
        while not answer.done() and not self.is_over():
            writer.write(piece)
            try:
                await asyncio.wait_for(writer.drain(), 5)
            except (OSError, asyncio.TimeoutError):
                break
            await asyncio.sleep(0)
        return await answer

    async def endless_stranger(self, reader, writer):
        head = "POST /api/0/feed HTTP/1.1\r\n" + self.target.own + "Content-Length: 1000000000000\r\n\r\n"
        return await self.endless(head, b" " * 65536, reader, writer)

    async def endless_chunks(self, reader, writer):
        head = "POST /api/0/passes HTTP/1.1\r\n" + self.target.known + "Transfer-Encoding: chunked\r\n\r\n"
        return await self.endless(head, b"10000\r\n" + b" " * 65536 + b"\r\n", reader, writer)

    async def post(self, path, body, extra, reader, writer):
        head = f"POST {path} HTTP/1.1\r\n{self.target.known}{extra}Content-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        return await self.status_of(reader, 600)

    async def bomb(self, reader, writer):
        return await self.post("/api/0/feed", BOMB, "Content-Encoding: gzip\r\n", reader, writer)

    async def deep(self, reader, writer):
        return await self.post("/api/0/passes", b"[" * 1000000, "", reader, writer)

    async def passes(self, reader, writer):
        return await self.post("/api/0/passes", b"{}", "", reader, writer)

    async def run(self, reader, writer):
        return await self.post("/api/0/run", RUN, "", reader, writer)

    async def come_and_go(self, reader, writer):
        return "went"

    async def everything(self):
        clients = {self.slow_headers: 16, self.slow_body: 16, self.slow_reader: 16, self.endless_stranger: 50, self.endless_chunks: 50,
                   self.bomb: 8, self.deep: 8, self.passes: 500, self.run: 500, self.come_and_go: 16}
        tasks = [asyncio.ensure_future(self.again(client.__name__, client)) for client, count in clients.items() for _ in range(count)]
        await asyncio.sleep(max(0, self.end.value - time.time()))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def run_request(target):
    """A run of the first model on made-up inputs."""
    with urllib.request.urlopen(target.request("/api/0/run")) as answer:
        text = answer.read()
        form = json.loads(gzip.decompress(text) if answer.headers["Content-Encoding"] == "gzip" else text)
    feeds = [{"tensor": i["tensor"], "kind": "case" if i.get("case") else "ones", "shape": i["shape"]} for i in form["inputs"]]
    return json.dumps({"feeds": feeds, "fetches": form["fetches"], "mode": "FULL_HEALTH", "taps": "*"}).encode()


def main():
    global BOMB, RUN
    parser = argparse.ArgumentParser()
    parser.add_argument("grapnel")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--most-seconds", type=float, default=1)
    parser.add_argument("--most-mb", type=float, default=1024)
    arguments = parser.parse_args()
    server = subprocess.Popen([arguments.grapnel, "serve", "--quiet", *arguments.models], stdout=subprocess.PIPE, text=True)
    target = Target(server.stdout.readline().strip())
    BOMB = gzip.compress(bytes(1 << 28), 1) * 8
    RUN = run_request(target)
    end, results, pauses = multiprocessing.Value("d", time.time() + 3), multiprocessing.Queue(), multiprocessing.Queue()

    def measure(seconds, attack):
        end.value = time.time() + seconds
        reader = multiprocessing.Process(target=probe, args=(target, end, results))
        clock = multiprocessing.Process(target=pulse, args=(end, pauses))
        reader.start()
        clock.start()
        if attack:
            asyncio.run(attack.everything())
        found = results.get(timeout=60 + seconds)
        reader.join()
        return *found, pauses.get(timeout=60)

    calm, calm_total, _, _ = measure(3, None)
    before = peak_mb(server.pid)
    again = begun_again()
    attack = Attack(target, end)
    longest, total, failed, pause = measure(arguments.seconds, attack)
    is_alive = server.poll() is None
    again = begun_again() - again
    memory = peak_mb(server.pid) - before if is_alive else float("nan")
    began = time.time()
    server.send_signal(signal.SIGINT)
    server.wait(30)
    ended = time.time() - began
    print(f"{'path':24}{'longest, calm':>15}{'attacked':>12}   ({calm_total} and {total} answers)")
    for path in longest:
        print(f"{path.split('?')[0]:24}{calm[path] * 1000:12.1f} ms{longest[path] * 1000:9.1f} ms")
    print(f"{'(the machine alone)':24}{'':15}{pause * 1000:9.1f} ms, {again} connections begun again")
    for name, counts in sorted(attack.answers.items()):
        print(f"{name:24}" + ", ".join(f"{status}: {count}" for status, count in sorted(counts.items(), key=str)))
    print(f"memory: {before:.0f} MB before, {memory:.0f} MB more at its peak; ended {ended * 1000:.0f} ms after Ctrl-C")
    for line in failed[:5]:
        print("failed:", line)
    fine = is_alive and not failed and max(longest.values()) <= arguments.most_seconds and memory <= arguments.most_mb and ended <= 1
    print("fine" if fine else "NOT FINE")
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
