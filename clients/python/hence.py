#!/usr/bin/env python3
"""A client for the API of a Hence server, in one file and without anything but Python's standard library.

    from hence import Hence, Refused

    hence = Hence("https://hub:7777", token, ca="ca.pem")
    hence.commit("assert node/n1 ; assert node/n1/param/PORT 8080", message="a first node")
    hence.activate(plan=hence.plan()["plan"])
    print(hence.config("n1")["parameters"])

From a shell: `python3 hence.py --server URL --token-file FILE config NODE`.
"""

from __future__ import annotations

import argparse
import http.client
import ipaddress
import json
import os
import secrets
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

__all__ = ["Event", "Hence", "Refused", "new_token"]


class Refused(Exception):
    """The server said no. `status` is that of HTTP, and `errors` are all the reasons, each with `code` and `message`."""

    def __init__(self, status: int, errors: List[Dict[str, Any]]) -> None:
        super().__init__(status, errors)
        self.status = status
        self.errors = errors

    @property
    def code(self) -> str:
        """The code of the first reason; `hence help CODE` tells more about it."""
        return self.errors[0]["code"]

    def __str__(self) -> str:
        lines = []
        for error in self.errors:
            lines.append(f"{error['severity']}[{error['code']}]: {error['message']}")
            lines.extend(f"  = help: {help}" for help in error.get("help", []))
        return "\n".join(lines)


