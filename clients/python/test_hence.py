"""The client, tried on a real server. `HENCE` is the program to serve with; without it, the `hence` on the path."""

import contextlib
import io
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest
from typing import Callable

import hence
from hence import Hence, Refused, new_token

POOL = """assert param/PORT ; assert param/PORT/restart
assert subsystem/httpd ; assert subsystem/httpd/param/PORT
assert group/web ; assert group/web/param/PORT 8080
assert node/n1 ; assert node/n1/group/web 10 ; assert node/n2"""


class Server:
    """A server with a folder of its own, which can be stopped and started again at the same address."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.token_file = pathlib.Path(self._folder.name, "token")
        self._listen = "127.0.0.1:0"
        self.start()

    def start(self) -> None:
        command = [os.environ.get("HENCE", "hence"), "serve", "--listen", self._listen, "--log", "none"]
        command += ["--data", str(pathlib.Path(self._folder.name, "data"))]
        command += ["--admin-token-file", str(self.token_file)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline()
        if not line.startswith("listening at "):
            raise AssertionError(f"the server does not listen: {line!r}")
        self.address = line[len("listening at ") :].strip()
        self._listen = self.address.split("//")[1]

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(20)
        self._process.stdout.close()

    def end(self) -> None:
        self.stop()
        self._folder.cleanup()

    def client(self) -> Hence:
        return Hence(self.address, self.token_file.read_text())


def wait_until(is_so: Callable[[], bool]) -> None:
    """The server looks at a rollout now and then."""
    end = time.monotonic() + 60
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError("it does not come to that")
        time.sleep(0.1)


class Using(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server()
        self.addCleanup(self.server.end)
        self.hence = self.server.client()

    def test_a_change_is_planned_activated_fetched_and_explained(self) -> None:
        about = self.hence.about()
        self.assertEqual(about["service"], "hence")
        done = self.hence.commit(POOL, message="a pool", if_version=about["version"])
        self.assertEqual(done["version"], about["version"] + 1)
        self.assertEqual(self.hence.validate(), {})
        plan = self.hence.plan(node="n1")
        self.assertEqual(plan["nodes"]["n1"]["parameters"]["PORT"]["after"], "8080")
        activated = self.hence.activate(plan=self.hence.plan()["plan"])
        self.assertEqual(activated["changed"], ["n1"])
        self.assertEqual(self.hence.config("N1")["parameters"], {"PORT": "8080"})
        self.hence.commit("assert group/web/param/PORT 9090")
        self.assertEqual(self.hence.config("n1", head=True)["parameters"], {"PORT": "9090"})
        self.assertEqual(self.hence.config("n1", at=activated["version"])["parameters"], {"PORT": "8080"})
        self.assertEqual(self.hence.changes("n1", since=0)["restart"], ["httpd"])
        (story,) = self.hence.explain("n1", "PORT")
        self.assertEqual(story["value"], "9090")
        self.assertIn("assert node/n2", self.hence.state(under="node"))
        self.assertEqual(self.hence.entry(done["version"])["message"], "a pool")

    def test_a_rollout_waits_for_what_nodes_say(self) -> None:
        self.hence.commit(POOL)
        self.hence.begin_rollout([{"groups": ["web"]}], within=60, message="carefully")
        version = self.hence.config("n1")["version"]
        (first, second) = self.hence.rollout()["stages"]
        self.assertEqual((first["silent"], second["status"]), (["n1"], "waiting"))
        with self.assertRaises(Refused) as refused:
            self.hence.activate()
        self.assertEqual((refused.exception.status, refused.exception.code), (409, "rollout.under-way"))
        self.hence.order_rollout("pause")
        self.assertEqual(self.hence.rollout()["status"], "paused")
        self.hence.order_rollout("resume")
        self.hence.check_in("n1", applied=version)
        wait_until(lambda: self.hence.rollout()["status"] == "done")
        self.hence.order_rollout("roll-back", message="not what we meant")
        self.assertEqual(self.hence.rollout()["why"], "not what we meant")
        self.assertEqual(self.hence.config("n1")["parameters"], {})

    def test_what_was_done_is_taken_back_named_and_restored(self) -> None:
        version = self.hence.commit(POOL)["version"]
        self.hence.snapshot("first", version, "as it began")
        self.assertEqual(self.hence.snapshots(), {"first": {"version": version, "annotation": "as it began"}})
        before = self.hence.state()
        self.hence.commit("assert node/n3")
        self.hence.undo(message="not yet")
        self.assertEqual(self.hence.state(), before)
        self.hence.commit("retract-under group/web", dormant=True)
        self.hence.restore(version)
        self.assertEqual(self.hence.state(), before)
        self.hence.forget("first")
        self.assertEqual(self.hence.snapshots(), {})

    def test_many_are_read_page_by_page(self) -> None:
        self.hence.commit("\n".join(f"assert node/n{number:02}" for number in range(25)))
        names = [node["name"] for node in self.hence.nodes(limit=10)]
        self.assertEqual(names, [f"n{number:02}" for number in range(25)])
        versions = [entry["version"] for entry in self.hence.entries(limit=1)]
        self.assertEqual(versions, list(range(versions[0], 0, -1)))

    def test_a_node_enrols_and_checks_in(self) -> None:
        self.hence.commit(POOL)
        join = self.hence.add_token("hall", join=True, lasts=3600)
        token = new_token()
        for _ in range(2):
            self.assertEqual(Hence(self.server.address, join).enrol("N1", token)["node"], "n1")
        node = Hence(self.server.address, token)
        version = self.hence.activate()["version"]
        self.assertEqual(node.check_in("n1", applied=version, facts={"kernel": "6.1"})["version"], version)
        self.assertEqual(self.hence.node("n1")["applied"], version)
        with self.assertRaises(Refused) as refused:
            node.config("n2")
        self.assertEqual(refused.exception.status, 403)
        self.assertIn("hall", [token["name"] for token in self.hence.tokens()])
        self.hence.revoke_token("hall")
        self.assertNotIn("hall", [token["name"] for token in self.hence.tokens()])

    def test_what_is_refused_says_why(self) -> None:
        with self.assertRaises(Refused) as refused:
            self.hence.config("a node/that is not")
        self.assertEqual((refused.exception.status, refused.exception.code), (404, "fleet.no-such-name"))
        with self.assertRaises(Refused) as refused:
            self.hence.commit("assert node/n1", if_version=999)
        self.assertEqual(refused.exception.status, 412)
        with self.assertRaises(Refused) as refused:
            Hence(self.server.address, "wrong").about()
        self.assertEqual(refused.exception.status, 401)
        shown = str(refused.exception)
        self.assertTrue(shown.startswith("error[server.unauthorised]: a token is needed"), shown)
        self.assertIn("\n  = help: ", shown)

    def test_events_go_on_when_the_server_was_away(self) -> None:
        begun = self.hence.about()["version"]
        events = self.hence.events(since=begun)
        self.hence.commit(POOL)
        event = next(events)
        self.assertEqual((event.version, event.kind), (begun + 1, "commit"))
        away = threading.Thread(target=self.come_back)
        self.server.stop()
        away.start()
        event = next(events)
        away.join()
        self.assertEqual((event.version, event.kind), (begun + 2, "activation"))

    def come_back(self) -> None:
        self.server.start()
        self.server.client().activate()

    def test_a_shell_gets_the_same(self) -> None:
        self.hence.commit(POOL)
        where = ["--server", self.server.address, "--token-file", str(self.server.token_file)]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.assertEqual(hence.main([*where, "activate"]), 0)
            self.assertEqual(hence.main([*where, "config", "n1"]), 0)
            self.assertEqual(hence.main([*where, "nodes"]), 0)
            self.assertEqual(hence.main([*where, "config", "n9"]), 1)
            self.assertEqual(hence.main(["--server", "http://127.0.0.1:9", "about"]), 2)
        self.assertIn('"PORT": "8080"', out.getvalue())
        self.assertIn("error[fleet.no-such-name]", err.getvalue())


class Careful(unittest.TestCase):
    def test_a_token_does_not_leave_the_machine_in_the_open(self) -> None:
        for server in ("http://hub:80", "http://127.0.0.1.evil", "http://127.0.0.1@hub", "hub", "ftp://hub", ""):
            with self.assertRaises(ValueError, msg=server):
                Hence(server, "token")
        for server in ("http://localhost:1", "http://[::1]:1", "http://127.0.0.1:1", "https://hub"):
            Hence(server, "token")


if __name__ == "__main__":
    unittest.main()
