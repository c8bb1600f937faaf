"""TensorFlow's placer with virtual GPUs, of PyPI's CUDA build, on a machine without a GPU.

A session of a cluster takes the devices of its other tasks from what they say. Here task 1 is a worker that only says that it has
GPUs: TensorFlow places graphs on them with the kernels that the CUDA build registers, logs it, and then fails, as the worker runs
nothing.

Needs an environment with `tensorflow` (not tensorflow-cpu) and grpcio: scripts/make_kernel_table.py makes it, build/versions/cuda-VERSION.
"""
import atexit
import os
import re
import socket
import subprocess
import sys
import tempfile

HOST = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:1/device:GPU:"
LINE = re.compile(r"^([A-Za-z0-9_.\\/>-]+): \(([A-Za-z0-9_>]+)\): (/job\S+)$", re.M)


def varint(number):
    octets = []
    while number > 127:
        octets.append(number & 127 | 128)
        number >>= 7
    return bytes(octets + [number])


def field(tag, octets):
    return varint(tag << 3 | 2) + varint(len(octets)) + octets


def device_attributes(number):
    """A DeviceAttributes message of GPU `number`: name, type, memory, incarnation."""
    return (field(1, f"{GPU}{number}".encode()) + field(2, b"GPU") + b"\x20" + varint(1 << 34) + b"\x31" +
            (77 + number).to_bytes(8, "little"))


def serve(gpus):
    """The worker's process: prints its port and serves until standard input ends."""
    import concurrent.futures
    import grpc

    class Handler(grpc.GenericRpcHandler):
        def service(self, details):
            method = details.method.rpartition("/")[2]

            def run(_, context):
                if method == "GetStatus":
                    return b"".join(field(1, device_attributes(i)) for i in range(gpus))
                if method not in ("CreateWorkerSession", "DeleteWorkerSession", "CleanupAll", "CleanupGraph"):
                    context.abort(grpc.StatusCode.UNIMPLEMENTED, "nothing runs here")
                return b""
            return grpc.unary_unary_rpc_method_handler(run)

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=(Handler(),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()


class CudaPlacer:
    """Makes the cluster once; then each graph is a session of its own."""

    def __init__(self, gpus=2):
        self.devices = [HOST] + [f"{GPU}{i}" for i in range(gpus)]
        worker = subprocess.Popen([sys.executable, __file__, str(gpus)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(worker.wait)
        atexit.register(worker.stdin.close)
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
        import tensorflow.compat.v1 as tf
        self.tf = tf
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        tasks = [f"127.0.0.1:{port}", f"127.0.0.1:{int(worker.stdout.readline())}"]
        self.server = tf.distribute.Server(tf.train.ClusterSpec({"localhost": tasks}), job_name="localhost", task_index=0)

    def place(self, graph, soft=True):
        """({node: device}, None), or ({}, the placer's error). The graph gets one more node, to be fetched."""
        tf = self.tf
        with graph.as_default():
            target = tf.no_op(name="end_of_graph")
        config = tf.ConfigProto(log_device_placement=True, allow_soft_placement=soft)
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        error = ""
        with tempfile.TemporaryFile() as log:
            saved = os.dup(1)
            sys.stdout.flush()
            os.dup2(log.fileno(), 1)
            try:
                with tf.Session(self.server.target, graph=graph, config=config) as session:
                    session.run(target)
            except Exception as caught:  # of every kind; `nothing runs here` is the usual one
                error = str(caught)
            finally:
                sys.stdout.flush()
                os.dup2(saved, 1)
                os.close(saved)
            log.seek(0)
            text = log.read().decode(errors="replace")
        placed = {name: device for name, _, device in LINE.findall(text) if name != target.name}
        # The end of the graph asks for nothing, so that it is on a GPU and the worker is what fails.
        if "nothing runs here" in error:
            return placed, None
        return {}, error


if __name__ == "__main__":
    serve(int(sys.argv[1]))