class Event(NamedTuple):
    """Something that happened."""

    version: int
    """The version that was made."""
    kind: str
    """`commit`, `activation` or `naming`."""
    data: Dict[str, Any]
    """Who, why, and what."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """A token goes to the server that it is for, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Hence:
    """A server, and the token with which it is asked.

    `ca` is a file with the certificates that are trusted instead of the system's. A token is sent in the open only
    to this machine itself.
    """

    def __init__(self, server: str, token: str, ca: Optional[str] = None, timeout: float = 60) -> None:
        address = urllib.parse.urlsplit(server)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"`{server}` is not the address of a server; it begins with https://")
        if address.scheme == "http" and not _is_here(address.hostname):
            raise ValueError(f"a token would be sent to `{server}` in the open; use https://")
        self._server = server.rstrip("/")
        self._token = token.strip()
        self._timeout = timeout
        handlers: List[urllib.request.BaseHandler] = [_Stay()]
        if address.scheme == "https":
            handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca)))
        else:
            # What stays on this machine does not go through a proxy.
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    # The ledger.

    def about(self) -> Dict[str, Any]:
        """What the server says about itself: `release`, `version` of the ledger, and the name of the `token`."""
        return self._json("GET", "")

    def state(self, at: Optional[int] = None, under: Optional[str] = None) -> str:
        """What is asserted, in the language of the commands; at a version, and under a key."""
        return self._ask("GET", "state", query={"at": at, "under": under}).decode()

    def entries(self, limit: int = 100) -> Iterator[Dict[str, Any]]:
        """The history, the newest first; `limit` are fetched at once."""
        return self._pages("entries", limit)

    def entry(self, version: int) -> Dict[str, Any]:
        """One step of the history."""
        return self._json("GET", f"entries/{int(version)}")

    def validate(self) -> Dict[str, List[Dict[str, Any]]]:
        """What stands in the way of an activation, by node; empty if nothing does."""
        return self._json("GET", "validation")["nodes"]

    def plan(
        self, node: Optional[str] = None, group: Optional[str] = None, percent: Optional[int] = None
    ) -> Dict[str, Any]:
        """What an activation would do. Its `plan` can be given to `activate`, which then does this or nothing."""
        return self._json("GET", "plan", query={"node": node, "group": group, "percent": percent})

    # Changes.

    def commit(
        self,
        commands: Union[str, List[Dict[str, Any]]],
        *,
        take: Sequence[str] = (),
        dormant: bool = False,
        handed_in: Sequence[Dict[str, str]] = (),
        **doing: Any,
    ) -> Dict[str, Any]:
        """Changes what is asserted. `take` are keys that may be taken from their owners; `dormant` allows what has no
        effect yet; `handed_in` are secrets in it, as `seal` answered. Like every change it takes `owner`, `message`,
        `origin` and `if_version`."""
        body = {"commands": commands, "take": list(take), "dormant": dormant, "handed_in": list(handed_in), **doing}
        return self._json("POST", "commits", body)

    def undo(self, version: Optional[int] = None, **doing: Any) -> Dict[str, Any]:
        """Takes a change back; without a version, the newest that stands."""
        return self._json("POST", "undo", {"version": version, **doing})

    def restore(self, version: int, **doing: Any) -> Dict[str, Any]:
        """Makes everything as it was at a version."""
        return self._json("POST", "restore", {"version": version, **doing})

    def snapshots(self) -> Dict[str, Dict[str, Any]]:
        """The versions that have names."""
        return self._json("GET", "snapshots")

    def snapshot(self, name: str, version: int, annotation: str = "", **doing: Any) -> Dict[str, Any]:
        """Gives a version a name."""
        body = {"version": version, "annotation": annotation, **doing}
        return self._json("PUT", f"snapshots/{_part(name)}", body)

    def forget(self, name: str) -> Dict[str, Any]:
        """Takes a name away."""
        return self._json("DELETE", f"snapshots/{_part(name)}")

    def activate(
        self,
        nodes: Optional[Sequence[str]] = None,
        groups: Optional[Sequence[str]] = None,
        percent: Optional[int] = None,
        plan: Optional[str] = None,
        **doing: Any,
    ) -> Dict[str, Any]:
        """Makes what is asserted the target of nodes; if none are named, of all. An empty list is refused."""
        named = {"nodes": nodes, "groups": groups}
        body = {name: list(these) for name, these in named.items() if these is not None}
        return self._json("POST", "activations", {**body, "percent": percent, "plan": plan, **doing})

    def rollout(self) -> Dict[str, Any]:
        """How far the activation in stages is, and what became of its nodes."""
        return self._json("GET", "rollout")

    def begin_rollout(self, stages: Sequence[Dict[str, Any]] = (), **terms: Any) -> Dict[str, Any]:
        """Begins to activate in stages, such as ``[{"groups": ["canary"]}, {"percent": 25}]``."""
        return self._json("POST", "rollout", {"stages": list(stages), **terms})

    def order_rollout(self, order: str, **doing: Any) -> Dict[str, Any]:
        """Tells the activation in stages to ``pause``, ``resume``, ``stop`` or ``roll-back``."""
        return self._json("POST", "rollout/" + _part(order), doing)

    def seal(self, secret: str) -> Dict[str, str]:
        """A secret under the server's key, as `sealed(FINGERPRINT CONTENT)` in commands takes it. A token that does not
        administer gives the answer to `commit`, too: its `receipt` says who knows the secret."""
        return self._json("POST", "seal", {"text": secret})

    # Nodes.

    def nodes(self, limit: int = 100) -> Iterator[Dict[str, Any]]:
        """All nodes in the order of their names; `limit` are fetched at once."""
        return self._pages("nodes", limit)

    def node(self, node: str) -> Dict[str, Any]:
        """A node: what it is to run, and what it says it runs."""
        return self._json("GET", f"nodes/{_part(node)}")

    def config(self, node: str, at: Optional[int] = None, head: bool = False) -> Dict[str, Any]:
        """What a node is to run; at a version; or, with `head`, if all were activated."""
        query = {"at": at, "head": "true" if head else None}
        return self._json("GET", f"nodes/{_part(node)}/config", query=query)

    def changes(self, node: str, since: int) -> Dict[str, Any]:
        """What changed for a node since a version, and which of its subsystems must restart."""
        return self._json("GET", f"nodes/{_part(node)}/changes", query={"since": since})

    def explain(self, node: str, parameter: Optional[str] = None) -> List[Dict[str, Any]]:
        """Why the values of a node are what they are, or one of them."""
        return self._json("GET", f"nodes/{_part(node)}/explain", query={"parameter": parameter})

    def check_in(self, node: str, **report: Any) -> Dict[str, Any]:
        """Says what a node runs (`applied`, `outcome`, `error`, `drift`, `facts`), and hears what it is to run."""
        return self._json("POST", f"nodes/{_part(node)}/check-in", report)

    # Tokens.

    def tokens(self) -> List[Dict[str, Any]]:
        """All tokens, without what is secret of them."""
        return self._json("GET", "tokens")

    def add_token(self, name: str, may: Sequence[Dict[str, Any]] = (), **more: Any) -> str:
        """Makes a token, which is told this once. `may` holds grants such as `{"role": "read", "keys": ["node"]}`;
        `join=True` makes one that a newcomer trades for its own; `lasts` is in seconds."""
        return self._json("POST", "tokens", {"name": name, "may": list(may), **more})["token"]

    def revoke_token(self, name: str) -> Dict[str, Any]:
        """Takes a token away."""
        return self._json("DELETE", f"tokens/{_part(name)}")

    def enrol(self, node: str, token: str) -> Dict[str, str]:
        """Makes a node known by its own token, once; keep what `new_token` made before you ask, and ask again with it if
        no answer comes."""
        return self._json("POST", "enrolments", {"node": node, "token": token})

    # What happens.

    def events(
        self, node: Optional[str] = None, since: Optional[int] = None, patience: float = 30
    ) -> Iterator[Event]:
        """What happens, as it happens, for as long as somebody asks; first what happened after the version `since`.
        If the connection is lost it is made again, and nothing is heard twice or missed. A server that is away for
        longer than `patience` seconds is an `OSError`."""
        heard = self.about()["version"] if since is None else since
        lost: Optional[float] = None
        while True:
            try:
                headers = {"Last-Event-ID": str(heard)}
                with self._open("GET", "events", query={"node": node}, headers=headers) as answer:
                    lost = None
                    for event in _events(answer):
                        heard = event.version
                        yield event
            except (OSError, http.client.HTTPException, Refused) as error:
                if isinstance(error, Refused) and error.status not in _AWAY:
                    raise
                lost = lost or time.monotonic()
                if time.monotonic() - lost > patience:
                    raise OSError(f"{self._server} is away: {error}") from error
            time.sleep(0.2)

    # How it is asked.

    def _pages(self, path: str, limit: int) -> Iterator[Dict[str, Any]]:
        after = None
        while True:
            page = self._json("GET", path, query={"after": after, "limit": limit})
            yield from page["items"]
            after = page.get("next")
            if after is None:
                return

    def _json(self, method: str, path: str, body: Any = None, query: Optional[Dict[str, Any]] = None) -> Any:
        return json.loads(self._ask(method, path, body, query))

    def _ask(self, method: str, path: str, body: Any = None, query: Optional[Dict[str, Any]] = None) -> bytes:
        with self._open(method, path, body, query) as answer:
            return answer.read()

    def _open(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Optional[Dict[str, Any]] = None,
        headers: Optional[Dict[str, str]] = None,
    ) -> Any:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        address = f"{self._server}/api/v1/{path}"
        if given:
            address += "?" + urllib.parse.urlencode(given)
        request = urllib.request.Request(address, method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            return self._opener.open(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise _refused(error.code, error.read()) from None


def new_token() -> str:
    """A token that nobody can guess, for a node that enrols."""
    return f"hence_{secrets.token_hex(32)}"


# It, or what stands before it, cannot answer just now.
_AWAY = (429, 502, 503, 504)


def _refused(status: int, body: bytes) -> Refused:
    try:
        errors = json.loads(body)["errors"]
        errors[0]["code"]
    except (ValueError, LookupError, TypeError):
        # Something between here and the server answered.
        message = body.decode(errors="replace").strip() or f"status {status}"
        errors = [{"severity": "error", "code": "server.unknown", "message": message}]
    return Refused(status, errors)


def _part(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _events(lines: Any) -> Iterator[Event]:
    fields: Dict[str, str] = {}
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if not line:
            if "event" in fields:
                yield Event(int(fields["id"]), fields["event"], json.loads(fields["data"]))
            fields = {}
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        fields[name] = fields[name] + "\n" + value if name == "data" and name in fields else value


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Asks a Hence server.")
    parser.add_argument("--server", default=os.environ.get("HENCE_SERVER"), help="its address; or HENCE_SERVER")
    parser.add_argument("--token-file", help="a file with the token; or the token in HENCE_TOKEN")
    parser.add_argument("--ca", default=os.environ.get("HENCE_CA"), help="a file with the certificates to trust; or HENCE_CA")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in ("about", "entries", "nodes", "plan", "snapshots", "tokens", "validate"):
        verbs.add_parser(verb, help=getattr(Hence, verb).__doc__)
    verbs.add_parser("state", help=Hence.state.__doc__).add_argument("--under", metavar="KEY")
    for verb in ("config", "node"):
        verbs.add_parser(verb, help=getattr(Hence, verb).__doc__).add_argument("node", metavar="NODE")
    explain = verbs.add_parser("explain", help=Hence.explain.__doc__)
    explain.add_argument("node", metavar="NODE")
    explain.add_argument("parameter", metavar="PARAMETER", nargs="?")
    commit = verbs.add_parser("commit", help="Changes what is asserted.")
    commit.add_argument("commands", metavar="COMMANDS")
    commit.add_argument("--message", default="", help="why")
    activate = verbs.add_parser("activate", help=Hence.activate.__doc__)
    activate.add_argument("nodes", metavar="NODE", nargs="*")
    undo = verbs.add_parser("undo", help=Hence.undo.__doc__)
    undo.add_argument("version", metavar="VERSION", type=int, nargs="?")
    events = verbs.add_parser("events", help="What happens, as it happens.")
    events.add_argument("--since", metavar="VERSION", type=int)
    return parser


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Asks, and prints the answer; 0 if it is good, 1 if it was refused, 2 if the server cannot be reached."""
    parser = _arguments()
    # A list that nothing was given for is none.
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value != []}
    server, file, ca, verb = (given.pop(name) for name in ("server", "token_file", "ca", "verb"))
    if not server:
        parser.error("--server URL is needed, or HENCE_SERVER")
    try:
        if file:
            with open(file, encoding="utf-8") as opened:
                token = opened.read()
        else:
            token = os.environ.get("HENCE_TOKEN", "")
        answer = getattr(Hence(server, token, ca), verb)(**given)
        if isinstance(answer, str):
            print(answer, end="")
        elif isinstance(answer, Iterator):
            for one in answer:
                print(json.dumps(one._asdict() if isinstance(one, Event) else one), flush=True)
        else:
            print(json.dumps(answer, indent=2))
        return 0
    except (Refused, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
