"""Ends `grapnel serve MODEL` by a signal while a run of the model and slow clients are under way, and says how that went.

usage: serve_ends.py MODEL FETCH"""
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request


def end(model, fetch, number):
    server = subprocess.Popen(["grapnel", "serve", "--quiet", model], stdout=subprocess.PIPE, text=True)
    address = urllib.parse.urlsplit(server.stdout.readline().strip())
    token = urllib.parse.parse_qs(address.query)["token"][0]
    headers = {"X-Grapnel-Token": token, "Origin": f"http://{address.netloc}"}

    def ask(path, body=None):
        with urllib.request.urlopen(urllib.request.Request(f"http://{address.netloc}/api/{path}", data=body, headers=headers)) as answer:
            return json.load(answer)

    run = ask("0/run", json.dumps({"feeds": [], "fetches": [fetch]}).encode())["run"]
    while ask(f"0/run/{run}")["state"] == "waiting":
        time.sleep(0.01)
    slow = [socket.create_connection(("127.0.0.1", address.port)) for _ in range(16)]
    for client in slow:
        client.sendall(b"POST /api/0/run HTTP/1.1\r\n")
    time.sleep(0.3)
    state = ask(f"0/run/{run}")["state"]
    began = time.time()
    server.send_signal(number)
    code = server.wait(60)
    print(f"{number.name}: {state}, exit {code},", "at once" if time.time() - began < 1 else f"after {time.time() - began:.1f} s")


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):
        end(*sys.argv[1:], number)
