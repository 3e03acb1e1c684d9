"""A service that classifies digits: one model, several runners of it, and requests over HTTP that are answered at once."""

import json
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np

import pysimd

try:
    import uvicorn
    from starlette import applications, concurrency, responses, routing
except ImportError:
    print("skipped: no Starlette and uvicorn here, they come with pip install 'pysimd[service]'")
    sys.exit(77)

DIGITS, RUNNERS, CLIENTS = Path(__file__).parent / "digits", 4, 8
sys.path.append(str(DIGITS))

import digits_files  # noqa: E402

# Each request takes a runner, and waits if there is none; all have the same weights, and memory of their own.
first = pysimd.load(DIGITS / "digits.simdnet").prepare({"images": (1, 1, 8, 8)})
runners = SimpleQueue()
for runner in [first, *(first.copy() for _ in range(RUNNERS - 1))]:
    runners.put(runner)


def classify(data):
    """The probabilities for 64 bytes. While the library computes, Python runs other threads."""
    runner = runners.get()
    try:
        runner.inputs["images"][...] = np.frombuffer(data, np.uint8).reshape(1, 1, 8, 8)
        return runner()["probabilities"][0].tolist()
    finally:
        runners.put(runner)


async def answer(request):
    data = await request.body()
    if len(data) != 64:
        return responses.JSONResponse({"error": f"{len(data)} bytes, expected the 64 of an image"}, status_code=400)
    return responses.JSONResponse({"probabilities": await concurrency.run_in_threadpool(classify, data)})


def ask(image):
    with urlopen(url, image.tobytes(), timeout=60) as response:  # a POST
        return int(np.argmax(json.load(response)["probabilities"]))


listener = socket.create_server(("127.0.0.1", 0))
url = f"http://127.0.0.1:{listener.getsockname()[1]}/digit"
app = applications.Starlette(routes=[routing.Route("/digit", answer, methods=["POST"])])
server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
images, labels = digits_files.read_images(DIGITS / "images.bin")
with ThreadPoolExecutor(CLIENTS + 1) as threads:
    service = threads.submit(server.run, [listener])
    while not server.started and not service.done():
        time.sleep(0.01)
    try:
        found = list(threads.map(ask, images))
        print(f"{RUNNERS} runners have answered {CLIENTS} clients: {np.sum(found == labels)} of {len(labels)} are right")
        ask(images[0][:5])
    except HTTPError as error:
        print(error.code, json.load(error)["error"])
    finally:
        server.should_exit = True

# Output:
#
#   4 runners have answered 8 clients: 360 of 360 are right
#   400 40 bytes, expected the 64 of an image
