"""Run a function in a child process with little memory and time, and say how it ended."""

import faulthandler
import multiprocessing
import os
import resource
import signal
import sys

SPARE = 2**30
"""Bytes of address space that a child may take over what it has."""


def in_child(function, *arguments, seconds=20, spare=SPARE):
    """Return "done", the name of the error that was raised, or the signal that ended the child."""
    context = multiprocessing.get_context("fork")  # everything is imported
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_limited, args=(theirs, function, arguments, spare))
    child.start()
    theirs.close()
    if not ours.poll(seconds):
        child.kill()
        child.join()
        return "time-out"
    try:
        ended = ours.recv()
    except EOFError:
        ended = ""
    child.join()
    return ended or signal.Signals(-child.exitcode).name


def _limited(pipe, function, arguments, spare):
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + spare, most))
    faulthandler.disable()
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # the child ends with os._exit
    try:
        function(*arguments)
    except BaseException as error:
        pipe.send(type(error).__name__)
    else:
        pipe.send("done")
    pipe.close()
    os._exit(0)


def _address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
