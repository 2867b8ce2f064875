"""Other things that learners reasonably do in a notebook: they work in the sandbox, too.

Each has a name, a cell's source, and the end of what it prints.
"""

from textwrap import dedent

PROGRAMS = {
    "a shell command": (
        "!echo hello && ls -la / > listing && wc -l < listing | tr -d 0-9",
        "hello",
    ),
    "shell tools": (
        """
        !cp -p /usr/bin/env . && tar -czf env.tgz env && tar -xzf env.tgz && mv env other
        !dd if=/dev/zero of=zeros bs=1k count=8 2>&1 | head -1 && sort -u zeros | wc -l
        !find . -name "o*" | xargs ls -l | wc -l && timeout 5 sleep 0.01 && echo done
        """,
        "done",
    ),
    "a bash cell": (
        "%%bash\nfor i in 1 2 3; do (sleep 0.01; echo $i) & done; wait; echo over",
        "over",
    ),
    "subprocesses": (
        """
        import subprocess, sys
        def say(*arguments): return subprocess.run(arguments, capture_output=True, text=True).stdout
        with subprocess.Popen(["cat"], stdin=-1, stdout=-1, start_new_session=True) as cat:
            print(cat.communicate(b"cat")[0], say(sys.executable, "-c", "print('child')"))
        """,
        "b'cat' child",
    ),
    "os.system, popen, fork and pipes": (
        """
        import os
        ends = os.pipe()
        if os.fork() == 0:
            os.write(ends[1], b"from the child")
            os._exit(3)
        print(os.wait()[1] >> 8, os.read(ends[0], 99), os.system("true"), os.popen("echo 7").read())
        """,
        "3 b'from the child' 0 7",
    ),
    "threads": (
        """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        lock, event = threading.RLock(), threading.Event()
        threading.Timer(0.01, event.set).start()
        with ThreadPoolExecutor(8) as pool, lock:
            print(sum(pool.map(len, ["a", "bc"])), event.wait(5))
        """,
        "3 True",
    ),
    "processes": (
        """
        import multiprocessing, os
        from concurrent.futures import ProcessPoolExecutor
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(abs, [-1, 2]))
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            print(pool.submit(pow, 2, 3).result())
        """,
        "[1, 2]\n8",
    ),
    "shared memory, values, queues and locks": (
        """
        import multiprocessing as mp
        from multiprocessing.shared_memory import SharedMemory
        context = mp.get_context("fork")
        shared, value = SharedMemory(create=True, size=100), context.Value("i", 0)
        queue, array = context.Queue(), context.Array("d", 3)
        def work():
            shared.buf[0] = 5
            array[2] = 1.5
            with value.get_lock(): value.value += 1
            queue.put("queued")
        process = context.Process(target=work); process.start(); process.join()
        with context.Manager() as manager:
            print(shared.buf[0], array[2], value.value, queue.get(), manager.list([1]))
        shared.close(); shared.unlink()
        """,
        "5 1.5 1 queued [1]",
    ),
    "data loaders and tensors in other processes": (
        """
        import torch, torch.multiprocessing as tmp
        from torch.utils.data import DataLoader
        loader = DataLoader(torch.arange(8), batch_size=2, num_workers=2, persistent_workers=True)
        print([int(batch.sum()) for batch in loader])
        def fill(tensor): tensor.fill_(3)
        tensor = torch.zeros(2).share_memory_()
        process = tmp.get_context("fork").Process(target=fill, args=(tensor,))
        process.start(); process.join()
        print(tensor.tolist())
        """,
        "[1, 5, 9, 13]\n[3.0, 3.0]",
    ),
    "figures": (
        """
        %matplotlib inline
        import matplotlib.pyplot as plt
        plt.plot([1, 2]); plt.title(r"$x^2$")
        for kind in ("png", "svg", "pdf"): plt.savefig(f"figure.{kind}")
        from PIL import Image
        print(Image.open("figure.png").size)
        """,
        "(640, 480)",
    ),
    "files at home": (
        """
        import os, pathlib, shutil
        home = pathlib.Path.home()
        (home / "a" / "b").mkdir(parents=True)
        (home / "a" / "b" / "text.txt").write_text("text")
        shutil.copytree("a", "c", symlinks=True); shutil.copy2("a/b/text.txt", "copy.txt")
        os.link("copy.txt", "hard"); os.symlink("copy.txt", "soft"); os.replace("hard", "new")
        os.chmod("new", 0o600); os.utime("new"); os.truncate("new", 2); os.mkfifo("fifo")
        shutil.make_archive("zipped", "zip", "c"); shutil.rmtree("a")
        with open("copy.txt", "r+b", 0) as file:
            os.pread(file.fileno(), 2, 0), os.pwrite(file.fileno(), b"T", 0), os.fsync(file)
            os.posix_fallocate(file.fileno(), 0, 100)
        print(sorted(p.name for p in home.rglob("*.txt")), os.stat("soft").st_size,
              shutil.disk_usage(".").total > 0, len(list(os.scandir("."))) > 4)
        """,
        "['copy.txt', 'text.txt'] 100 True True",
    ),
    "temporary files": (
        """
        import tempfile
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(dir=folder) as f:
            f.write(b"1"); f.flush()
            print(open(f.name).read(), tempfile.TemporaryFile().read())
        """,
        "1 b''",
    ),
    "arrays and tensors in files": (
        """
        import io, mmap, numpy as np, torch
        np.save("a.npy", np.arange(4)); np.savez("a.npz", a=np.arange(2)); torch.save([1], "t.pt")
        written = np.memmap("m.bin", dtype="f4", mode="w+", shape=4)
        written[:] = 2; written.flush()
        with open("a.npy", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            print(np.load("a.npy", mmap_mode="r")[3], mapped[:6], torch.load("t.pt"), written.sum())
        private = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        """,
        "3 b'\\x93NUMPY' [1] 8.0",
    ),
    "databases and locks": (
        """
        import dbm, fcntl, shelve, sqlite3
        with sqlite3.connect("db.sqlite") as db:
            db.execute("pragma journal_mode=wal"); db.execute("create table t (x)")
            db.execute("insert into t values (1)")
        with shelve.open("shelf") as shelf: shelf["key"] = [2]
        from filelock import FileLock  # it warns that files can't be locked this way
        with FileLock("soft.lock"): print(db.execute("select x from t").fetchall(), end=" ")
        with open("lock", "w") as lock: print(fcntl.lockf(lock, fcntl.LOCK_EX))
        """,
        "[(1,)] None",
    ),
    "time": (
        """
        import time
        time.sleep(0.01); time.perf_counter(), time.process_time(), time.thread_time(), time.ctime()
        %timeit -n 2 -r 2 pow(2, 2)
        %prun -q sum([1])
        print("timed")
        """,
        "timed",
    ),
    "asyncio in a cell": (
        """
        import asyncio
        await asyncio.sleep(0.01)
        print(sum(await asyncio.gather(*(asyncio.sleep(0.01, n) for n in (1, 2)))))
        """,
        "3",
    ),
    "asyncio in a thread": (
        """
        import asyncio, threading
        async def main():
            server = await asyncio.start_unix_server(lambda r, w: w.close(), "server.sock")
            reader, writer = await asyncio.open_unix_connection("server.sock")
            server.close(); writer.close()
            print(await reader.read(), await asyncio.to_thread(len, "to"))
        thread = threading.Thread(target=asyncio.run, args=(main(),)); thread.start(); thread.join()
        """,
        "b'' 2",
    ),
    "asyncio in another program": (
        """
        program = '''
        import asyncio, sys
        async def main():
            print_one = sys.executable, "-c", "print(1)"
            child = await asyncio.create_subprocess_exec(*print_one, stdout=-1)
            print(await child.communicate())
        asyncio.run(main())
        '''
        import subprocess, sys, textwrap
        print(subprocess.check_output([sys.executable, "-c", textwrap.dedent(program)], text=True))
        """,
        "(b'1\\n', None)",
    ),
    "signals and alarms": (
        """
        import os, signal, time
        seen = []
        for number in (signal.SIGALRM, signal.SIGUSR1):
            signal.signal(number, lambda number, frame: seen.append(number))
        signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
        os.kill(os.getpid(), signal.SIGUSR1); signal.raise_signal(signal.SIGUSR1)
        signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending(), signal.alarm(0)
        import faulthandler
        faulthandler.enable(open("faults", "w"))
        print(seen == [signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR1])
        """,
        "True",
    ),
    "pip without a network": (
        """
        import subprocess, sys
        pip = [sys.executable, "-m", "pip", "install", "--retries=0", "--timeout=1"]
        done = subprocess.run([*pip, "no-such-thing"], capture_output=True, text=True)
        print(done.returncode == 1 and "ERROR: " in done.stderr)
        """,
        "True",
    ),
    "the network": (
        """
        import socket, urllib.request
        try: urllib.request.urlopen("http://127.0.0.1/", timeout=1)
        except OSError as error: print(error)
        try: socket.getaddrinfo("example.org", 80)
        except OSError as error: print(type(error).__name__, [n for _, n in socket.if_nameindex()])
        """,
        "gaierror ['lo']",
    ),
    "the machine": (
        """
        import getpass, locale, os, platform, psutil, resource, sys, uuid
        psutil.virtual_memory(), psutil.cpu_count(), psutil.Process().memory_info(), uuid.uuid1()
        psutil.cpu_percent(), os.getloadavg(), os.cpu_count(), os.sched_getaffinity(0), os.nice(1)
        resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrlimit(resource.RLIMIT_NOFILE)
        platform.platform(), os.urandom(3), os.getpgrp(), os.umask(0o22)
        print(getpass.getuser(), sys.platform)
        """,
        "learner linux",
    ),
    "a terminal": (
        """
        import os, pty
        ends = pty.openpty(); os.write(ends[0], b"typed\\n")
        print(os.read(ends[1], 9), os.isatty(ends[1]))
        """,
        "b'typed\\n' True",
    ),
    "numbers": (
        """
        import numpy as np, torch
        torch.set_num_threads(2)
        a = torch.randn(300, 300); (a @ a).softmax(-1).sum().item(); torch.linalg.svd(a)
        torch.set_num_threads(1)
        np.linalg.inv(np.eye(200)); np.fft.fft(np.ones(64)); np.random.default_rng().normal(size=3)
        try:
            import scipy.linalg
            scipy.linalg.expm(np.eye(3))
        except ImportError: pass
        model = torch.nn.Linear(3, 1); model(torch.ones(2, 3)).sum().backward()
        torch.jit.script(torch.nn.ReLU())(torch.ones(1)); print(a.shape[0])
        """,
        "300",
    ),
    "keras": (
        """
        import keras, numpy as np
        model = keras.Sequential([keras.layers.Dense(1)]); model.compile(loss="mse")
        model.fit(np.ones((4, 2)), np.ones(4), verbose=0); model.save("model.keras")
        print(keras.models.load_model("model.keras").predict(np.ones((1, 2)), verbose=0).shape)
        """,
        "(1, 1)",
    ),
    "debugging and tracing": (
        """
        import gc, sys, traceback, tracemalloc, warnings, cProfile, logging
        tracemalloc.start(); tracemalloc.take_snapshot(); tracemalloc.stop(); gc.collect()
        logging.basicConfig(filename="log", force=True); logging.warning("x")
        %whos
        %pwd
        print("traced")
        """,
        "traced",
    ),
}


def cells() -> list[str]:
    """Return the sources of the cells."""
    return [dedent(source).strip() for source, _ in PROGRAMS.values()]
