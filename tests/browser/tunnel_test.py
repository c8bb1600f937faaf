"""The page through a tunnel that ends at another port, and behind a proxy that adds a path prefix."""
import socket
import threading

import page_case
from driver import free_port
from page_case import PageCase


class Forwarder:
    """Forwards bytes from a port of its own, as `ssh -L` does. With `prefix` it removes that from the path of each request, as Jupyter's and
    VS Code's proxies do, and closes the connection after one."""

    def __init__(self, target, prefix=""):
        self.target, self.prefix, self.port = target, prefix, free_port()
        self.socket = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.create_connection(("127.0.0.1", self.target))
        if self.prefix:
            head = b""
            while b"\r\n\r\n" not in head:
                more = client.recv(65536)
                if not more:
                    return
                head += more
            line, rest = head.split(b"\r\n", 1)
            method, path, version = line.split(b" ")
            if not path.startswith(self.prefix.encode() + b"/"):
                client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return client.close()
            rest = rest.replace(b"Connection: keep-alive", b"Connection: close")
            server.sendall(b" ".join([method, path[len(self.prefix):], version]) + b"\r\n" + rest)
        threading.Thread(target=self.pump, args=(client, server), daemon=True).start()
        self.pump(server, client)

    @staticmethod
    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.socket.close()


class Tunnel(PageCase):
    def through(self, prefix, *flags):
        url = self.serve("testdata/models/lenet", *flags)
        address, query = url.split("/?")
        forwarder = Forwarder(int(address.rsplit(":", 1)[1]), prefix)
        self.addCleanup(forwarder.close)
        return f"http://127.0.0.1:{forwarder.port}{prefix}/?{query}"

    def see_and_run(self, url):
        self.show(url)
        self.assertTrue(self.box("conv2d_1"))
        self.toggle("conv2d_1")
        self.browser.click("#to-run")
        self.browser.wait("[...document.querySelectorAll('#tab-run button')].some((e) => e.textContent === 'Run')")
        self.browser.js("[...document.querySelectorAll('#tab-run button')].find((e) => e.textContent === 'Run').click()")
        self.browser.wait("document.querySelector('#color option[value=run-health]')")

    def test_another_port(self):
        self.see_and_run(self.through(""))

    def test_a_path_before_it(self):
        self.see_and_run(self.through("/user/ada/proxy/8080"))


if __name__ == "__main__":
    page_case.main()
