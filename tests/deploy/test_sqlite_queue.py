"""On SQLite, writers wait in line: nobody is told "database is locked" because others came again and again."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler

from deploy.environment import database

HAMMER = """
import sys
from django.db.utils import ConnectionHandler
from deploy.environment import database
connection = ConnectionHandler({"default": {**database(sys.argv[1]), "AUTOCOMMIT": True}})["default"]
print("ready", flush=True)
while True:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE counts SET n = n + 1")
"""


pytestmark = pytest.mark.django_db(transaction=True)  # pytest-django guards every connection


class Database:
    """A file of its own, with as many connections as are asked for."""

    def __init__(self, path: Path) -> None:
        self.url = f"sqlite:///{path}"
        self.connect().cursor().execute("CREATE TABLE counts (n integer)")
        self.connect().cursor().execute("INSERT INTO counts VALUES (0)")

    def connect(self, seconds: float = 20.0):
        settings = database(self.url)
        settings["OPTIONS"]["timeout"] = seconds
        return ConnectionHandler({"default": settings})["default"]


@pytest.fixture
def file(tmp_path):
    return Database(tmp_path / "x.sqlite3")


def add_one(connection) -> None:
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    try:
        connection.cursor().execute("UPDATE counts SET n = n + 1")
        connection.commit()
    finally:
        connection.set_autocommit(True)


def test_a_thread_that_waits_comes_before_one_that_comes_again(file):
    stop = threading.Event()

    def hammer():
        connection = file.connect()
        while not stop.is_set():
            add_one(connection)
        connection.close()

    threads = [threading.Thread(target=hammer) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        patient = file.connect(seconds=1)
        for _ in range(30):
            add_one(patient)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_process_that_waits_comes_before_one_that_comes_again(file):
    processes = [
        subprocess.Popen([sys.executable, "-c", HAMMER, file.url], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    try:
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        patient = file.connect(seconds=1)
        for _ in range(30):
            add_one(patient)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_who_waits_too_long_is_told_so_and_the_next_one_gets_in(file):
    holder, other = file.connect(), file.connect(seconds=0.05)
    holder.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    with pytest.raises(OperationalError, match="database is locked"):
        add_one(other)
    with pytest.raises(OperationalError, match="database is locked"):
        other.cursor().execute("UPDATE counts SET n = n + 1")
    assert other.cursor().execute("SELECT n FROM counts").fetchone() == (0,)  # readers wait for nobody
    holder.rollback()
    holder.set_autocommit(True)
    add_one(other)
    assert holder.cursor().execute("SELECT n FROM counts").fetchone() == (1,)


def test_a_connection_that_is_closed_gives_its_turn_back(file):
    holder = file.connect()
    holder.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    holder.close()
    add_one(file.connect(seconds=0.05))
